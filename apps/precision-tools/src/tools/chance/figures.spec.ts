import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';

/** "1/6" or "1" in lowest terms, by trying divisors. */
const lowest = (n: number, d: number): string => {
  for (let i = Math.min(n, d); i > 1; i -= 1) if (n % i === 0 && d % i === 0) return lowest(n / i, d / i);
  return d === 1 || n === 0 ? `${n}` : `${n}/${d}`;
};

describe('probability', () => {
  it('of dice equals the share of all enumerated throws', () => {
    const throws = (dice: number, sides: number): number[] =>
      dice === 0 ? [0] : throws(dice - 1, sides).flatMap((sum) => Array.from({ length: sides }, (_, face) => sum + face + 1));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 24 }), (dice, sides, k) => {
        const all = throws(dice, sides);
        const share = (fits: (sum: number) => boolean): string => lowest(all.filter(fits).length, all.length);
        const found = (comparison: string) => ask('probability', { operation: 'dice_sum', dice, sides, k, comparison }).result;
        expect([found('exactly'), found('at_least'), found('at_most')]).toEqual([
          share((x) => x === k),
          share((x) => x >= k),
          share((x) => x <= k),
        ]);
      }),
      { numRuns: 40 },
    );
  });

  it('of trials equals the share of all enumerated outcomes, also for probability 0 and 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 4 }), (n, k, yes) => {
        // Each trial has four equal outcomes, `yes` of which succeed.
        let counts = [1];
        for (let i = 0; i < n; i += 1)
          counts = Array.from({ length: i + 2 }, (_, s) => (counts[s] ?? 0) * (4 - yes) + (counts[s - 1] ?? 0) * yes);
        const share = (fits: (s: number) => boolean): string =>
          lowest(
            counts.filter((_, s) => fits(s)).reduce((a, b) => a + b, 0),
            4 ** n,
          );
        const found = (comparison: string) => ask('probability', { operation: 'binomial', n, k, p: `${yes}/4`, comparison }).result;
        expect([found('exactly'), found('at_least'), found('at_most')]).toEqual([
          share((s) => s === k),
          share((s) => s >= k),
          share((s) => s <= k),
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [{ operation: 'binomial', n: 5, k: 1 }, 'needs "p"'],
    [{ operation: 'binomial', n: 5, k: 1, p: 2 }, 'between 0 and 1'],
    [{ operation: 'hypergeometric', population: 5, successes: 9, draws: 1, k: 1 }, 'cannot exceed'],
    [{ operation: 'binomial', n: 2_000, k: 1_000, p: '0.123456789012', comparison: 'at_least' }, 'fewer decimal places'],
    [{ operation: 'bayes', prior: 0, p: 1, p_if_not: 0 }, 'probability 0'],
    [{ operation: 'combinations', n: 1e9, k: 2 }, '"n"'],
  ])('refuses %j', (args, words) => expect(refusalOf('probability', args)).toContain(words));
});

describe('statistics_calc', () => {
  const results = (data: unknown, operations?: string): Record<string, string> => {
    const { results: list } = ask('statistics_calc', { data, ...(operations && { operations }) }) as {
      results: { operation: string; result: string }[];
    };
    return Object.fromEntries(list.map(({ operation, result }) => [operation, result]));
  };

  it('agrees with sums of whole numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 2, maxLength: 30 }), (data) => {
        const found = results(data);
        const n = data.length;
        const sum = data.reduce((a, b) => a + b, 0);
        const squares = data.reduce((a, b) => a + b * b, 0);
        const value = (text: string): number =>
          text
            .split('/')
            .map(Number)
            .reduce((a, b) => a / b);
        const sorted = [...data].sort((a, b) => a - b);
        expect(found.sum).toBe(`${sum}`);
        expect(value(found.mean!) * n).toBeCloseTo(sum, 8);
        expect(value(found.population_variance!)).toBeCloseTo(squares / n - (sum / n) ** 2, 6);
        expect(value(found.median!)).toBe((sorted[Math.floor((n - 1) / 2)]! + sorted[Math.floor(n / 2)]!) / 2);
        expect([found.min, found.max]).toEqual([`${sorted[0]}`, `${sorted.at(-1)}`]);
      }),
      { numRuns: 50 },
    );
  });

  it('returns published figures', () => {
    expect(results('2, 4, 4, 4, 5, 5, 7, 9')).toMatchObject({
      mean: '5',
      population_stdev: '2',
      variance: '32/7',
      mode: '4',
      q1: '4',
      q3: '5.5',
    });
    expect(results('0.1 0.2 0.3', 'sum, mean, harmonic_mean')).toEqual({ sum: '0.6', mean: '0.2', harmonic_mean: '9/55' });
    expect(results('2 8', 'geometric_mean')).toEqual({ geometric_mean: '4' });
    expect(results('15, 20, 35, 40, 50', 'p40')).toEqual({ p40: '29' });
  });

  it.each([
    [{ data: '' }, 'empty'],
    [{ data: '1, x' }, 'data[1]'],
    [{ data: '1,5; 2,5' }, 'decimal points'],
    [{ data: '1,000, 2,500' }, 'thousands'],
    [{ data: '1', operations: 'stdev' }, 'at least 2'],
    [{ data: '1', operations: '__proto__' }, 'not an operation'],
    [{ data: '0 1', operations: 'geometric_mean' }, 'above zero'],
    [{ data: '1 '.repeat(20_000) }, 'at most 10,000'],
  ])('refuses %#', (args, words) => expect(refusalOf('statistics_calc', args)).toContain(words));
});

