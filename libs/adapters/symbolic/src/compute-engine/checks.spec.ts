import { describe, expect, it } from '@jest/globals';
import * as checks from '../assets/symbolic/compute-engine/checks.mjs';
import { areAll } from '../assets/symbolic/compute-engine/completeness.mjs';
import { decimalOf, rounded } from '../assets/symbolic/compute-engine/decimals.mjs';
import { parseExpression, parseRelations, parseRows } from '../syntax/parse.js';

const none: ReadonlySet<string> = new Set();
const tree = (text: string) => parseExpression(text, none).value;
const rows = (text: string) => parseRows(text, none).value;

describe('a check', () => {
  it.each([
    ['(x + 1)^2', 'x^2 + 2x + 1', 'x^2 + 2x + 2'],
    [
      '2^200',
      '1606938044258990275541962092341162602522202993782792835301376',
      '1606938044258990275541962092341162602522202993782792835301377',
    ],
    ['2000!/1999!', '2000', '2001'],
    ['(1/3)^50', '1/717897987691852588770249', '1/717897987691852588770248'],
    ['sqrt(8)', '2 sqrt(2)', '3'],
    ['e^(i pi)', '-1', '1'],
    ['sin(x)^2', '(1 - cos(2x))/2', '(1 + cos(2x))/2'],
    ['asin(2)', 'pi/2 - acos(2)', 'acos(2)'],
    ['atanh(1/2) + acosh(2) + asinh(1)', 'ln(3)/2 + ln(2 + sqrt(3)) + ln(1 + sqrt(2))', 'ln(3)'],
    ['erf(1) + gamma(1/2) + binomial(5, 2)', '0.8427007929497149 + sqrt(pi) + 10', '11'],
  ])('of the value of %s distinguishes right from wrong', (text, right, wrong) => {
    expect([checks.sameValue(tree(text), tree(right)), checks.sameValue(tree(text), tree(wrong))]).toEqual([true, false]);
  });

  it('of a derivative, an integral, a limit, a sum', () => {
    expect(checks.isDerivative(tree('a x^3'), tree('3 a x^2'), 'x')).toBe(true);
    expect(checks.isDerivative(tree('x^3'), tree('3 x^2 + 1/1000'), 'x')).toBe(false);
    const [zero, three] = [tree('0'), tree('3')];
    expect(checks.isIntegral(tree('x^2'), 'x', [zero, three], tree('9'))).toBe(true);
    expect(checks.isIntegral(tree('x^2'), 'x', [zero, three], tree('8'))).toBe(false);
    expect(checks.isIntegral(tree('exp(-x)'), 'x', [zero, tree('infinity')], tree('1'))).toBeNull();
    const limit = { operation: 'limit', variable: 'x', direction: 'both', precision: 15 } as const;
    expect(checks.isLimit({ ...limit, expression: tree('sin(x)/x'), point: zero }, tree('1'))).toBe(true);
    expect(checks.isLimit({ ...limit, expression: tree('sin(x)/x'), point: zero }, tree('0'))).toBe(false);
    expect(checks.isLimit({ ...limit, expression: tree('abs(x)/x'), point: zero }, tree('1'))).toBe(false);
    const sum = { operation: 'sum', variable: 'k', precision: 15, lower: tree('1'), upper: tree('n'), expression: tree('k') } as const;
    expect(checks.isRange(sum, tree('n (n + 1)/2'))).toBe(true);
    expect(checks.isRange(sum, tree('n (n - 1)/2'))).toBe(false);
    expect(checks.isRange({ ...sum, upper: tree('infinity') }, tree('3'))).toBeNull();
  });

  it('of solutions and matrices', () => {
    const relations = parseRelations('x^2 = a', none).value;
    expect(checks.solves(relations, { x: tree('sqrt(a)') })).toBe(true);
    expect(checks.solves(relations, { x: tree('a') })).toBe(false);
    const matrix = rows('[[2, 1], [1, 2]]');
    expect(checks.isDeterminant(matrix, tree('3'))).toBe(true);
    expect(checks.isDeterminant(rows('[[a, 1], [1, a]]'), tree('a^2 + 1'))).toBe(false);
    expect(checks.isProduct(matrix, rows('[[2/3, -1/3], [-1/3, 2/3]]'), checks.identity(2))).toBe(true);
    expect(checks.isProduct(matrix, matrix, checks.identity(2))).toBe(false);
    expect(checks.areEigenvalues(matrix, [tree('3'), tree('1')])).toBe(true);
    expect(checks.areEigenvalues(matrix, [tree('2'), tree('2')])).toBe(false);
    expect(checks.areEigenvalues(matrix, [tree('4')])).toBe(false);
  });
});

