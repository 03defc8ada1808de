import * as about from '../numbers/approximate.js';
import { exactRoot, Rational } from '../numbers/rational.js';
import { invalid, quoted, tooLarge } from '../refusal.js';

/** Exact for as long as possible, then a decimal with a known error. */
export type Real = Rational | about.Approximate;

export const approximated = (value: Real): about.Approximate => (value instanceof Rational ? about.fromRational(value) : value);

/** Largest n of n!: 3,248! has fewer than 10,000 digits. */
const largestFactorial = 3_248n;
/** Largest |x| of e^x: the result keeps its digits and stays in the range of the decimals. */
const largestExponent = 20_000;

export function factorial(value: Rational): Rational {
  if (!value.isInteger || value.sign < 0) throw invalid('A factorial needs a whole number that is not negative.');
  if (value.numerator > largestFactorial)
    throw tooLarge(`${value.numerator}! has more than 10,000 digits: at most ${largestFactorial}! is computed.`);
  let product = 1n;
  for (let factor = 2n; factor <= value.numerator; factor += 1n) product *= factor;
  return Rational.of(product);
}

export function exponential(value: about.Approximate): about.Approximate {
  if (value.value.abs().gt(largestExponent)) throw tooLarge(`exp takes values from -${largestExponent} to ${largestExponent}.`);
  const result = value.value.exp();
  return about.through(value, result, result);
}

export function logarithm(value: about.Approximate): about.Approximate {
  if (value.value.lte(0) || about.mayBeZero(value)) throw invalid('A logarithm needs a number above zero.');
  return about.through(value, value.value.ln(), new about.Decimal(1).div(value.value));
}

export function power(base: Real, exponent: Real): Real {
  if (exponent instanceof Rational) {
    if (exponent.sign === 0 && base instanceof Rational && base.sign === 0) throw invalid('0^0 has no agreed value.');
    if (exponent.isInteger && base instanceof Rational) return base.power(exponent.numerator);
    if (base instanceof Rational) {
      if (base.sign < 0 && exponent.denominator % 2n === 0n)
        throw invalid('An even root of a negative number is not real: use the symbolic mathematics for complex numbers.');
      // The degree is bounded before a root is tried: 2^(1/10^9) has no exact root.
      const root = exponent.denominator <= 10_000n ? exactRoot(base, exponent.denominator) : null;
      if (root) return root.power(exponent.numerator);
      if (base.sign === 0) return exponent.sign > 0 ? Rational.zero : base.power(-1n);
      if (base.sign < 0) {
        const positive = approximated(power(base.negate(), exponent));
        return exponent.numerator % 2n === 0n ? positive : about.negate(positive);
      }
    } else if (exponent.isInteger && exponent.abs().compare(Rational.of(10_000)) <= 0) {
      return wholePower(base, exponent.numerator);
    }
  }
  const inexact = approximated(base);
  if (inexact.value.lte(0)) throw invalid('A negative number has no real power with this exponent.');
  return exponential(about.multiply(approximated(exponent), logarithm(inexact)));
}

function wholePower(base: about.Approximate, exponent: bigint): Real {
  if (exponent === 0n) return Rational.one;
  if (exponent < 0n) return divide(Rational.one, wholePower(base, -exponent));
  const half = wholePower(base, exponent / 2n);
  const squared = half instanceof Rational ? half : about.multiply(half, half);
  return exponent % 2n === 0n ? squared : multiply(squared, base);
}

export function multiply(a: Real, b: Real): Real {
  if (a instanceof Rational && b instanceof Rational) return a.multiply(b);
  if ((a instanceof Rational && a.sign === 0) || (b instanceof Rational && b.sign === 0)) return Rational.zero;
  return about.multiply(approximated(a), approximated(b));
}

export function divide(a: Real, b: Real): Real {
  if (b instanceof Rational) return a instanceof Rational ? a.divide(b) : multiply(a, Rational.one.divide(b));
  if (about.mayBeZero(b)) throw invalid('Division by zero (to 50 digits).');
  const inverse = new about.Decimal(1).div(b.value);
  return multiply(a, about.through(b, inverse, inverse.times(inverse)));
}

export function add(a: Real, b: Real): Real {
  return a instanceof Rational && b instanceof Rational ? a.add(b) : about.add(approximated(a), approximated(b));
}
export const negate = (a: Real): Real => (a instanceof Rational ? a.negate() : about.negate(a));

/** a - b * floor(a / b): the sign is that of the divisor. */
export function modulo(a: Real, b: Real): Real {
  if (!(a instanceof Rational && b instanceof Rational)) throw invalid('A remainder needs exact numbers on both sides.');
  if (b.sign === 0) throw invalid('Division by zero.');
  return a.subtract(b.multiply(Rational.of(a.divide(b).floor())));
}

/** An angle in degrees, in radians. */
export const fromDegrees = (value: Real): Real => divide(multiply(value, about.approximate(about.pi)), Rational.of(180));

/** An argument that must be a whole number from `least` to `most`. Throws INVALID_ARGUMENT, LIMIT_EXCEEDED. */
export function wholeNumber(value: Real, name: string, least: bigint, most: bigint): bigint {
  if (!(value instanceof Rational) || !value.isInteger) throw invalid(`${name} must be a whole number.`);
  if (value.numerator < least || value.numerator > most)
    throw tooLarge(`${name} must lie between ${least} and ${most}, not ${quoted(value.numerator.toString())}.`);
  return value.numerator;
}
