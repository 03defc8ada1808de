import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { valueOf } from '@conclave/ports/suites';
import { notationOf } from '../assets/symbolic/compute-engine/notation.mjs';
import { valueAt } from '../assets/symbolic/compute-engine/value.mjs';
import { parseExpression, parseRelations, parseRows } from './parse.js';
import type { Tree } from './tree.js';

const none: ReadonlySet<string> = new Set();
const parse = (text: string, declared = none) => parseExpression(text, declared);
const at = { x: { re: 0.7, im: 0 }, y: { re: 1.9, im: 0 }, a: { re: 3.1, im: 0 } };
const valueIn = (text: string) => valueAt(parse(text).value, at).re;

describe('an expression', () => {
  it.each([
    ['2x', '2*x'],
    ['2x^2y', '2*x^2*y'],
    ['(x+1)(x-1)', '(x+1)*(x-1)'],
    ['3(x+1)', '3*(x+1)'],
    ['x(x+1)', 'x*(x+1)'],
    ['ax^2', 'a*x^2'],
    ['xy', 'x*y'],
    ['x**2', 'x^2'],
    ['x² + x³', 'x^2 + x^3'],
    ['x⁻²', 'x^(-2)'],
    ['-x^2', '-(x^2)'],
    ['2^-1', '1/2'],
    ['2^3^2', '512'],
    ['1/2x', '(1/2)*x'],
    ['a/b/c'.replaceAll('b', 'x').replaceAll('c', 'y'), 'a/(x*y)'],
    ['a - x - y', '(a - x) - y'],
    ['6 ÷ 2 × 3 · 2', '18'],
    ['√16 + ∛8', '6'],
    ['√2x', 'sqrt(2)*x'],
    ['sin x cos x', 'sin(x)*cos(x)'],
    ['sin 2x', 'sin(2*x)'],
    ['sin^2(x)', 'sin(x)^2'],
    ['2 sin(x)^2', '2*sin(x)*sin(x)'],
    ['ln e^2', '2'],
    ['log10(1000) + lg 10 + log2(8) + log(9, 3)', '9'],
    ['|x - a|', 'abs(x - a)'],
    ['2|x|', '2*abs(x)'],
    ['5! / 3!', '20'],
    ['-3!', '-6'],
    ['50% of 8', '4'],
    ['17,5 % von 200', '35'],
    ['10%', '1/10'],
    ['½ + ¾', '5/4'],
    ['sin 30°', '1/2'],
    ['2 pi', '2*pi'],
    ['2π', '2*pi'],
    ['1.5e3 + 2E-1', '1500.2'],
    ['2e', '2*e'],
    ['1,234,567.5', '1234567.5'],
    ['2,340', '2340'],
    ['1.234.567,5', '1234567.5'],
    ['3,5 * 2', '7'],
    ['1\u202f000\u00a0000', '1000000'],
    ["1'000", '1000'],
    ['max(1,234)', '234'],
    ['max(1, 2, 3)', '3'],
    ['Sin(x) + SQRT(4)', 'sin(x) + 2'],
    ['root(27, 3)', '3'],
    ['pow(x, 2)', 'x^2'],
    ['arctan(1)', 'pi/4'],
    ['[x + 1] {x}', '(x + 1)*x'],
  ])('%s is read as %s', (text, meaning) => {
    const numbers = Object.fromEntries(Object.entries(at).map(([name, { re }]) => [name, re]));
    expect(valueIn(text)).toBeCloseTo(valueOf(meaning, numbers), 10);
  });

  it.each([
    ['1/2x', 'left to right'],
    ['2,340', '2,340 is read as 2340'],
    ['log(2)', 'natural logarithm'],
    ['10%', 'divided by 100'],
  ])('is read, and the interpretation of %s is reported', (text, words) => {
    expect(parse(text).notes.join(' ')).toContain(words);
  });

  it.each([
    ['17 % 5', 'mod(a, b)'],
    ['foo(2)', 'Functions: sqrt'],
    ['f(x)', 'Write what it stands for'],
    ['price * 2', 'list longer ones in `variables`'],
    ['x 2', 'Write * or ^'],
    ['2 3', 'side by side'],
    ['sin^-1(x)', 'inverse function'],
    ['3 apples', 'no words'],
    ['two words', 'no words'],
    ['x = 2', 'operation solve'],
    ['2 +', 'ends where a value'],
    ['log(2, 3, 4)', 'takes 1 to 2 values'],
    ['1e9999', 'exponent'],
  ])('%s is refused with what to write', (text, words) => {
    expect(() => parse(text)).toThrow(words);
  });

  it('treats declared names as variables, whatever else they mean', () => {
    expect(parse('i^2 + price*e', new Set(['i', 'price'])).value).toEqual({
      kind: 'sum',
      terms: [
        { kind: 'power', base: { kind: 'symbol', name: 'i' }, exponent: { kind: 'number', value: '2' } },
        {
          kind: 'product',
          factors: [
            { kind: 'symbol', name: 'price' },
            { kind: 'constant', name: 'e' },
          ],
        },
      ],
    });
  });

  it('is part of equations, chains of inequalities and matrices', () => {
    expect(parseRelations('x + 1 = 3', none).value).toHaveLength(1);
    expect(parseRelations('1 < x ≤ 3', none).value.map(({ relation }) => relation)).toEqual(['<', '<=']);
    expect(parseRelations('x - 1', none).value).toMatchObject([{ relation: '=', right: { value: '0' } }]);
    for (const text of ['[[1, 2], [3, 4]]', '[1, 2; 3, 4]', '((1,2),(3,4))', '{{1, 2}, {3, 4}}'])
      expect(parseRows(text, none).value.map((row) => row.map(notationOf))).toEqual([
        ['1', '2'],
        ['3', '4'],
      ]);
  });
});

