import { symbolsOf } from './trees.mjs';
import { add, over, real, scale, size, subtract, times } from './complex.mjs';
import { remainderOf } from './remainders.mjs';
import { valueAt } from './value.mjs';

/** Values that are substituted for names: no special points, away from poles and branches of usual functions. */
const samples = [0.618, 1.327, 2.211, 0.243];

const valuesFor = (names, n) => Object.fromEntries(names.map((name, k) => [name, real(samples[(n + k) % samples.length] + 0.071 * k)]));

const known = (value) => Number.isFinite(value.re) && Number.isFinite(value.im);
const near = (a, b, within) => size(subtract(a, b)) <= within * Math.max(1, size(a), size(b));

/** Compares wherever both sides have a value; one difference decides. */
function everywhere(names, within, sides) {
  let compared = false;
  for (let n = 0; n < samples.length; n += 1) {
    const [a, b] = sides(valuesFor(names, n));
    if (!known(a) || !known(b)) continue;
    if (!near(a, b, within)) return false;
    compared = true;
  }
  return compared ? true : null;
}

/** Whether two expressions have the same value: by floating point, and modulo a prime where both are whole or fractions. */
export function sameValue(a, b) {
  const [left, right] = [remainderOf(a), remainderOf(b)];
  if (left !== null && right !== null) return left === right;
  return everywhere(symbolsOf(a, b), 1e-9, (at) => [valueAt(a, at), valueAt(b, at)]);
}

/** Whether an expression with these values in it has the value of the result. */
export function sameWith(expression, values, result) {
  if (values.length === 0) return sameValue(expression, result);
  const names = symbolsOf(expression, result, ...values.map(([, value]) => value));
  return everywhere(names, 1e-9, (at) => [
    valueAt(expression, { ...at, ...Object.fromEntries(values.map(([name, value]) => [name, valueAt(value, at)])) }),
    valueAt(result, at),
  ]);
}

/** Whether `solution` makes both sides of each relation equal. */
export const solves = (relations, solution) =>
  together(
    relations.map(({ left, right }) =>
      everywhere(symbolsOf(left, right, ...Object.values(solution)), 1e-8, (at) => {
        const put = { ...at, ...Object.fromEntries(Object.entries(solution).map(([name, tree]) => [name, valueAt(tree, at)])) };
        return [valueAt(left, put), valueAt(right, put)];
      }),
    ),
  );

/** Whether the slope of `whole` is `slope`, by central differences of the fourth order. */
export const isDerivative = (whole, slope, variable) =>
  everywhere([variable, ...symbolsOf(whole, slope).filter((name) => name !== variable)], 1e-6, (at) => {
    const h = 1e-3;
    const f = (by) => valueAt(whole, { ...at, [variable]: real(at[variable].re + by * h) });
    const difference = add(scale(subtract(f(1), f(-1)), 8), subtract(f(-2), f(2)));
    return [scale(difference, 1 / (12 * h)), valueAt(slope, at)];
  });

/** Whether a definite integral has this value, by Gauss' quadrature on 200 pieces. Null if the bounds or the values are not finite. */
export function isIntegral(expression, variable, bounds, result) {
  const names = symbolsOf(expression, ...bounds, result).filter((name) => name !== variable);
  return everywhere(names, 1e-6, (at) => {
    const [from, to] = [valueAt(bounds[0], at), valueAt(bounds[1], at)];
    const pieces = 200;
    const width = (to.re - from.re) / pieces;
    let sum = real(0);
    // Two points of Gauss and Legendre.
    for (let n = 0; n < pieces; n += 1)
      for (const offset of [-1, 1])
        sum = add(sum, valueAt(expression, { ...at, [variable]: real(from.re + width * (n + 0.5 + offset / (2 * Math.sqrt(3)))) }));
    return [from.im === 0 && to.im === 0 ? scale(sum, width / 2) : real(NaN), valueAt(result, at)];
  });
}

/** Whether values nearer to the point are nearer to the result. */
export function isLimit({ expression, variable, point, direction }, result) {
  const names = symbolsOf(expression, point, result).filter((name) => name !== variable);
  return everywhere(names, 1e-3, (at) => {
    const [p, wanted] = [valueAt(point, at).re, valueAt(result, at)];
    const places = Number.isFinite(p)
      ? (direction === '-' ? [-1] : direction === '+' ? [1] : [1, -1]).map((side) => p + side * 1e-5)
      : [Math.sign(p) * 1e5];
    const values = places.map((x) => valueAt(expression, { ...at, [variable]: real(x) }));
    const far = values.find((value) => !known(value) || !near(value, wanted, 1e-3));
    return [far && known(wanted) ? (known(far) ? far : real(NaN)) : values[0], wanted];
  });
}

