import { describe, expect, it } from '@jest/globals';
import { noUsage, type Event, type FailureNote } from '@conclave/contracts';
import type { CallEnd } from './calls.js';
import { earlyEnd } from './tool-task.js';

const record = (id: string): Event => ({ id }) as Event;
const reply = { kind: 'reply', attempt: 1, record: record('reply') } as CallEnd;
const cancelled: CallEnd = { kind: 'cancelled', attempt: 2, usage: noUsage, record: null };
const busy = (retryInMs: number): CallEnd => ({ kind: 'busy', retryInMs });
const failed = (code: string, attempt = 1): CallEnd => {
  const failure: FailureNote = { code, message: `${code} happened.`, retriable: false };
  return { kind: 'failed', failure, attempt, usage: noUsage, record: record(code) };
};

describe('a task of several calls', () => {
  it('continues if all of them are answered, or if the task did not cause the failure', () => {
    expect(earlyEnd([reply, reply])).toBeNull();
    expect(earlyEnd([reply, failed('PAGE_UNREADABLE')], { fails: () => false })).toBeNull();
  });

  it('is deferred for the longest wait if another process makes any of them, whatever the outcome of the others', () => {
    expect(earlyEnd([failed('CALL_TIMEOUT'), busy(10), cancelled, busy(30)])).toEqual({ deferMs: 30 });
  });

  it('is cancelled before it is failed, with the latest attempt and every record', () => {
    expect(earlyEnd([failed('SEARCH_UNAVAILABLE'), cancelled])).toEqual({
      result: { status: 'cancelled', failure: expect.objectContaining({ code: 'CALL_CANCELLED' }), attempt: 2 },
      records: [record('SEARCH_UNAVAILABLE')],
    });
  });

  it.each([
    ['CALL_TIMEOUT', 'timeout'],
    ['SEARCH_UNAVAILABLE', 'error'],
  ])('ends with its first failure: %s as %s', (code, status) => {
    expect(earlyEnd([reply, failed(code, 3), failed('OTHER')])).toEqual({
      result: { status, failure: expect.objectContaining({ code }), attempt: 3 },
      records: [record('reply'), record(code), record('OTHER')],
    });
  });
});
