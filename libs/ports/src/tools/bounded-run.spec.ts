import { describe, expect, it } from '@jest/globals';
import { boundedRun, tookTooLong } from './bounded-run.js';

/** Waits without a processor, as on a machine that is busy with something else. */
const starve = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('a function with a limit of time', () => {
  it('returns its value, and throws what it throws', () => {
    expect(boundedRun(() => 'done', 1_000)).toBe('done');
    expect(() => boundedRun(() => JSON.parse('{'), 1_000)).toThrow(SyntaxError);
  });

  it('is begun again if it had no processor', () => {
    let calls = 0;
    const run = (): string => {
      if ((calls += 1) === 1) starve(10_000);
      return 'done';
    };
    expect([boundedRun(run, 200), calls]).toEqual(['done', 2]);
  });

  it('is stopped if it calculates, and in the end also if it never gets a processor', () => {
    for (const endless of [
      (): void => {
        for (;;);
      },
      () => /^(?:a+)+$/.test(`${'a'.repeat(60)}!`),
      () => starve(10_000),
    ]) {
      const began = performance.now();
      let thrown: unknown = null;
      try {
        boundedRun(endless, 100);
      } catch (error) {
        thrown = error;
      }
      expect(tookTooLong(thrown)).toBe(true);
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});
