import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndlessCall } from '@conclave/strategies';
import { interrupting } from './interrupting.js';

const what = { name: 'next of the strategy "spin"', module: '/own/spin.mjs' };
/** Longer than a busy machine keeps a thread waiting: calls that return must not be stopped. */
const limitMs = 500;

describe('a function of an extension', () => {
  const warnings: string[] = [];
  const bounded = interrupting(limitMs, (sentence) => void warnings.push(sentence));
  beforeEach(() => void warnings.splice(0));

  it('returns and throws as if it were called directly', async () => {
    const given = {};
    expect(bounded(what, () => given)).toBe(given);
    const thrown = new TypeError('no votes');
    expect(() =>
      bounded(what, () => {
        throw thrown;
      }),
    ).toThrow(thrown);
    expect(bounded(what, () => bounded(what, () => 1))).toBe(1);
    expect(await bounded(what, async () => Promise.resolve(2))).toBe(2);
    expect(warnings).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'that loops for ever',
      () => {
        for (;;);
      },
    ],
    [
      'that catches everything',
      () => {
        for (;;)
          try {
            for (;;);
          } catch {
            continue;
          }
      },
    ],
    ['whose pattern backtracks for ever', () => /(a+)+$/.test(`${'a'.repeat(60)}b`)],
    ['that waits for ever', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)],
    [
      'that is async',
      async () => {
        for (;;);
      },
    ],
    [
      'that loops in a function it calls',
      () =>
        bounded(what, () => {
          for (;;);
        }),
    ],
  ])('%s is stopped and named in a warning, and the next call works', async (_what, call) => {
    expect(() => bounded(what, call)).toThrow(EndlessCall);
    expect(bounded(what, () => 'next')).toBe('next');
    expect(warnings).toEqual([expect.stringContaining('within 0.5 s and was stopped: next of the strategy "spin" (/own/spin.mjs)')]);
  });
});
