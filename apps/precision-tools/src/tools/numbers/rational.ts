import { invalid, tooLarge } from '../refusal.js';

/** Longest numerator or denominator, in bits: a little over 10,000 decimal digits. */
export const longestBits = 33_300;
export const longestDigits = 10_000;

/** Number of bits of |value|, rounded up to a multiple of four. */
const bitsOf = (value: bigint): number => (value < 0n ? -value : value).toString(16).length * 4;

export const gcdOf = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
};

const powerLimit = (digits: number): Error =>
  tooLarge(
    `The result would have about ${Math.round(digits).toLocaleString('en')} digits; the limit is ${longestDigits.toLocaleString('en')}. Ask for its logarithm (log10) instead.`,
  );

/** An exact fraction in lowest terms with a positive denominator. Every result stays below `longestBits`. */
export class Rational {
  static readonly zero = new Rational(0n, 1n);
  static readonly one = new Rational(1n, 1n);

  private constructor(
    readonly numerator: bigint,
    readonly denominator: bigint,
  ) {}

  /** Throws INVALID_ARGUMENT for a denominator of zero and LIMIT_EXCEEDED for a fraction of more than `longestDigits`. */
  static of(numerator: bigint | number, denominator: bigint | number = 1n): Rational {
    let [n, d] = [BigInt(numerator), BigInt(denominator)];
    if (d === 0n) throw invalid('Division by zero.');
    if (d < 0n) [n, d] = [-n, -d];
    const common = d === 1n ? 1n : gcdOf(n, d);
    if (common > 1n) [n, d] = [n / common, d / common];
    if (bitsOf(n) > longestBits || bitsOf(d) > longestBits) throw powerLimit(Math.max(bitsOf(n), bitsOf(d)) * Math.log10(2));
    return new Rational(n, d);
  }

  get isInteger(): boolean {
    return this.denominator === 1n;
  }
  get sign(): -1 | 0 | 1 {
    return this.numerator === 0n ? 0 : this.numerator < 0n ? -1 : 1;
  }

  add(other: Rational): Rational {
    return Rational.of(this.numerator * other.denominator + other.numerator * this.denominator, this.denominator * other.denominator);
  }
  subtract(other: Rational): Rational {
    return this.add(other.negate());
  }
  multiply(other: Rational): Rational {
    return Rational.of(this.numerator * other.numerator, this.denominator * other.denominator);
  }
  divide(other: Rational): Rational {
    return Rational.of(this.numerator * other.denominator, this.denominator * other.numerator);
  }
  negate(): Rational {
    return new Rational(-this.numerator, this.denominator);
  }
  abs(): Rational {
    return this.numerator < 0n ? this.negate() : this;
  }
  compare(other: Rational): -1 | 0 | 1 {
    const difference = this.numerator * other.denominator - other.numerator * this.denominator;
    return difference === 0n ? 0 : difference < 0n ? -1 : 1;
  }
  equals(other: Rational): boolean {
    return this.numerator === other.numerator && this.denominator === other.denominator;
  }

  /** Largest integer that is not above it. */
  floor(): bigint {
    const quotient = this.numerator / this.denominator;
    return this.numerator < 0n && quotient * this.denominator !== this.numerator ? quotient - 1n : quotient;
  }
  ceil(): bigint {
    return -this.negate().floor();
  }

  /** Raises to a whole power. The size is calculated before anything is multiplied. */
  power(exponent: bigint): Rational {
    if (exponent === 0n) return Rational.one;
    const magnitude = exponent < 0n ? -exponent : exponent;
    const [n, d] = exponent < 0n ? [this.denominator, this.numerator] : [this.numerator, this.denominator];
    if (d === 0n) throw invalid('Zero has no negative power: that would be a division by zero.');
    const largest = [n, d].map((part) => (part < 0n ? -part : part)).reduce((a, b) => (a > b ? a : b));
    if (largest > 1n) {
      // log10 from the leading digits, so that the refusal can state the size of a result that is never computed.
      const text = largest.toString();
      const logarithm = Math.log10(Number(text.slice(0, 15))) + Math.max(0, text.length - 15);
      const digits = logarithm * Number(magnitude);
      if (digits > longestDigits) throw powerLimit(digits);
      return Rational.of(n ** magnitude, d ** magnitude);
    }
    return magnitude % 2n === 0n ? Rational.of(n * n, d * d) : Rational.of(n, d);
  }
}

/** floor(value^(1/degree)) of a value >= 0, by Newton's method on integers. */
export function integerRoot(value: bigint, degree: bigint): bigint {
  if (value < 2n) return value;
  if (degree >= BigInt(bitsOf(value))) return 1n;
  let guess = 1n << (BigInt(bitsOf(value)) / degree + 1n);
  for (;;) {
    const next = ((degree - 1n) * guess + value / guess ** (degree - 1n)) / degree;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** The root if it is a fraction itself, otherwise null. Negative values have a root only for an odd degree. */
export function exactRoot(value: Rational, degree: bigint): Rational | null {
  if (value.sign < 0 && degree % 2n === 0n) return null;
  const { numerator, denominator } = value.abs();
  const [n, d] = [integerRoot(numerator, degree), integerRoot(denominator, degree)];
  if (n ** degree !== numerator || d ** degree !== denominator) return null;
  return Rational.of(value.sign < 0 ? -n : n, d);
}