const leaf: fc.Arbitrary<Tree> = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((n): Tree => ({ kind: 'number', value: String(n) })),
  fc.constantFrom<Tree>({ kind: 'symbol', name: 'x' }, { kind: 'symbol', name: 'y' }, { kind: 'constant', name: 'pi' }),
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
  const inner = tie('tree');
  const several = fc.array(inner, { minLength: 2, maxLength: 3 });
  return {
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      several.map((terms): Tree => ({ kind: 'sum', terms })),
      several.map((factors): Tree => ({ kind: 'product', factors })),
      inner.map((of): Tree => ({ kind: 'negative', of })),
      fc.tuple(inner, inner).map(([over, under]): Tree => ({ kind: 'quotient', over, under })),
      fc.tuple(inner, fc.integer({ min: -3, max: 3 })).map(([base, n]): Tree => ({
        kind: 'power',
        base,
        exponent: n < 0 ? { kind: 'negative', of: { kind: 'number', value: String(-n) } } : { kind: 'number', value: String(n) },
      })),
      fc
        .tuple(fc.constantFrom('sin' as const, 'exp' as const, 'abs' as const), inner)
        .map(([name, arg]): Tree => ({ kind: 'call', name, args: [arg] })),
    ),
  };
});

/** Every value that is met while the tree is evaluated, as sizes. */
const sizesIn = (of: Tree): number[] => {
  const inner = Object.values(of)
    .flat()
    .filter((part): part is Tree => typeof part === 'object');
  const { re, im } = valueAt(of, at);
  return [Math.hypot(re, im), ...inner.flatMap(sizesIn)];
};

describe('the notation of results', () => {
  const [one, x, y] = [
    { kind: 'number', value: '1' },
    { kind: 'symbol', name: 'x' },
    { kind: 'symbol', name: 'y' },
  ] as const;
  const sum: Tree = { kind: 'sum', terms: [x, y] };
  it.each<[string, Tree]>([
    ['-(x + y)', { kind: 'product', factors: [{ kind: 'negative', of: one }, sum] }],
    ['-(x + y)', { kind: 'quotient', over: { kind: 'negative', of: sum }, under: one }],
    // A double minus is not shortened.
    [
      '--x*y',
      { kind: 'product', factors: [{ kind: 'negative', of: { kind: 'quotient', over: { kind: 'negative', of: x }, under: one } }, y] },
    ],
  ])('keeps sums together and signs apart: %s', (text, made) => expect(notationOf(made)).toBe(text));

  it('is read again with the same value', () => {
    fc.assert(
      fc.property(tree, (made) => {
        const again = parse(notationOf(made)).value;
        const [before, after] = [valueAt(made, at), valueAt(again, at)];
        // A larger double has too few digits to locate a point within a period of sin: both values would be noise.
        fc.pre(sizesIn(made).every((size) => size < 1e6));
        expect(Math.abs(after.re - before.re) / Math.max(1, Math.abs(before.re))).toBeLessThan(1e-6);
      }),
      { numRuns: 500 },
    );
  });
});

describe('any text', () => {
  it('is read or refused in bounded time, never anything else', () => {
    const words = fc.constantFrom(
      'x',
      '2',
      '(',
      ')',
      '^',
      '+',
      '-',
      '*',
      '/',
      'sin',
      'e',
      ',',
      '!',
      '%',
      '|',
      '[',
      '=',
      ' ',
      '√',
      '²',
      '9,',
      '.',
      '__',
      '"',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 300, unit: 'binary' }),
          fc.array(words, { maxLength: 300 }).map((parts) => parts.join('')),
        ),
        (text) => {
          // Processor time: on a busy machine a process may wait longer than it computes.
          const from = process.cpuUsage();
          try {
            parse(text);
          } catch (error) {
            expect(error).toMatchObject({ code: 'MATH_INPUT_INVALID' });
          }
          expect(process.cpuUsage(from).user / 1_000).toBeLessThan(500);
        },
      ),
      { numRuns: 500 },
    );
  });
});
