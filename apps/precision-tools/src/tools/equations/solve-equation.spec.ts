import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';
import { cpuMsSince } from '../__fixtures__/cpu-time.js';

interface Solved {
  kind: string;
  solutions: { value: string; decimal: string; exact: boolean; real: boolean; multiplicity: number }[];
  excluded: string[];
  unlisted_complex_roots: number;
}
const solve = (equation: string, variable = 'x') => ask('solve_equation', { equation, variable }) as unknown as Solved;
const values = (equation: string): string[] => solve(equation).solutions.map(({ value }) => value);

describe('solve_equation', () => {
  it('finds the roots of a product of linear factors, each with its multiplicity', () => {
    const root = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: 1, max: 7 }));
    fc.assert(
      fc.property(fc.array(root, { minLength: 1, maxLength: 5 }), (roots) => {
        // Multiplied out here, so that the solver sees coefficients instead of factors.
        const coefficients = roots.reduce<bigint[]>(
          (product, [n, d]) => {
            const next = Array.from({ length: product.length + 1 }, () => 0n);
            product.forEach((c, i) => {
              next[i]! -= c * BigInt(n);
              next[i + 1]! += c * BigInt(d);
            });
            return next;
          },
          [1n],
        );
        const text = coefficients.map((c, i) => `(${c})*x^${i}`).join(' + ');
        const found = solve(`${text} = 0`).solutions.flatMap(({ decimal, multiplicity }) =>
          Array.from({ length: multiplicity }, () => Number(decimal)),
        );
        const wanted = roots.map(([n, d]) => n / d).sort((a, b) => a - b);
        expect(found).toHaveLength(wanted.length);
        found.forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 12));
      }),
      { numRuns: 30 },
    );
  });

  it('finds irrational roots at which the polynomial changes its sign', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 6 }), (coefficients) => {
        fc.pre(coefficients.at(-1) !== 0);
        const at = (x: number): number => coefficients.reduceRight((sum, c) => sum * x + c, 0);
        const { solutions, unlisted_complex_roots } = solve(`${coefficients.map((c, i) => `(${c})*x^${i}`).join(' + ')} = 0`);
        const count = solutions.reduce((sum, { multiplicity }) => sum + multiplicity, 0) + unlisted_complex_roots;
        expect(count).toBe(coefficients.length - 1);
        for (const { real, decimal, multiplicity } of solutions) {
          if (real && multiplicity % 2 === 1) expect(at(Number(decimal) - 1e-7) * at(Number(decimal) + 1e-7)).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['3*x + 5 = 20', ['5']],
    ['2x - 1 = 0', ['1/2']],
    ['0.1x = 0.3', ['3']],
    ['x^2 - 5x + 6 = 0', ['2', '3']],
    ['x^2 = 2', ['-sqrt(2)', 'sqrt(2)']],
    ['x^2 + x + 1 = 0', ['(-1 - sqrt(3)*i)/2', '(-1 + sqrt(3)*i)/2']],
    ['2x^2 - 4x - 1 = 0', ['(2 - sqrt(6))/2', '(2 + sqrt(6))/2']],
    ['x^3 - 5x^2 + x = 0', ['0', '(5 - sqrt(21))/2', '(5 + sqrt(21))/2']],
    ['x^2 = -9', ['-3*i', '3*i']],
    ['1/x + 1/(x+1) = 1', ['(1 - sqrt(5))/2', '(1 + sqrt(5))/2']],
    ['sqrt(16) * x = 2', ['1/2']],
  ])('solves %s', (equation, expected) => expect(values(equation)).toEqual(expected));

  it('leaves out values that make a denominator zero, and reports that', () => {
    expect(solve('(x^2 - 1)/(x - 1) = 0')).toMatchObject({ solutions: [{ value: '-1' }], excluded: ['1'] });
    expect(solve('1/x = 1/x')).toMatchObject({ kind: 'every_value', excluded: ['0'] });
    expect(solve('x/(x-1) = 1/(x-1)')).toMatchObject({ kind: 'no_solution', excluded: ['1'] });
  });

  it('distinguishes no solution from every value', () => {
    expect(solve('x = x + 1').kind).toBe('no_solution');
    expect(solve('2*(x + 1) = 2x + 2').kind).toBe('every_value');
  });

  it('accepts a variable of any name and keeps e a constant', () => {
    expect(solve('3*price + 5 = 20', 'price').solutions[0]!.value).toBe('5');
    expect(solve('2*e = 6', 'e').solutions[0]!.value).toBe('3');
  });

  it.each([
    ['2^x = 8', 'symbolic'],
    ['sin(x) = 0', 'symbolic'],
    ['x*y = 2', 'not the variable'],
    ['x + 1', 'one "="'],
    ['x = 1 = 2', 'one "="'],
    ['pi*x = 1', 'irrational'],
    ['__import__("os").system("id") = x', 'not arithmetic'],
    ['x = 5!; abort()', 'not arithmetic'],
  ])('refuses %s and says what to do instead', (equation, words) => expect(refusalOf('solve_equation', { equation })).toContain(words));

  it('answers a polynomial of degree 30 with large coefficients within a second', () => {
    const before = process.cpuUsage();
    expect(solve('x^30 - 123456789*x^17 + 987654321*x^3 - 3 = 0').solutions.length).toBeGreaterThan(0);
    expect(cpuMsSince(before)).toBeLessThan(1_000);
  });
});
