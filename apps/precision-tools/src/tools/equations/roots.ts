import { Rational } from '../numbers/rational.js';
import { roundToInteger } from '../numbers/rounding.js';
import {
  commonDivisor,
  degreeOf,
  derivative,
  divided,
  leadingOf,
  minus,
  primitive,
  scaled,
  signAt,
  type Polynomial,
} from './polynomial.js';

/** Factors without repeated roots, each with the multiplicity of its roots (Yun's algorithm). */
export function squareFree(p: Polynomial): { factor: Polynomial; multiplicity: number }[] {
  const found: { factor: Polynomial; multiplicity: number }[] = [];
  const slope = derivative(p);
  const shared = commonDivisor(p, slope);
  let rest = divided(p, shared).quotient;
  let difference = minus(divided(slope, shared).quotient, derivative(rest));
  for (let multiplicity = 1; degreeOf(rest) > 0; multiplicity += 1) {
    const factor = commonDivisor(rest, difference);
    if (degreeOf(factor) > 0) found.push({ factor: primitive(factor), multiplicity });
    const next = divided(rest, factor).quotient;
    difference = minus(divided(difference, factor).quotient, derivative(next));
    rest = next;
  }
  return found;
}

/** Sturm's chain: the change in its sign variations counts the real roots between two points. */
function sturmChain(p: Polynomial): Polynomial[] {
  const chain = [primitive(p), primitive(derivative(p))];
  for (;;) {
    const [before, last] = [chain.at(-2)!, chain.at(-1)!];
    const { remainder } = divided(before, last);
    if (remainder.length === 0) return chain;
    chain.push(primitive(scaled(remainder, Rational.of(-1))));
  }
}

function variations(chain: readonly Polynomial[], x: Rational): number {
  const signs = chain.map((p) => signAt(p, x)).filter((sign) => sign !== 0);
  return signs.filter((sign, i) => i > 0 && sign !== signs[i - 1]).length;
}

/** Open at the left, closed at the right; contains one root. */
export type Interval = readonly [Rational, Rational];
const half = Rational.of(1, 2);

/** One interval for each real root of a polynomial without repeated roots, in ascending order. */
export function isolateRealRoots(p: Polynomial): Interval[] {
  const chain = sturmChain(p);
  // Cauchy's bound: every root is within 1 + max |a_i / a_n|; a power of two keeps the fractions of the bisection short.
  const largest = p.map((c) => c.divide(leadingOf(p)).abs()).reduce((a, b) => (a.compare(b) > 0 ? a : b));
  const bound = Rational.of(1n << BigInt((largest.ceil() + 1n).toString(2).length));
  const split = (low: Rational, high: Rational, from: number, to: number): Interval[] => {
    if (from === to) return [];
    if (from - to === 1) return [[low, high]];
    const middle = low.add(high).multiply(half);
    const between = variations(chain, middle);
    return [...split(low, middle, from, between), ...split(middle, high, between, to)];
  };
  return split(bound.negate(), bound, variations(chain, bound.negate()), variations(chain, bound));
}

/** Halves the interval of one root until it is narrower than the given width. Returns the exact root if it is hit. */
export function narrow(of: Polynomial, [from, to]: Interval, width: (high: Rational) => Rational): Interval {
  let [low, high] = [from, to];
  const p = primitive(of);
  const sign = signAt(p, high);
  if (sign === 0) return [high, high];
  while (high.subtract(low).compare(width(high)) > 0) {
    const middle = low.add(high).multiply(half);
    const there = signAt(p, middle);
    if (there === 0) return [middle, middle];
    if (there === sign) high = middle;
    else low = middle;
  }
  return [low, high];
}

/**
 * The root in the interval if it is a fraction. A fraction p/q that solves a polynomial with whole coefficients has a q that
 * divides the leading one, so the root times that coefficient is whole, and the interval is narrowed until one candidate is left.
 */
export function rationalRootIn(p: Polynomial, interval: Interval): Rational | null {
  const whole = primitive(p);
  const leading = leadingOf(whole).abs();
  const fine = Rational.one.divide(leading.multiply(Rational.of(4)));
  const [low, high] = narrow(whole, interval, () => fine);
  const candidate = Rational.of(roundToInteger(low.add(high).multiply(half).multiply(leading), 'half_up')).divide(leading);
  // The interval is open at the left: a root there belongs to the interval before.
  const isInside = low.compare(high) === 0 ? candidate.compare(low) === 0 : candidate.compare(low) > 0 && candidate.compare(high) <= 0;
  return isInside && signAt(whole, candidate) === 0 ? candidate : null;
}

/** The polynomial without any factor that it shares with another one. */
export function withoutShared(p: Polynomial, other: Polynomial): Polynomial {
  let rest = p;
  for (;;) {
    const shared = commonDivisor(rest, other);
    if (degreeOf(shared) <= 0) return rest;
    rest = divided(rest, shared).quotient;
  }
}
