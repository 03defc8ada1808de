import * as z from 'zod';
import { Expression } from '../arithmetic/parse.js';
import { roundedDecimal, shownDigits } from '../numbers/decimal-text.js';
import { Rational } from '../numbers/rational.js';
import { invalid } from '../refusal.js';
import { defineTool } from '../tool.js';
import { fractionAlgebra } from './fraction-algebra.js';
import { degreeOf, divided, minus, times, type Polynomial } from './polynomial.js';
import { quadraticRoots, rationalRoot, type Root } from './quadratic.js';
import { isolateRealRoots, narrow, rationalRootIn, squareFree, withoutShared } from './roots.js';

const half = Rational.of(1, 2);
const finest = Rational.one.divide(Rational.of(10n ** BigInt(shownDigits + 8)));

/** Width at which thirty digits of the root are certain. */
const narrowEnough = (high: Rational): Rational => (high.sign === 0 ? finest : high.abs().multiply(finest));

/** The roots of a factor without repeated roots: fractions and quadratics exactly, other real ones to thirty digits. */
function rootsOf(factor: Polynomial, multiplicity: number): { roots: Root[]; complexLeft: number } {
  const roots: Root[] = [];
  let rest = factor;
  for (const interval of isolateRealRoots(factor)) {
    const found = rationalRootIn(factor, interval);
    if (!found) continue;
    roots.push(rationalRoot(found, multiplicity));
    rest = divided(rest, [found.negate(), Rational.one]).quotient;
  }
  if (degreeOf(rest) <= 0) return { roots, complexLeft: 0 };
  if (degreeOf(rest) === 2) return { roots: [...roots, ...quadraticRoots(rest, multiplicity)], complexLeft: 0 };
  const intervals = isolateRealRoots(rest);
  for (const interval of intervals) {
    const [low, high] = narrow(rest, interval, narrowEnough);
    const decimal = roundedDecimal(low.add(high).multiply(half));
    roots.push({ value: decimal, decimal, exact: false, real: true, multiplicity });
  }
  return { roots, complexLeft: (degreeOf(rest) - intervals.length) * multiplicity };
}

const nameOf = (variable: string): string => {
  if (!/^[A-Za-z][A-Za-z0-9]{0,30}$/.test(variable)) throw invalid('The variable must be a name such as x or price1.');
  return variable;
};

export const solveEquation = defineTool({
  name: 'solve_equation',
  title: 'Equation solver',
  description:
    'Solves one equation in one variable exactly: linear, quadratic (with complex roots), higher polynomials and fractions of polynomials. Use it instead of solving by hand.',
  input: {
    equation: z.string().describe('with one "=", for example "3*x + 5 = 20", "x^2 - 5x + 6 = 0", "1/x + 1/(x+1) = 1"'),
    variable: z.string().default('x').describe('the unknown'),
  },
  output: {
    kind: z.enum(['solutions', 'no_solution', 'every_value']).describe('every_value: true for all values except `excluded`'),
    solutions: z
      .array(
        z.strictObject({
          value: z.string().describe('exact where `exact` is true, such as 5/3 or (1 + sqrt(5))/2'),
          decimal: z.string().describe('to 30 significant digits'),
          exact: z.boolean(),
          real: z.boolean(),
          multiplicity: z.int().positive().describe('how often the root counts'),
        }),
      )
      .describe('distinct roots; real ones in ascending order within their kind'),
    excluded: z.array(z.string()).describe('values at which a denominator is zero; they are not solutions'),
    unlisted_complex_roots: z.int().nonnegative().describe('complex roots of factors above degree 2: counted, not computed'),
  },
  run({ equation, variable }) {
    const [left, right] = new Expression(equation, fractionAlgebra(nameOf(variable))).evaluateSides();
    const zero = minus(times(left.above, right.below), times(right.above, left.below));
    const below = times(left.below, right.below);
    const allExcluded = degreeOf(below) > 0 ? squareFree(below).flatMap(({ factor }) => rootsOf(factor, 1).roots) : [];
    const excluded = allExcluded.filter(({ real }) => real).map(({ value }) => value);
    if (zero.length === 0) return { kind: 'every_value' as const, solutions: [], excluded, unlisted_complex_roots: 0 };

    // A common zero of numerator and denominator is not a solution: it is divided out before the roots are sought.
    let open = zero;
    for (const { factor } of degreeOf(below) > 0 ? squareFree(below) : []) open = withoutShared(open, factor);
    const found = degreeOf(open) > 0 ? squareFree(open).map(({ factor, multiplicity }) => rootsOf(factor, multiplicity)) : [];
    const solutions = found.flatMap(({ roots }) => roots);
    const unlisted = found.reduce((sum, { complexLeft }) => sum + complexLeft, 0);
    const rank = ({ real, decimal }: Root): number => (real ? Number(decimal) : Infinity);
    solutions.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
    return {
      kind: solutions.length + unlisted > 0 ? ('solutions' as const) : ('no_solution' as const),
      solutions,
      excluded,
      unlisted_complex_roots: unlisted,
    };
  },
});
