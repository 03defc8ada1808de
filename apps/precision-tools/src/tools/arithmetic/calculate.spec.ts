import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';
import { cpuMsSince } from '../__fixtures__/cpu-time.js';

const calculate = (expression: string) =>
  ask('calculate', { expression }) as { result: string; decimal: string; exact: boolean; interpreted: string };
const refused = (expression: string): string => refusalOf('calculate', { expression });

/** An independent calculation: numerator and denominator are never reduced. */
type Pair = readonly [bigint, bigint];
interface Sum {
  text: string;
  value: Pair;
}
const leaf = fc.integer({ min: 0, max: 10_000 }).map((n): Sum => ({ text: `${n / 100}`, value: [BigInt(n), 100n] }));
const operations: readonly ((a: Sum, b: Sum) => Sum)[] = [
  (a, b) => ({ text: `(${a.text} + ${b.text})`, value: [a.value[0] * b.value[1] + b.value[0] * a.value[1], a.value[1] * b.value[1]] }),
  (a, b) => ({ text: `(${a.text} - ${b.text})`, value: [a.value[0] * b.value[1] - b.value[0] * a.value[1], a.value[1] * b.value[1]] }),
  (a, b) => ({ text: `${a.text} * ${b.text}`, value: [a.value[0] * b.value[0], a.value[1] * b.value[1]] }),
  // A division by zero has no value; its denominator stays 0, even under a fraction line.
  (a, b) => ({ text: `(${a.text}) / (${b.text})`, value: [a.value[0] * b.value[1], b.value[1] === 0n ? 0n : a.value[1] * b.value[0]] }),
];
const sums = fc.letrec<{ sum: Sum }>((tie) => ({
  sum: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.tuple(fc.nat(3), tie('sum'), tie('sum')).map(([i, a, b]) => {
      const made = operations[i]!(a, b);
      return { ...made, text: `(${made.text})` };
    }),
  ),
})).sum;

/** "12.5" or "-3/4" as an unreduced pair. */
function pairOf(text: string): Pair {
  if (text.includes('/')) return text.split('/').map(BigInt) as [bigint, bigint];
  const [whole = '', fraction = ''] = text.split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
}

