import * as c from './complex.mjs';
import { real } from './complex.mjs';

/** No number: a name without a value, or a function that is not calculated here. */
const nothing = { re: NaN, im: NaN };

/** Value of an expression by floating point, for checks: it shares nothing with the engine whose results it checks. NaN if it has none. */
export function valueAt(tree, at = nowhere) {
  if (at !== nowhere) return calculated(tree, at);
  if (!values.has(tree)) values.set(tree, calculated(tree, at));
  return values.get(tree);
}

const nowhere = {};
/** Values of trees without names, so that a caller that needs those of a tree and of each of its parts calculates each once. */
const values = new WeakMap();

function calculated(tree, at) {
  const of = (part) => valueAt(part, at);
  switch (tree.kind) {
    case 'number':
      return real(Number(tree.value));
    case 'symbol':
      return Object.hasOwn(at, tree.name) ? at[tree.name] : nothing;
    case 'constant':
      return { pi: real(Math.PI), e: real(Math.E), i: c.i, infinity: real(Infinity) }[tree.name];
    case 'sum':
      return tree.terms.map(of).reduce(c.add);
    case 'product':
      return tree.factors.map(of).reduce(c.times);
    case 'quotient':
      return c.over(of(tree.over), of(tree.under));
    case 'negative':
      return c.scale(of(tree.of), -1);
    case 'power':
      return c.power(of(tree.base), of(tree.exponent));
    case 'call':
      return calls[tree.name](...tree.args.map(of));
  }
}
/** A function of real numbers; NaN for complex ones. */
const ofReals =
  (calculate) =>
  (...args) =>
    args.every(({ im }) => im === 0) ? real(calculate(...args.map(({ re }) => re))) : nothing;

const divisor = (a, b) => (b === 0 ? Math.abs(a) : divisor(b, a % b));

const calls = {
  sqrt: c.sqrt,
  cbrt: (x) => root(x, real(3)),
  root: (x, n) => root(x, n),
  exp: c.exp,
  ln: c.ln,
  log: (x, base) => (base ? c.over(c.ln(x), c.ln(base)) : c.ln(x)),
  abs: (x) => real(c.size(x)),
  sign: ofReals(Math.sign),
  sin: c.sin,
  cos: c.cos,
  tan: c.tan,
  cot: (x) => c.over(real(1), c.tan(x)),
  sec: (x) => c.over(real(1), c.cos(x)),
  csc: (x) => c.over(real(1), c.sin(x)),
  asin: c.asin,
  acos: c.acos,
  atan: c.atan,
  atan2: ofReals(Math.atan2),
  sinh: c.sinh,
  cosh: c.cosh,
  tanh: c.tanh,
  asinh: c.asinh,
  acosh: c.acosh,
  atanh: c.atanh,
  factorial: ofReals((n) => gamma(n + 1)),
  binomial: ofReals((n, k) => gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))),
  gamma: ofReals(gamma),
  erf: ofReals(erf),
  floor: ofReals(Math.floor),
  ceiling: ofReals(Math.ceil),
  mod: ofReals((a, b) => a - b * Math.floor(a / b)),
  gcd: ofReals((...all) => (all.every(Number.isSafeInteger) ? all.reduce(divisor) : NaN)),
  lcm: ofReals((...all) => (all.every(Number.isSafeInteger) ? all.reduce((a, b) => Math.abs(a * b) / divisor(a, b)) : NaN)),
  max: ofReals(Math.max),
  min: ofReals(Math.min),
  re: (x) => real(x.re),
  im: (x) => real(x.im),
  conjugate: (x) => ({ re: x.re, im: -x.im }),
};

/** The real root of a negative number for an odd degree, as people write it. */
function root(x, n) {
  const odd = n.im === 0 && Number.isInteger(n.re) && n.re % 2 !== 0;
  return odd && x.im === 0 && x.re < 0 ? real(-((-x.re) ** (1 / n.re))) : c.power(x, c.over(real(1), n));
}

/** Lanczos' approximation with g = 7 and nine coefficients (Numerical Recipes, 3rd edition, 6.1). */
function gamma(x) {
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  if (Number.isInteger(x) && x <= 171) {
    let product = 1;
    for (let n = 2; n < x; n += 1) product *= n;
    return product;
  }
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012,
    9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const series = coefficients.reduce((sum, coefficient, n) => sum + coefficient / (x + n), 0.9999999999998099);
  const shifted = x + 6.5;
  return Math.sqrt(2 * Math.PI) * shifted ** (x - 0.5) * Math.exp(-shifted) * series;
}

/** Maclaurin's series; beyond 5 it is 1 to the last digit that is compared. */
function erf(x) {
  if (Math.abs(x) > 5) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; n < 200; n += 1) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
