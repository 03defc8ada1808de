import * as about from '../numbers/approximate.js';
import { exactRoot, gcdOf, Rational } from '../numbers/rational.js';
import { roundTo } from '../numbers/rounding.js';
import { invalid, tooLarge } from '../refusal.js';
import {
  add,
  approximated,
  divide,
  exponential,
  factorial,
  fromDegrees,
  logarithm,
  modulo,
  multiply,
  negate,
  power,
  wholeNumber,
  type Real,
} from './real.js';

interface RealFunction {
  /** Minimum and maximum number of arguments. */
  takes: readonly [number, number];
  run(...args: Real[]): Real;
}

const { Decimal } = about;
const one = new Decimal(1);

const exact = (value: Real, name: string): Rational => {
  if (!(value instanceof Rational)) throw invalid(`${name} needs an exact number, not the rounded value of an irrational one.`);
  return value;
};

const compare = (a: Real, b: Real): number => {
  if (a instanceof Rational && b instanceof Rational) return a.compare(b);
  const difference = about.add(approximated(a), about.negate(approximated(b)));
  return about.mayBeZero(difference) ? 0 : difference.value.isNegative() ? -1 : 1;
};

function root(value: Real, degree: bigint): Real {
  if (value instanceof Rational) {
    const found = exactRoot(value, degree);
    if (found) return found;
  }
  return power(value, Rational.of(1n, degree));
}

const least = (fits: (order: number) => boolean) => ({
  takes: [1, Infinity] as const,
  run: (...args: Real[]): Real => args.reduce((best, value) => (fits(compare(value, best)) ? value : best)),
});

/** Trigonometry loses a digit for every power of ten of its argument. */
const largestAngle = 1e10;
const angle = (run: (x: about.Approximate) => about.Approximate): RealFunction => ({
  takes: [1, 1],
  run(value) {
    if (value instanceof Rational && value.sign === 0) return roundedToExact(run(approximated(value)));
    const x = approximated(value!);
    if (x.value.abs().gt(largestAngle)) throw tooLarge(`Angles may have up to ${largestAngle} radians.`);
    return run({ value: x.value, error: x.error.plus(x.value.abs().times('1e-57')) });
  },
});
/** The trigonometric functions of exactly 0 have whole results. */
const roundedToExact = (x: about.Approximate): Real => Rational.of(BigInt(x.value.toFixed(0)));

const within = (low: number, high: number, name: string, run: (x: about.Approximate) => about.Approximate): RealFunction => ({
  takes: [1, 1],
  run(value) {
    const x = approximated(value!);
    if (x.value.lt(low) || x.value.gt(high)) throw invalid(`${name} takes values from ${low} to ${high}.`);
    return run(x);
  },
});

/** Slope of asin and acos; at the ends, where it is unbounded, the error is that of a square root. */
const arcSlope = (x: about.Approximate): about.Decimal => {
  const room = one.minus(x.value.times(x.value)).abs();
  return one.div(Decimal.sqrt(Decimal.max(room, '1e-60')));
};

const integral = (round: (value: Rational) => bigint): RealFunction => ({
  takes: [1, 1],
  run(value) {
    if (value instanceof Rational) return Rational.of(round(value));
    const { value: about60, error } = value!;
    if (about60.abs().gt('1e40')) throw tooLarge('This number cannot be calculated to the unit: it is too large and irrational.');
    const [low, high] = [about60.minus(error), about60.plus(error)].map((edge) => round(rationalOf(edge)));
    if (low !== high) throw invalid('This number is too close to a whole one to be rounded safely.');
    return Rational.of(low!);
  },
});
const rationalOf = (value: about.Decimal): Rational => {
  const scale = 10n ** 60n;
  return Rational.of(BigInt(value.times('1e60').toFixed(0)), scale);
};

const choose = (n: bigint, k: bigint): Rational => {
  if (k > n) return Rational.zero;
  const few = k < n - k ? k : n - k;
  let result = 1n;
  for (let i = 1n; i <= few; i += 1n) result = (result * (n - few + i)) / i;
  return Rational.of(result);
};

