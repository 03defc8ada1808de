import { describe, expect, it } from '@jest/globals';
import { StoreClock } from './store-clock.js';

describe("the store's clock as known to a process", () => {
  const clockAt = (start: number) => {
    let own = start;
    const clock = new StoreClock(() => own);
    return { clock, pass: (ms: number) => void (own += ms) };
  };

  it('continues from the last reading, and is unknown before the first and long after the last', () => {
    const { clock, pass } = clockAt(50);
    expect(clock.now()).toBeNull();
    clock.hear(1_000_000);
    pass(1_200.6);
    expect(clock.now()).toBe(1_001_200);
    pass(4_000);
    expect(clock.now()).toBeNull();
  });

  it('does not go back when a reading took longer to arrive than the one before', () => {
    const { clock, pass } = clockAt(0);
    clock.hear(1_000_000);
    pass(100);
    clock.hear(1_000_097);
    expect(clock.now()).toBe(1_000_100);
  });

  it('follows a clock that was changed', () => {
    const { clock, pass } = clockAt(0);
    clock.hear(1_000_000);
    pass(100);
    clock.hear(990_000);
    expect(clock.now()).toBe(990_000);
    clock.hear(1_000_500);
    expect(clock.now()).toBe(1_000_500);
  });
});
