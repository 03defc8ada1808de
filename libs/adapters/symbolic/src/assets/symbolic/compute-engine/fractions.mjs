// Exact fractions, and polynomials of them: coefficients by degree, the last one not 0; `[]` is 0.

const divisor = (a, b) => (b === 0n ? (a < 0n ? -a : a) : divisor(b, a % b));

/** A fraction in lowest terms; `under` is positive. */
export function fraction(over, under = 1n) {
  const by = divisor(over, under) * (under < 0n ? -1n : 1n);
  return by === 0n ? { over: 0n, under: 1n } : { over: over / by, under: under / by };
}

const zero = fraction(0n);
const one = fraction(1n);
const plus = (a, b) => fraction(a.over * b.under + b.over * a.under, a.under * b.under);
const times = (a, b) => fraction(a.over * b.over, a.under * b.under);
const minus = (a) => ({ over: -a.over, under: a.under });
const divided = (a, b) => fraction(a.over * b.under, a.under * b.over);
const isZero = ({ over }) => over === 0n;

const trimmed = (coefficients) => coefficients.slice(0, coefficients.findLastIndex((one) => !isZero(one)) + 1);
export const constant = (value) => trimmed([value]);
export const degreeOf = (polynomial) => polynomial.length - 1;

export const added = (a, b) => trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, n) => plus(a[n] ?? zero, b[n] ?? zero)));
export const negated = (a) => a.map(minus);
export function multiplied(a, b) {
  const product = Array.from({ length: Math.max(0, a.length + b.length - 1) }, () => zero);
  for (const [n, x] of a.entries()) for (const [m, y] of b.entries()) product[n + m] = plus(product[n + m], times(x, y));
  return trimmed(product);
}

/** Quotient and remainder; `by` is not 0. */
export function parted(a, by) {
  let rest = a;
  const quotient = Array.from({ length: Math.max(0, a.length - by.length + 1) }, () => zero);
  while (rest.length >= by.length) {
    const factor = divided(rest.at(-1), by.at(-1));
    const shift = rest.length - by.length;
    quotient[shift] = factor;
    rest = trimmed(rest.map((value, n) => (n < shift ? value : plus(value, minus(times(factor, by[n - shift]))))).slice(0, -1));
  }
  return { quotient: trimmed(quotient), rest };
}

/** The greatest common divisor, its first coefficient 1; `[]` of two that are 0. */
export function common(a, b) {
  if (b.length === 0) return a.map((value) => divided(value, a.at(-1)));
  // With a first coefficient of 1 the numbers stay short.
  const { rest } = parted(
    a,
    b.map((value) => divided(value, b.at(-1))),
  );
  return common(b, rest);
}

const slope = (a) => trimmed(a.slice(1).map((value, n) => times(value, fraction(BigInt(n + 1)))));

/** Number of different complex roots of a polynomial that is not 0. */
export const rootsOf = (polynomial) => degreeOf(polynomial) - Math.max(0, degreeOf(common(polynomial, slope(polynomial))));

/** The polynomial divided by a root as often as it has that root. */
export function without(polynomial, root) {
  let left = polynomial;
  for (;;) {
    const { quotient, rest } = parted(left, [minus(root), one]);
    if (rest.length > 0 || left.length === 0) return left;
    left = quotient;
  }
}

/** Rank of rows of fractions. */
export function rankOf(rows) {
  const left = rows.map((row) => [...row]);
  let rank = 0;
  for (let column = 0; column < (left[0]?.length ?? 0); column += 1) {
    const pivot = left.findIndex((row, n) => n >= rank && !isZero(row[column]));
    if (pivot < 0) continue;
    [left[rank], left[pivot]] = [left[pivot], left[rank]];
    for (let n = rank + 1; n < left.length; n += 1) {
      const by = divided(left[n][column], left[rank][column]);
      left[n] = left[n].map((value, c) => plus(value, minus(times(by, left[rank][c]))));
    }
    rank += 1;
  }
  return rank;
}
