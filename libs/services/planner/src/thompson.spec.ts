import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  betaDraw,
  observationsToSkip,
  posteriorMean,
  skippedBelow,
  thompsonOrder,
  type RatingCounts,
  type RandomSource,
} from './thompson.js';

/** Mulberry32 (Tommy Ettinger): small and the same on every machine. */
function seeded(seed: number): RandomSource {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
const weight = fc.double({ min: 0, max: 500, noNaN: true });
const counts = fc.array(fc.record({ model: fc.constantFrom('a', 'b', 'c', 'd', 'e'), positive: weight, negative: weight }), {
  minLength: 1,
  maxLength: 8,
});
const isBad = (known: RatingCounts): boolean =>
  known.positive + known.negative >= observationsToSkip && posteriorMean(known) < skippedBelow;

describe('the order of models', () => {
  it('contains each model once, and all that are not known to be bad', () => {
    fc.assert(
      fc.property(counts, fc.integer(), (known, seed) => {
        const last = [...new Map(known.map((one) => [one.model, one])).values()];
        const good = last.filter((one) => !isBad(one));
        const expected = (good.length > 0 ? good : last).map(({ model }) => model);
        expect([...thompsonOrder(known, seeded(seed))].sort()).toEqual([...expected].sort());
      }),
      { numRuns: 300 },
    );
  });

  it('is the same for the same numbers', () => {
    fc.assert(
      fc.property(counts, fc.integer(), (known, seed) => {
        expect(thompsonOrder(known, seeded(seed))).toEqual(thompsonOrder(known, seeded(seed)));
      }),
      { numRuns: 100 },
    );
  });

  it.each([0, 0.5, 1 - Number.EPSILON])('is computed even when the random source is stuck at %p', (stuck) => {
    expect(
      thompsonOrder(
        [
          { model: 'a', positive: 3, negative: 1 },
          { model: 'b', positive: 0, negative: 0 },
        ],
        () => stuck,
      ),
    ).toHaveLength(2);
  });

  it('skips a model below 0.3 from the fifth observation on and not before', () => {
    const good = { model: 'good', positive: 4, negative: 0 };
    expect(thompsonOrder([{ model: 'bad', positive: 0, negative: 4 }, good], seeded(1))).toHaveLength(2);
    expect(thompsonOrder([{ model: 'bad', positive: 0, negative: 5 }, good], seeded(1))).toEqual(['good']);
    expect(thompsonOrder([{ model: 'fair', positive: 2, negative: 5 }, good], seeded(1))).toHaveLength(2);
  });

  it('keeps all models when all are bad', () => {
    const known = ['a', 'b'].map((model) => ({ model, positive: 0, negative: 50 }));
    expect([...thompsonOrder(known, seeded(1))].sort()).toEqual(['a', 'b']);
  });

  it('draws from the Beta distribution: its mean and its variance', () => {
    const random = seeded(7);
    for (const [alpha, beta] of [
      [1, 1],
      [3, 9],
      [40, 2.5],
    ] as const) {
      const draws = Array.from({ length: 4_000 }, () => betaDraw(alpha, beta, random));
      const mean = draws.reduce((sum, drawn) => sum + drawn, 0) / draws.length;
      const variance = draws.reduce((sum, drawn) => sum + (drawn - mean) ** 2, 0) / draws.length;
      expect(mean).toBeCloseTo(alpha / (alpha + beta), 1);
      expect(Math.abs(variance / ((alpha * beta) / ((alpha + beta) ** 2 * (alpha + beta + 1))) - 1)).toBeLessThan(0.15);
    }
  });

  it('asks the worse of two models first in less than 20 % of 200 runs that it learns from', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const random = seeded(seed);
      const known = new Map(['worse', 'better'].map((model) => [model, { model, positive: 0, negative: 0 }]));
      let worse = 0;
      for (let run = 0; run < 200; run += 1) {
        const first = thompsonOrder([...known.values()], random)[0]!;
        if (first === 'worse') worse += 1;
        const good = random() < (first === 'better' ? 0.8 : 0.4);
        const before = known.get(first)!;
        known.set(first, { model: first, positive: before.positive + (good ? 1 : 0), negative: before.negative + (good ? 0 : 1) });
      }
      expect(worse).toBeLessThan(40);
    }
  });
});
