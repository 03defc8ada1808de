import { afterAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { silentLogger } from '@conclave/platform';
import type { SymbolicArgs, SymbolicOperation } from '@conclave/ports';
import { valueOf } from '@conclave/ports/suites';
import { openSymbolic } from './open-symbolic.js';

// A busy machine gives a process little time.
jest.setTimeout(60_000);
const settings = { memoryMb: 512, seconds: 10, logger: silentLogger };
const sympy = openSymbolic(settings);
const computeEngine = openSymbolic({ ...settings, prefer: 'compute-engine' });
afterAll(() => Promise.all([sympy.close(), computeEngine.close()]), 30_000);

const { signal } = new AbortController();
const ask = (operation: SymbolicOperation, args: SymbolicArgs) => sympy.evaluate({ operation, args, signal });
const textOf = async (operation: SymbolicOperation, args: SymbolicArgs) => (await ask(operation, args)).result;

const coefficients = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 2, maxLength: 6 });
const written = (all: readonly number[]) => all.map((coefficient, n) => `(${coefficient})*x^${n}`).join(' + ');
const valueAt = (all: readonly number[], x: number) => all.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
/** The rule for powers, term by term. */
const derivativeOf = (all: readonly number[]) => all.slice(1).map((coefficient, n) => coefficient * (n + 1));
const close = (a: number, b: number) => expect(Math.abs(a - b)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(a), Math.abs(b)));

