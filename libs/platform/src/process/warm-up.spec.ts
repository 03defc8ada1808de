import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { warmUpSoon } from './warm-up.js';

describe('code that is slow the first time', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is done a second after the start, one step a turn', () => {
    const done: string[] = [];
    warmUpSoon([() => done.push('one'), () => done.push('two')]);
    jest.advanceTimersByTime(999);
    expect(done).toEqual([]);
    jest.advanceTimersToNextTimer();
    expect(done).toEqual(['one']);
    jest.advanceTimersToNextTimer();
    expect(done).toEqual(['one', 'two']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is left when the process stops, also between two steps', () => {
    const done: string[] = [];
    const stop = warmUpSoon([() => done.push('one'), () => done.push('two')]);
    jest.advanceTimersByTime(1_000);
    stop();
    jest.runAllTimers();
    expect(done).toEqual(['one']);
    const never = warmUpSoon([() => done.push('never')]);
    never();
    jest.runAllTimers();
    expect(done).toEqual(['one']);
  });
});
