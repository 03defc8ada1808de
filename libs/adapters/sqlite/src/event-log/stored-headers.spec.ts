import { describe, expect, it } from '@jest/globals';
import type { Event } from '@conclave/contracts';
import { encodeEventNow } from '@conclave/ports';
import { headersOf, storedHeaders, storedHeadersOf } from './stored-headers.js';

const row = { key: 'run_1/0/x1', event_id: 'run_1/0/x1/result' };
const event = {
  ce_specversion: '1.0',
  ce_id: row.event_id,
  ce_type: 'ResultReady',
  ce_source: 'experts',
  ce_time: '2026-11-23T11:38:41.427Z',
  ce_partitionkey: row.key,
  ce_runid: 'run_1',
  'content-type': 'application/json',
};

describe('headers in their row', () => {
  it.each([
    ['of an event', event],
    ['with a trace', { ...event, traceparent: '00-6854996e21180ee957f12b0eebf4ace5-dd31c0b32f583ef7-01' }],
    ['with a body elsewhere', { ...event, ce_dataref: 'sha256:00' }],
  ])('%s take a third of the space', (_what, headers) => {
    const stored = storedHeaders(headers, row);
    expect(headersOf(stored, row)).toEqual(headers);
    expect(stored.length).toBeLessThan(JSON.stringify(headers).length / 2);
  });

  it.each([
    ['another run than its key says', { ...event, ce_runid: 'run_2' }],
    ['a time in another form', { ...event, ce_time: '2026-11-23T12:38:41.427+01:00' }],
    ['a header that no event has', { ...event, 'dead-reason': 'poison' }],
    ['no attributes at all', { plain: 'yes' }],
    ['an empty traceparent', { ...event, traceparent: '' }],
    ['none', {}],
  ])('are restored unchanged: %s', (_what, headers) => {
    expect(headersOf(storedHeaders(headers, row), row)).toEqual(headers);
    expect(headersOf(storedHeaders(headers, { ...row, key: null }), { ...row, key: null })).toEqual(headers);
  });

  it.each([
    ['of a task', { key: row.key }],
    ['with a trace', { traceparent: '00-6854996e21180ee957f12b0eebf4ace5-dd31c0b32f583ef7-01' }],
    ['of another run than its key says', { runId: 'run_2' }],
    ['with a large body', { data: 'a'.repeat(70_000) }],
  ])('are the same when they are made from the event itself: %s', (_what, members) => {
    const whole: Event = {
      ...{ id: row.event_id, type: 'ResultReady', runId: 'run_1', topic: 'results.ready', key: row.key, source: 'experts' },
      ...{ time: 1_764_000_000_123, data: {} },
      ...members,
    };
    const { headers } = encodeEventNow(whole, () => ({ sha256: 'f'.repeat(64), bytes: 70_002 }));
    expect(storedHeadersOf(whole, headers)).toBe(storedHeaders(headers, { key: whole.key, event_id: whole.id }));
  });

  it('written by an older version are readable', () => {
    expect(headersOf(JSON.stringify(event), row)).toEqual(event);
  });
});