describe('results of SymPy', () => {
  it('differentiate polynomials as the rule for powers does', async () => {
    await fc.assert(
      fc.asyncProperty(coefficients, async (all) => {
        const result = await textOf('differentiate', { expression: written(all), variable: 'x' });
        for (const x of [-1.5, 0.5, 2]) close(valueOf(result, { x }), valueAt(derivativeOf(all), x));
      }),
      { numRuns: 25 },
    );
  });

  it('integrate polynomials so that the derivative is the polynomial, and the area is that of a quadrature', async () => {
    await fc.assert(
      fc.asyncProperty(coefficients, fc.integer({ min: -3, max: 0 }), fc.integer({ min: 1, max: 3 }), async (all, lower, upper) => {
        const whole = await textOf('integrate', { expression: written(all), variable: 'x' });
        const area = valueOf(await textOf('integrate', { expression: written(all), variable: 'x', lower, upper }));
        close(area, valueOf(whole, { x: upper }) - valueOf(whole, { x: lower }));
        // Boole's rule is exact up to the fifth degree.
        const h = (upper - lower) / 4;
        const boole = [7, 32, 12, 32, 7].reduce((sum, weight, n) => sum + weight * valueAt(all, lower + n * h), 0) * ((2 * h) / 45);
        close(area, boole);
      }),
      { numRuns: 20 },
    );
  });

  it('solve equations so that each solution is true, and every root is found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: -12, max: 12 }), { minLength: 1, maxLength: 4 }), async (roots) => {
        const { solutions } = await ask('solve', { expression: `${roots.map((root) => `(x - (${root}))`).join('*')} = 0` });
        expect(solutions!.map((one) => Number(one['x']))).toEqual([...roots].sort((a, b) => a - b));
      }),
      { numRuns: 20 },
    );
    await fc.assert(
      fc.asyncProperty(fc.tuple(...Array.from({ length: 6 }, () => fc.integer({ min: -9, max: 9 }))), async ([a, b, c, d, e, f]) => {
        fc.pre(a! * d! !== b! * c!);
        const { solutions } = await ask('solve', {
          equations: [`${a}*x + (${b})*y = ${e}`, `${c}*x + (${d})*y = ${f}`],
          variables: ['x', 'y'],
        });
        const [x, y] = [valueOf(solutions![0]!['x']!), valueOf(solutions![0]!['y']!)];
        close(a! * x + b! * y, e!);
        close(c! * x + d! * y, f!);
      }),
      { numRuns: 15 },
    );
  });

  it('expand and factor without changing the value', async () => {
    await fc.assert(
      fc.asyncProperty(coefficients, coefficients, async (left, right) => {
        const expression = `(${written(left)})*(${written(right)})`;
        for (const operation of ['expand', 'factor', 'simplify'] as const) {
          const result = await textOf(operation, { expression });
          for (const x of [-0.7, 1.3]) close(valueOf(result, { x }), valueAt(left, x) * valueAt(right, x));
        }
      }),
      { numRuns: 10 },
    );
  });

  it('equal those of the Compute Engine wherever it has one', async () => {
    const questions: readonly (readonly [SymbolicOperation, SymbolicArgs])[] = [
      ...[
        'sqrt(50) + sqrt(8)',
        '(1 + 1/3)^5',
        'cos(pi/3) + tan(pi/4)',
        'ln(e^3)',
        'abs(-7/3)',
        'gcd(84, 36)',
        'mod(-7, 3)',
        '100!/98!',
      ].map((expression) => ['evaluate', { expression }] as const),
      ...['x^2 e^x', 'ln(x)/x', 'sin(x^2)', '1/(x^2 + 1)', 'sqrt(x) cos x'].map((expression) => ['differentiate', { expression }] as const),
      ...['x^5', '2x/(x^2 + 1)', 'cos(3x)', 'x^2 + 1/x'].map((expression) => ['integrate', { expression, lower: 1, upper: 2 }] as const),
      ...['(x^2 - 1)/(x - 1)', '(1 + 1/x)^x', 'x^2 + 3'].map(
        (expression, n) => ['limit', { expression, point: [1, 'infinity', 2][n] }] as const,
      ),
      [
        'determinant',
        {
          matrix: [
            [2, 1, 3],
            [0, -1, 4],
            [5, 2, '1/2'],
          ],
        },
      ],
      ['sum', { expression: '1/k', variable: 'k', lower: 1, upper: 12 }],
    ];
    let compared = 0;
    for (const [operation, args] of questions) {
      const exact = await textOf(operation, args);
      const other = await computeEngine.evaluate({ operation, args, signal }).then(
        ({ result }) => result,
        (error: { code: string; detail: string }) => {
          expect(error).toMatchObject({ code: 'MATH_UNSUPPORTED', detail: expect.stringContaining('SymPy') });
          return null;
        },
      );
      if (other === null) continue;
      compared += 1;
      for (const x of [0.4, 1.9]) close(valueOf(exact, { x }), valueOf(other, { x }));
    }
    expect(compared).toBeGreaterThanOrEqual(questions.length - 4);
  });

  it.each<[SymbolicOperation, SymbolicArgs, string, string]>([
    [
      'rank',
      {
        matrix: [
          [1, 2],
          [2, 4],
        ],
      },
      '1',
      '',
    ],
    [
      'rref',
      {
        matrix: [
          [1, 2, 3],
          [2, 4, 7],
        ],
      },
      '[[1, 2, 0], [0, 0, 1]]',
      '',
    ],
    [
      'inverse',
      {
        matrix: [
          [1, 2],
          [2, 4],
        ],
      },
      'no inverse',
      'determinant is 0',
    ],
    [
      'eigenvalues',
      {
        matrix: [
          [0, -1],
          [1, 0],
        ],
      },
      '[-i, i]',
      'multiplicity',
    ],
    ['factor', { expression: '360' }, '2^3 * 3^2 * 5', 'primes'],
    ['series', { expression: 'sin(x)', order: 6 }, 'x^5/120 - x^3/6 + x', 'left out'],
    ['limit', { expression: '1/x', point: 0 }, 'no limit', 'From the right it is infinity, from the left -infinity'],
    ['limit', { expression: '1/x', point: 0, direction: '+' }, 'infinity', ''],
    ['limit', { expression: 'sin(x)', point: 'oo' }, 'no limit', 'settle'],
    ['sum', { expression: '1/n^2', lower: 1, upper: 'infinity', variable: 'n' }, 'pi^2/6', ''],
    ['sum', { expression: 'k', lower: 1, upper: 'n', variable: 'k' }, 'n*(n + 1)/2', ''],
    ['solve', { expression: 'x^2 + 1 = 0' }, 'x = -i or x = i', 'No solution is a real number'],
    ['solve', { expression: 'x^2 + 1 = 0', domain: 'real' }, 'no solution', ''],
    ['solve', { expression: 'x + 1 = x' }, 'no solution', ''],
    ['solve', { expression: '2(x + 1) = 2x + 2' }, 'every x', ''],
    ['solve', { expression: 'x^2 < 4' }, '-2 < x < 2', 'real numbers'],
    ['solve', { expression: '2x - 1 >= 3' }, 'x >= 2', ''],
    ['solve', { expression: 'sin(x) = 0' }, 'x = 2*pi*n or x = 2*pi*n + pi', 'any whole number'],
    ['solve', { expression: 'cos(x) = x' }, 'x ≈ 0.739085133215161', 'No exact solution'],
    ['solve', { expression: 'x^5 - x = 1', domain: 'real' }, 'x ≈ 1.16730397826142', 'rounded'],
    ['solve', { equations: ['x + y = 3'], variables: ['x', 'y'] }, 'x = 3 - y', 'Any value may be chosen for y'],
    ['integrate', { expression: 'exp(-x^2)', lower: '-infinity', upper: 'infinity' }, 'sqrt(pi)', ''],
    ['integrate', { expression: 'exp(sin(x))', lower: 0, upper: 1 }, '≈ 1.63186960841805', 'No closed form'],
    ['evaluate', { expression: 'mod(7^1000000, 13)' }, '9', ''],
    ['evaluate', { expression: '∛(-8)' }, '-2', ''],
  ])('%s of %j is %s', async (operation, args, result, words) => {
    const calculated = await ask(operation, args);
    expect(calculated.result).toBe(result);
    expect([...calculated.notes, calculated.caveat].join(' ')).toContain(words);
  });

  it('are not invented if there is none', async () => {
    await expect(ask('integrate', { expression: 'sin(x)^x' })).rejects.toMatchObject({ code: 'MATH_UNSUPPORTED' });
    await expect(ask('sum', { expression: '1/n', variable: 'n', lower: 1, upper: 'infinity' }).then(({ result }) => result)).resolves.toBe(
      'infinity',
    );
  });
});