describe('solutions', () => {
  const are = (equations: string, ...solutions: readonly (readonly string[])[]) => {
    const relations = equations.split(';').flatMap((text) => parseRelations(text, none).value);
    const variables = relations.length === 1 ? ['x'] : ['x', 'y'];
    return areAll(
      { relations, variables },
      solutions.map((one) => Object.fromEntries(one.map((text, n) => [variables[n]!, tree(text)]))),
    );
  };
  const cubic: readonly (readonly string[])[] = [['2'], ['-1 + sqrt(3) i'], ['-1 - sqrt(3) i']];

  it.each<readonly [equations: string, ...(readonly (readonly string[])[])]>([
    ['x^3 = 8', ...cubic],
    ['(x^3 - 8)^2 = 0', ...cubic],
    ['x^2 - 2x + 1 = 0', ['1']],
    ['0.5 x = 1/3', ['2/3']],
    ['a x^2 + b x = 0', ['0'], ['-b/a']],
    ['x^2 = 2 sqrt(2) x - 2', ['sqrt(2)'], ['sqrt(2) + 1/1000']],
    ['(x^2 - 1)/(x - 1) = 0', ['-1']],
    ['1/x = x^(-2)', ['1']],
    ['1/x = 0'],
    ['x^2 = pi', ['sqrt(pi)'], ['-sqrt(pi)']],
    ['x + y = 3; x - y = 1', ['2', '1']],
    ['a x + y = 3; x - y = 1', ['4/(a + 1)', '(3 - a)/(a + 1)']],
  ])('are all of %s', (equations, ...solutions) => {
    expect(are(equations, ...solutions)).toBe(true);
    if (solutions.length > 0) expect(are(equations, ...solutions.slice(1))).toBe(false);
  });

  it.each<readonly [equations: string, ...(readonly (readonly string[])[])]>([
    ['x^3 = 8', ['2']],
    ['x^3 = 8', ['2'], ['2'], ['4/2']],
    ['x^2 = 2', ['sqrt(2)'], ['2/sqrt(2)']],
    ['sin(x) = 0', ['0']],
    ['exp(x) = 1', ['0']],
    ['sqrt(x) = 3', ['9']],
    ['x = x', ['1']],
    ['x^2 + y^2 = 2; x = y', ['1', '1']],
    ['x y = 1; x = 1', ['1', '1']],
    ['x + y = 2; 2x + 2y = 4', ['1', '1']],
    ['x^41 = 1', ['1']],
  ])('are not known to be all of %s', (equations, ...solutions) => {
    expect(are(equations, ...solutions)).toBe(false);
  });
});

describe('a decimal', () => {
  it.each([
    ['1.41421356237309504880', 5, '1.4142'],
    ['1.99996', 5, '2'],
    ['-0.000123456', 3, '-0.000123'],
    ['123456789.5', 4, '123500000'],
    ['999.96', 4, '1000'],
    ['1.5e+30', 3, '1.5e30'],
    ['0.00000000123', 2, '1.2e-9'],
    ['0', 5, '0'],
    ['NaN', 5, null],
    ['+Infinity', 5, null],
  ])('%s with %i digits is %s', (text, digits, shown) => {
    expect(rounded(text, digits)).toBe(shown);
  });

  it('of a terminating fraction is written whole; of a complex number in two parts', () => {
    expect(decimalOf(tree('-819/2'), null, 3)).toBe('-409.5');
    expect(decimalOf(tree('1/3'), { re: '0.33333333333', im: '0' }, 3)).toBe('0.333');
    expect(decimalOf(tree('i'), { re: '0.5', im: '-0.25' }, 5)).toBe('0.5 - 0.25*i');
    expect(decimalOf(tree('i'), { re: '0', im: '1' }, 5)).toBe('1*i');
    expect(decimalOf(tree('x'), null, 5)).toBeNull();
  });
});