describe('decimal_finance', () => {
  const finance = (args: Record<string, unknown>) =>
    ask('decimal_finance', args) as { result: string; unrounded: string; parts: Record<string, string> };

  it('compounds as repeated multiplication of scaled integers does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e8 }),
        fc.integer({ min: 0, max: 2_000 }),
        fc.integer({ min: 0, max: 30 }),
        (cents, basisPoints, years) => {
          let [n, d] = [BigInt(cents), 1n];
          for (let i = 0; i < years; i += 1) [n, d] = [n * BigInt(10_000 + basisPoints), d * 10_000n];
          const rounded = (2n * n + d) / (2n * d);
          const args = { operation: 'compound_interest', amount: `${cents / 100}`, rate_percent: `${basisPoints / 100}`, periods: years };
          expect(
            finance(args)
              .result.replace('.', '')
              .replace(/^0+(?=\d)/, ''),
          ).toBe(rounded.toString());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('net and tax always add up to gross', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e7 }), fc.constantFrom(7, 19, 20, '8.1'), (cents, rate_percent) => {
        const { result, parts } = finance({ operation: 'remove_tax', amount: `${cents / 100}`, rate_percent });
        expect(Math.round(Number(result) * 100) + Math.round(Number(parts.tax) * 100)).toBe(cents);
      }),
      { numRuns: 60 },
    );
  });

  it('pays a loan off by its unrounded payments', () => {
    const { unrounded } = finance({ operation: 'annuity_payment', amount: 200_000, rate_percent: 3.6, periods: 360, periods_per_year: 12 });
    let balance = 200_000;
    for (let i = 0; i < 360; i += 1) balance = balance * 1.003 - Number(unrounded);
    expect(Math.abs(balance)).toBeLessThan(1e-4);
  });

  it.each([
    ['half_up', '2.35', '-2.35'],
    ['half_even', '2.34', '-2.34'],
    ['down', '2.34', '-2.34'],
    ['up', '2.35', '-2.35'],
    ['floor', '2.34', '-2.35'],
    ['ceiling', '2.35', '-2.34'],
  ])('rounds 2.345 %s to %s', (rounding, positive, negative) => {
    expect(finance({ operation: 'round', amount: '2.345', rounding }).result).toBe(positive);
    expect(finance({ operation: 'round', amount: '-2.345', rounding }).result).toBe(negative);
  });

  it.each([
    [{ operation: 'add_tax', amount: 1 }, 'needs "rate_percent"'],
    [{ operation: 'present_value', amount: 1, rate_percent: -100, periods: 1 }, 'above -100'],
    [{ operation: 'percent_change', amount: 0, second_amount: 1 }, 'from 0'],
    [{ operation: 'compound_interest', amount: 1, rate_percent: 1, periods: 1e9 }, '"periods"'],
    [{ operation: 'compound_interest', amount: 1, rate_percent: '1.23456789012345', periods: 1_200, periods_per_year: 365 }, 'digits'],
  ])('refuses %j', (args, words) => expect(refusalOf('decimal_finance', args)).toContain(words));
});