const table: Record<string, RealFunction> = {
  sqrt: { takes: [1, 1], run: (x) => root(x!, 2n) },
  cbrt: { takes: [1, 1], run: (x) => root(x!, 3n) },
  root: { takes: [2, 2], run: (x, n) => root(x!, wholeNumber(n!, 'The degree of a root', 1n, 1_000n)) },
  abs: { takes: [1, 1], run: (x) => (compare(x!, Rational.zero) < 0 ? negate(x!) : x!) },
  sign: { takes: [1, 1], run: (x) => Rational.of(compare(x!, Rational.zero)) },
  floor: integral((x) => x.floor()),
  ceil: integral((x) => x.ceil()),
  trunc: integral((x) => (x.sign < 0 ? x.ceil() : x.floor())),
  round: {
    takes: [1, 2],
    run(x, places = Rational.zero) {
      const count = Number(wholeNumber(places, 'The number of places', -100n, 100n));
      return roundTo(x instanceof Rational ? x : rationalOf(approximated(x!).value), count, 'half_up');
    },
  },
  min: least((order) => order < 0),
  max: least((order) => order > 0),
  sum: { takes: [1, Infinity], run: (...args) => args.reduce((a, b) => add(a, b)) },
  mean: {
    takes: [1, Infinity],
    run: (...args) =>
      divide(
        args.reduce((a, b) => add(a, b)),
        Rational.of(args.length),
      ),
  },
  gcd: { takes: [1, Infinity], run: (...args) => Rational.of(args.map((x) => wholeOf(x, 'gcd')).reduce(gcdOf, 0n)) },
  lcm: {
    takes: [1, Infinity],
    run: (...args) =>
      args
        .map((x) => Rational.of(wholeOf(x, 'lcm')).abs())
        .reduce((a, b) =>
          a.sign === 0 || b.sign === 0 ? Rational.zero : a.multiply(b).divide(Rational.of(gcdOf(a.numerator, b.numerator))),
        ),
  },
  mod: { takes: [2, 2], run: (a, b) => modulo(a!, b!) },
  factorial: { takes: [1, 1], run: (n) => factorial(exact(n!, 'factorial')) },
  ncr: { takes: [2, 2], run: (n, k) => choose(wholeNumber(n!, 'n', 0n, 30_000n), wholeNumber(k!, 'k', 0n, 30_000n)) },
  npr: {
    takes: [2, 2],
    run(n, k) {
      const [all, taken] = [wholeNumber(n!, 'n', 0n, 1_000_000n), wholeNumber(k!, 'k', 0n, 2_000n)];
      let result = Rational.one;
      for (let i = 0n; i < taken; i += 1n) result = result.multiply(Rational.of(all - i));
      return result;
    },
  },
  exp: { takes: [1, 1], run: (x) => (x instanceof Rational && x.sign === 0 ? Rational.one : exponential(approximated(x!))) },
  ln: { takes: [1, 1], run: (x) => naturalLogarithm(x!) },
  log: {
    takes: [1, 2],
    run(x, base) {
      if (!base) throw invalid('log(x) has two readings: write ln(x), log10(x), log2(x) or log(x, base).');
      return logarithmTo(x!, base);
    },
  },
  log10: { takes: [1, 1], run: (x) => logarithmTo(x!, Rational.of(10)) },
  log2: { takes: [1, 1], run: (x) => logarithmTo(x!, Rational.of(2)) },
  sin: angle((x) => about.through(x, x.value.sin(), one)),
  cos: angle((x) => about.through(x, x.value.cos(), one)),
  tan: angle((x) => {
    if (about.mayBeZero({ value: x.value.cos(), error: x.error.plus('1e-55') })) throw invalid('tan has no value there.');
    const value = x.value.tan();
    return about.through(x, value, one.plus(value.times(value)));
  }),
  asin: within(-1, 1, 'asin', (x) => about.through(x, x.value.asin(), arcSlope(x))),
  acos: within(-1, 1, 'acos', (x) => about.through(x, x.value.acos(), arcSlope(x))),
  atan: { takes: [1, 1], run: (x) => about.through(approximated(x!), approximated(x!).value.atan(), one) },
  sinh: within(-1000, 1000, 'sinh', (x) => about.through(x, x.value.sinh(), x.value.cosh())),
  cosh: within(-1000, 1000, 'cosh', (x) => about.through(x, x.value.cosh(), x.value.sinh())),
  tanh: within(-1000, 1000, 'tanh', (x) => about.through(x, x.value.tanh(), one)),
  rad: { takes: [1, 1], run: (x) => fromDegrees(x!) },
  deg: { takes: [1, 1], run: (x) => divide(multiply(x!, Rational.of(180)), about.approximate(about.pi)) },
};

const wholeOf = (value: Real, name: string): bigint => {
  const whole = exact(value, name);
  if (!whole.isInteger) throw invalid(`${name} needs whole numbers.`);
  return whole.numerator;
};

function naturalLogarithm(x: Real): Real {
  return x instanceof Rational && x.equals(Rational.one) ? Rational.zero : logarithm(approximated(x));
}

/** Exact if the number is a whole power of the base. */
function logarithmTo(x: Real, base: Real): Real {
  if (x instanceof Rational && base instanceof Rational) {
    if (base.sign <= 0 || base.equals(Rational.one)) throw invalid('The base of a logarithm must be positive and not 1.');
    if (x.sign > 0) {
      const guess = logarithm(about.fromRational(x))
        .value.div(logarithm(about.fromRational(base)).value)
        .round();
      if (guess.abs().lt(40_000) && base.power(BigInt(guess.toFixed(0))).equals(x)) return Rational.of(BigInt(guess.toFixed(0)));
    }
  }
  return divide(naturalLogarithm(x), naturalLogarithm(base));
}

const spellings: Record<string, string> = {
  avg: 'mean',
  average: 'mean',
  comb: 'ncr',
  binomial: 'ncr',
  perm: 'npr',
  ceiling: 'ceil',
  floor: 'floor',
  radians: 'rad',
  degrees: 'deg',
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
  lg: 'log10',
  ld: 'log2',
  lb: 'log2',
};

/** The functions by name in lower case. A map, so that no name reaches a prototype. */
export const realFunctions: ReadonlyMap<string, RealFunction> = new Map([
  ...Object.entries(table),
  ...Object.entries(spellings).map(([other, usual]) => [other, table[usual]!] as const),
]);
