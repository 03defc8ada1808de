import { describe, expect, it } from '@jest/globals';
import { headersOf, storedHeaders } from './stored-headers.js';

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
  ])('%s take a third of the room', (_what, headers) => {
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
  ])('come back as they were: %s', (_what, headers) => {
    expect(headersOf(storedHeaders(headers, row), row)).toEqual(headers);
    expect(headersOf(storedHeaders(headers, { ...row, key: null }), { ...row, key: null })).toEqual(headers);
  });

  it('that an older version wrote are read', () => {
    expect(headersOf(JSON.stringify(event), row)).toEqual(event);
  });
});