describe('calculate', () => {
  it('returns the same fraction as arithmetic on unreduced pairs of integers', () => {
    fc.assert(
      fc.property(sums, ({ text, value: [n, d] }) => {
        if (d === 0n) return void expect(refused(text)).toContain('Division by zero');
        const { result, exact } = calculate(text);
        const [rn, rd] = pairOf(result);
        expect(exact).toBe(true);
        expect(rn * d).toBe(n * rd);
      }),
      { numRuns: 150 },
    );
  });

  it('returns 30 correct digits of a square root: the squares of its neighbours enclose the number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n, max: 10n ** 12n }), (n) => {
        const { result, exact } = calculate(`sqrt(${n})`);
        const [rn, rd] = pairOf(result);
        if (exact) return void expect(rn * rn).toBe(n * rd * rd);
        // In units of half the thirtieth digit.
        const unit = 2n * 10n ** BigInt(30 - result.indexOf('.'));
        const written = (rn * unit) / rd;
        expect((written - 1n) ** 2n).toBeLessThan(n * unit * unit);
        expect((written + 1n) ** 2n).toBeGreaterThan(n * unit * unit);
      }),
    );
  });

  it.each([
    ['sqrt(2)^2 - 2', '0'],
    ['sin(pi)', '0'],
    ['sin(30°)', '0.5'],
    ['ln(e^3)', '3'],
    ['8^(1/3)', '2'],
    ['(-8)^(1/3)', '-2'],
    ['(1/4)^(-1/2)', '2'],
    ['atan(1) * 4', '3.14159265358979323846264338328'],
    ['exp(1)', '2.71828182845904523536028747135'],
    ['50% of 50%', '0.25'],
    ['5% + 3%', '0.08'],
    ['17 % 5', '2'],
    ['2(3 + 4)', '14'],
    ['gcd(12,180)', '12'],
    ['max(1.5, 2, -3)', '2'],
    ['round(-2.5)', '-3'],
    ['floor(-7/2)', '-4'],
    ['0.1 * 3', '0.3'],
    ['4.35 * 100', '435'],
    ['1e21 + 1', '1000000000000000000001'],
    ['10! / 8!', '90'],
  ])('calculates %s = %s', (expression, result) => expect(calculate(expression).result).toBe(result));

  it.each([
    ['200 + 10%', 'two readings'],
    ['3,5 + 1', 'decimal point'],
    ['max(1,000, 2)', 'two readings'],
    ['1/2(3)', 'two readings'],
    ['log(8)', 'two readings'],
    ['5!!', 'two readings'],
    ['0^0', 'no agreed value'],
    ['1 / 0', 'Division by zero'],
    ['((0) / (((0.01) / (0))))', 'Division by zero'],
    ['1 / (sqrt(2)^2 - 2)', 'Division by zero'],
    ['sqrt(-1)', 'not real'],
    ['ln(0)', 'above zero'],
    ['tan(90°)', 'no value'],
    ['2 * (3', 'parenthesis'],
    ['2 3', 'operator is missing'],
    ['x + 1', 'not a function, constant or variable'],
    ['1 = 1', 'solve_equation'],
    ['', 'empty'],
  ])('reports what is wrong with "%s"', (expression, words) => {
    expect(refused(expression)).toMatch(/^INVALID_ARGUMENT/);
    expect(refused(expression)).toContain(words);
  });

  it.each([
    "__import__('os').system('id')",
    'constructor.constructor("return process")()',
    'process.exit(1)',
    'abort()',
    'import os',
    '(lambda: 1)()',
    '[].__class__',
    '`x`',
    'toString(1)',
    'hasOwnProperty',
  ])('treats %s as text, not as a program', (expression) => expect(refused(expression)).toMatch(/^INVALID_ARGUMENT/));

  it.each([
    ['9**9**9', 'about 369,693,100 digits'],
    ['9^9^9^9', 'LIMIT_EXCEEDED'],
    ['10^(10^18)', 'LIMIT_EXCEEDED'],
    ['100000!', 'more than 10,000 digits'],
    ['3248! * 3248!', 'LIMIT_EXCEEDED'],
    ['ncr(30000, 15000) ^ 2', 'LIMIT_EXCEEDED'],
    ['exp(10^9)', 'LIMIT_EXCEEDED'],
    ['sin(10^30)', 'LIMIT_EXCEEDED'],
    ['1e999999', 'LIMIT_EXCEEDED'],
    [`${'('.repeat(4_000)}1${')'.repeat(4_000)}`, 'nested'],
    [`${'-'.repeat(5_000)}1`, 'nested'],
    [`${'2^'.repeat(3_000)}1`, 'nested'],
    ['1+'.repeat(10_000), '10,000'.replace(',', '')],
  ])('refuses %s within a second', (expression, words) => {
    const before = process.cpuUsage();
    const refusal = refused(expression);
    expect(cpuMsSince(before)).toBeLessThan(1_000);
    expect(refusal).toMatch(/^LIMIT_EXCEEDED/);
    expect(refusal).toContain(words);
  });

  it('reports how it interpreted the input', () => {
    expect(calculate('2pi').interpreted).toBe('2 * pi');
    expect(calculate('max(1,234)').interpreted).toBe('max(1, 234)');
    expect(calculate('−2 × 3²').interpreted).toBe('-2 * 3^2');
  });

  it('accepts a long sum and refuses a deeply nested one', () => {
    expect(calculate(Array.from({ length: 2_000 }, () => '1').join('+')).result).toBe('2000');
  });
});

describe('what people write around a calculation', () => {
  it('accepts the form that the refusal of "+ p%" advises', () => {
    expect(ask('calculate', { expression: '250 * (1 + 12%)' })).toMatchObject({ result: '280' });
    expect(ask('calculate', { expression: '250 * (1 - 12%)' })).toMatchObject({ result: '220' });
    expect(refusalOf('calculate', { expression: '2 * 1 + 12%' })).toContain('two readings');
  });

  it('accepts a final sign that asks for the value, and the currency of an amount of money', () => {
    expect(ask('calculate', { expression: '12 * 14 = ?' })).toMatchObject({ result: '168' });
    expect(ask('decimal_finance', { operation: 'discount', amount: '$1,089.90', rate_percent: 30 })).toMatchObject({ result: '762.93' });
    expect(ask('decimal_finance', { operation: 'percent_of', amount: '-89.90 €', rate_percent: 10 })).toMatchObject({ result: '-8.99' });
  });
});
