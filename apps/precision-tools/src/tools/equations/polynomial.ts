import { gcdOf, Rational } from '../numbers/rational.js';
import { tooLarge } from '../refusal.js';

/** Coefficients from the constant upwards; the last is not zero. The empty list is the polynomial 0. */
export type Polynomial = readonly Rational[];

export const largestDegree = 30;

export const trimmed = (coefficients: readonly Rational[]): Polynomial => {
  let length = coefficients.length;
  while (length > 0 && coefficients[length - 1]!.sign === 0) length -= 1;
  if (length - 1 > largestDegree) throw tooLarge(`The equation has a degree above ${largestDegree}.`);
  return coefficients.slice(0, length);
};

export const constant = (value: Rational): Polynomial => trimmed([value]);
export const one = constant(Rational.one);
export const degreeOf = (p: Polynomial): number => p.length - 1;
export const leadingOf = (p: Polynomial): Rational => p[p.length - 1] ?? Rational.zero;

export const plus = (a: Polynomial, b: Polynomial): Polynomial =>
  trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? Rational.zero).add(b[i] ?? Rational.zero)));
export const scaled = (a: Polynomial, factor: Rational): Polynomial => trimmed(a.map((c) => c.multiply(factor)));
export const minus = (a: Polynomial, b: Polynomial): Polynomial => plus(a, scaled(b, Rational.of(-1)));

export function times(a: Polynomial, b: Polynomial): Polynomial {
  if (a.length === 0 || b.length === 0) return [];
  if (a.length + b.length - 2 > largestDegree) throw tooLarge(`The equation has a degree above ${largestDegree}.`);
  const result = Array.from({ length: a.length + b.length - 1 }, () => Rational.zero);
  a.forEach((x, i) => b.forEach((y, j) => (result[i + j] = result[i + j]!.add(x.multiply(y)))));
  return trimmed(result);
}

/** Quotient and remainder by a polynomial that is not 0. */
export function divided(a: Polynomial, b: Polynomial): { quotient: Polynomial; remainder: Polynomial } {
  const rest = [...a];
  const quotient = Array.from({ length: Math.max(0, a.length - b.length + 1) }, () => Rational.zero);
  for (let shift = a.length - b.length; shift >= 0; shift -= 1) {
    const factor = rest[shift + b.length - 1]!.divide(leadingOf(b));
    quotient[shift] = factor;
    b.forEach((c, i) => (rest[shift + i] = rest[shift + i]!.subtract(c.multiply(factor))));
  }
  return { quotient: trimmed(quotient), remainder: trimmed(rest) };
}

/** The same up to a positive factor, with whole coefficients that have no common divisor. Keeps numbers small. */
export function primitive(p: Polynomial): Polynomial {
  if (p.length === 0) return p;
  const common = p.reduce((lcm, { denominator }) => (lcm * denominator) / gcdOf(lcm, denominator), 1n);
  const whole = p.map((c) => c.multiply(Rational.of(common)).numerator);
  const content = whole.reduce(gcdOf, 0n);
  return whole.map((c) => Rational.of(c / content));
}

export function commonDivisor(a: Polynomial, b: Polynomial): Polynomial {
  let [x, y] = [primitive(a), primitive(b)];
  while (y.length > 0) [x, y] = [y, primitive(divided(x, y).remainder)];
  return x;
}

export const derivative = (p: Polynomial): Polynomial => trimmed(p.slice(1).map((c, i) => c.multiply(Rational.of(i + 1))));

/** Sign of a polynomial with whole coefficients at n/d: that of d^degree times the value, which needs no fractions. */
export function signAt(p: Polynomial, { numerator, denominator }: Rational): -1 | 0 | 1 {
  let [sum, power] = [0n, 1n];
  for (let i = p.length - 1; i >= 0; i -= 1) {
    sum = sum * numerator + p[i]!.numerator * power;
    power *= denominator;
  }
  return sum === 0n ? 0 : sum < 0n ? -1 : 1;
}
