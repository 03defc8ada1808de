// Whether the solutions that were found are all there are. Known for polynomials, for quotients of them, and for linear systems.
import { size, subtract } from './complex.mjs';
import { added, common, constant, degreeOf, fraction, multiplied, negated, parted, rankOf, rootsOf, without } from './fractions.mjs';
import { partsOf, symbolsOf } from './trees.mjs';
import { valueAt } from './value.mjs';

/** Highest degree that is examined. */
const highestDegree = 40;

/** `3.25` is 13/4. */
function numberOf(digits) {
  const [whole, part = ''] = digits.split('.');
  return fraction(BigInt(whole + part), 10n ** BigInt(part.length));
}

/** Replaces trees that are not fractions by numbers, equal ones by the same number. Any number is safe: it can only add roots. */
class Stand {
  #known = new Map();

  for(tree) {
    const key = JSON.stringify(tree);
    if (!this.#known.has(key))
      this.#known.set(key, fraction(1_000_003n + 7_919n * BigInt(this.#known.size) ** 2n, 999_983n - BigInt(this.#known.size)));
    return this.#known.get(key);
  }
}

const whole = (polynomial) => ({ over: polynomial, under: constant(fraction(1n)) });

/** A tree as a quotient of two polynomials in `name`; null if it is not one, or if its degree is too high. */
function quotientOf(tree, name, stand) {
  const of = (part) => quotientOf(part, name, stand);
  const free = () => (symbolsOf(tree).includes(name) ? null : whole(constant(stand.for(tree))));
  const joined = (trees, join) => trees.map(of).reduce((a, b) => bounded(a && b && join(a, b)));
  switch (tree.kind) {
    case 'number':
      return whole(constant(numberOf(tree.value)));
    case 'symbol':
      return tree.name === name ? whole([fraction(0n), fraction(1n)]) : free();
    case 'sum':
      return joined(tree.terms, (a, b) => ({
        over: added(multiplied(a.over, b.under), multiplied(b.over, a.under)),
        under: multiplied(a.under, b.under),
      }));
    case 'product':
      return joined(tree.factors, product);
    case 'negative': {
      const inner = of(tree.of);
      return inner && { ...inner, over: negated(inner.over) };
    }
    case 'quotient':
      return joined([tree.over, tree.under], (a, b) => product(a, inverse(b)));
    case 'power': {
      const exponent = wholeNumberOf(tree.exponent);
      if (exponent === null) return free();
      const base = of(tree.base);
      if (!base || Math.abs(exponent) > highestDegree) return null;
      const factors = Array.from({ length: Math.abs(exponent) }, () => (exponent < 0 ? inverse(base) : base));
      return factors.reduce((a, b) => bounded(a && b && product(a, b)), whole(constant(fraction(1n))));
    }
    default:
      return free();
  }
}

const product = (a, b) => ({ over: multiplied(a.over, b.over), under: multiplied(a.under, b.under) });
const inverse = ({ over, under }) => ({ over: under, under: over });
/** Null for a division by 0, and for a result that is too large. */
const bounded = (quotient) =>
  quotient && quotient.under.length > 0 && Math.max(degreeOf(quotient.over), degreeOf(quotient.under)) <= highestDegree ? quotient : null;

function wholeNumberOf(tree) {
  if (tree.kind === 'negative') {
    const inner = wholeNumberOf(tree.of);
    return inner === null ? null : -inner;
  }
  return tree.kind === 'number' && /^\d{1,3}$/.test(tree.value) ? Number(tree.value) : null;
}

const difference = ({ left, right }) => ({ kind: 'sum', terms: [left, { kind: 'negative', of: right }] });

/** Whether `solutions`, which are all right, are all the complex solutions of the relations. */
export function areAll({ relations, variables }, solutions) {
  if (relations.length === 1 && variables.length === 1) return areAllRoots(relations[0], variables[0], solutions);
  return solutions.length === 1 && hasOneSolution(relations, variables);
}

function areAllRoots(relation, name, solutions) {
  const quotient = quotientOf(difference(relation), name, new Stand());
  if (!quotient || quotient.over.length === 0) return false;
  // A root of numerator and denominator is not a solution, because it divides by 0.
  const roots = rootsOf(quotient.over) - countOf(common(quotient.over, quotient.under));
  return differentOf(solutions.map((one) => one[name])) >= roots;
}

/**
 * The rest of a polynomial equation after division by its rational solutions, as a tree that must be 0. Null if no rest is left, if no
 * rational solution is known, or if the coefficients are not fractions.
 */
export function whatIsLeft(relation, name, solutions) {
  const tree = difference(relation);
  if (hasNoFraction(tree) || symbolsOf(tree).some((other) => other !== name)) return null;
  const quotient = quotientOf(tree, name, new Stand());
  if (!quotient || degreeOf(quotient.over) < 1) return null;
  const known = solutions.map((one) => rationalOf(one[name])).filter((value) => value !== null);
  const left = known.reduce(without, parted(quotient.over, common(quotient.over, quotient.under)).quotient);
  return degreeOf(left) < 1 || degreeOf(left) === degreeOf(quotient.over) ? null : treeOf(left, name);
}

/** A number, or a quotient of two, as a fraction; null for anything else. */
function rationalOf(tree) {
  const quotient = symbolsOf(tree).length > 0 || hasNoFraction(tree) ? null : quotientOf(tree, '', new Stand());
  return quotient && (quotient.over.length === 0 ? fraction(0n) : slope(quotient.over[0], quotient.under[0]));
}

const written = (value) => ({ kind: 'number', value: String(value) });
const treeOf = (polynomial, name) => ({
  kind: 'sum',
  terms: polynomial.map(({ over, under }, n) => {
    const size = { kind: 'quotient', over: written(over < 0n ? -over : over), under: written(under) };
    const term = {
      kind: 'product',
      factors: [over < 0n ? { kind: 'negative', of: size } : size, { kind: 'power', base: { kind: 'symbol', name }, exponent: written(n) }],
    };
    return term;
  }),
});

const countOf = (polynomial) => (degreeOf(polynomial) < 1 ? 0 : rootsOf(polynomial));

/** Number of different values, by floating point; names in them get arbitrary values. */
function differentOf(trees) {
  const at = Object.fromEntries(symbolsOf(...trees).map((name, n) => [name, { re: 1.327 + 0.618 * n, im: 0 }]));
  const values = trees.map((tree) => valueAt(tree, at));
  const isSame = (a, b) => size(subtract(a, b)) <= 1e-9 * Math.max(1, size(a), size(b));
  return values.filter((value, n) => Number.isFinite(size(value)) && !values.slice(0, n).some((other) => isSame(value, other))).length;
}

/** Whether all relations are linear in the names, and as many of them are independent as there are names. */
function hasOneSolution(relations, names) {
  const stand = new Stand();
  const rows = relations.map((relation) => slopesOf(difference(relation), names, stand));
  return !rows.includes(null) && rankOf(rows) === names.length;
}

/** The coefficients of each name in a linear expression, as fractions; null if it is not linear or has a number that is not a fraction. */
function slopesOf(tree, names, stand) {
  if (hasNoFraction(tree) || !isLinear(tree, names)) return null;
  const quotients = names.map((name) => quotientOf(tree, name, stand));
  return quotients.includes(null) ? null : quotients.map(({ over, under }) => slope(over[1], under[0]));
}

const slope = (over, under) => (over ? fraction(over.over * under.under, over.under * under.over) : fraction(0n));

const hasNoFraction = (tree) => tree.kind === 'constant' || tree.kind === 'call' || partsOf(tree).some(hasNoFraction);

/** Whether at most one factor of each product contains one of the names, and no denominator or power does. */
function isLinear(tree, names) {
  const holds = (part) => symbolsOf(part).some((name) => names.includes(name));
  switch (tree.kind) {
    case 'product':
      return tree.factors.filter(holds).length <= 1 && tree.factors.every((part) => isLinear(part, names));
    case 'quotient':
      return !holds(tree.under) && isLinear(tree.over, names);
    case 'power':
      return !holds(tree);
    default:
      return partsOf(tree).every((part) => isLinear(part, names));
  }
}