/** Whether terms or factors, added or multiplied one by one, equal the result; names in the bounds are whole numbers here. */
export function isRange(job, result) {
  const names = symbolsOf(job.expression, job.lower, job.upper, result).filter((name) => name !== job.variable);
  const inBounds = new Set(symbolsOf(job.lower, job.upper));
  const checks = [4, 7].map((whole) => {
    const at = Object.fromEntries(names.map((name, k) => [name, real(inBounds.has(name) ? whole : samples[k % samples.length])]));
    const [from, to] = [valueAt(job.lower, at).re, valueAt(job.upper, at).re];
    if (!Number.isInteger(from) || !Number.isInteger(to) || to - from > 20_000) return null;
    let value = real(job.operation === 'sum' ? 0 : 1);
    for (let k = from; k <= to; k += 1) {
      const next = valueAt(job.expression, { ...at, [job.variable]: real(k) });
      value = job.operation === 'sum' ? add(value, next) : times(value, next);
    }
    const wanted = valueAt(result, at);
    return known(value) && known(wanted) ? near(value, wanted, 1e-9) : null;
  });
  return together(checks);
}

const together = (checks) => (checks.includes(false) ? false : checks.length === 0 || checks.includes(null) ? null : true);
const numbers = (rows, at) => rows.map((row) => row.map((entry) => valueAt(entry, at)));
const namesIn = (...all) => symbolsOf(...all.flat(2));
const dot = (row, right, column) => row.map((entry, n) => times(entry, right[n][column])).reduce(add);

/** Whether left times right is the result. */
export const isProduct = (left, right, result) =>
  together(
    result.flatMap((row, r) =>
      row.map((entry, column) =>
        everywhere(namesIn(left, right, result), 1e-8, (at) => [dot(numbers(left, at)[r], numbers(right, at), column), valueAt(entry, at)]),
      ),
    ),
  );

export const identity = (side) =>
  Array.from({ length: side }, (_, r) => Array.from({ length: side }, (_none, c) => ({ kind: 'number', value: r === c ? '1' : '0' })));

/** Whether a determinant has this value, by elimination. */
export const isDeterminant = (matrix, result) =>
  everywhere([...new Set([...namesIn(matrix), ...symbolsOf(result)])], 1e-8, (at) => [
    determinant(numbers(matrix, at)),
    valueAt(result, at),
  ]);

/** Whether the values are all eigenvalues: each makes the determinant of matrix - value 0, and their sum is the trace. */
export function areEigenvalues(matrix, values) {
  if (namesIn(matrix).length > 0) return null;
  if (values.length !== matrix.length) return false;
  const entries = numbers(matrix, {});
  const trace = entries.map((row, n) => row[n]).reduce(add);
  const sum = values.map((value) => valueAt(value)).reduce(add);
  const shifted = (by) => entries.map((row, r) => row.map((entry, c) => (r === c ? subtract(entry, by) : entry)));
  const largest = Math.max(1, ...entries.flat().map(size)) ** matrix.length;
  return near(trace, sum, 1e-8) && values.every((value) => size(determinant(shifted(valueAt(value)))) <= 1e-7 * largest * matrix.length);
}

function determinant(matrix) {
  const rows = matrix.map((row) => [...row]);
  let value = real(1);
  for (let c = 0; c < rows.length; c += 1) {
    const pivot = rows.slice(c).reduce((best, row, n) => (size(row[c]) > size(rows[best][c]) ? n + c : best), c);
    if (size(rows[pivot][c]) === 0) return real(0);
    if (pivot !== c) {
      [rows[c], rows[pivot]] = [rows[pivot], rows[c]];
      value = scale(value, -1);
    }
    value = times(value, rows[c][c]);
    for (let r = c + 1; r < rows.length; r += 1) {
      const by = over(rows[r][c], rows[c][c]);
      rows[r] = rows[r].map((entry, n) => subtract(entry, times(by, rows[c][n])));
    }
  }
  return value;
}
