import { realAlgebra } from '../arithmetic/real-algebra.js';
import type { Algebra } from '../arithmetic/parse.js';
import { Rational } from '../numbers/rational.js';
import { invalid } from '../refusal.js';
import * as polynomials from './polynomial.js';

/** A quotient of polynomials in one variable. It is not reduced, because the equation is undefined where the denominator is zero. */
export interface PolynomialFraction {
  above: polynomials.Polynomial;
  below: polynomials.Polynomial;
}

const outOfReach =
  'solve_equation solves polynomials and fractions of them in one variable. For roots, exponentials, logarithms and trigonometry use the symbolic mathematics.';

const constantOf = ({ above, below }: PolynomialFraction): Rational | null =>
  polynomials.degreeOf(below) === 0 && polynomials.degreeOf(above) <= 0 ? (above[0] ?? Rational.zero).divide(below[0]!) : null;

const whole = (above: polynomials.Polynomial): PolynomialFraction => ({ above, below: polynomials.one });
const ofNumber = (value: Rational): PolynomialFraction => whole(polynomials.constant(value));

/** Calculates with constants as `calculate` does, as long as the result stays exact. */
function onConstants(values: readonly PolynomialFraction[], reckon: (numbers: readonly Rational[]) => unknown): PolynomialFraction {
  const numbers = values.map(constantOf);
  if (numbers.some((number) => number === null)) throw invalid(outOfReach);
  const result = reckon(numbers as Rational[]);
  if (!(result instanceof Rational)) throw invalid(`${outOfReach} Irrational coefficients are not exact: write them as decimals.`);
  return ofNumber(result);
}

/** Arithmetic with one unknown, for `Expression`. */
export function fractionAlgebra(variable: string): Algebra<PolynomialFraction> {
  const add = (a: PolynomialFraction, b: PolynomialFraction): PolynomialFraction => ({
    above: polynomials.plus(polynomials.times(a.above, b.below), polynomials.times(b.above, a.below)),
    below: polynomials.times(a.below, b.below),
  });
  const negate = (a: PolynomialFraction): PolynomialFraction => ({ ...a, above: polynomials.scaled(a.above, Rational.of(-1)) });
  const multiply = (a: PolynomialFraction, b: PolynomialFraction): PolynomialFraction => ({
    above: polynomials.times(a.above, b.above),
    below: polynomials.times(a.below, b.below),
  });
  const divide = (a: PolynomialFraction, b: PolynomialFraction): PolynomialFraction => {
    if (b.above.length === 0) throw invalid('Division by zero.');
    // A constant divisor does not count as a denominator.
    const divisor = constantOf(b);
    if (divisor) return { ...a, above: polynomials.scaled(a.above, Rational.one.divide(divisor)) };
    return { above: polynomials.times(a.above, b.below), below: polynomials.times(polynomials.times(a.below, b.above), b.below) };
  };
  return {
    number: ofNumber,
    name(name) {
      if (name === variable) return whole([Rational.zero, Rational.one]);
      if (realAlgebra.name(name) !== null) throw invalid(`${name} is irrational: write it as a decimal to the digits you need.`);
      throw invalid(`${name} is not the variable (${variable}): give the other letters their values, or name the variable.`);
    },
    isFunction: (name) => name !== variable && realAlgebra.isFunction(name),
    call: (name, args) => onConstants(args, (numbers) => realAlgebra.call(name, numbers)),
    add,
    subtract: (a, b) => add(a, negate(b)),
    multiply,
    divide,
    modulo: (a, b) => onConstants([a, b], ([x, y]) => realAlgebra.modulo(x!, y!)),
    power(base, exponent) {
      const number = constantOf(exponent);
      if (number === null) throw invalid(outOfReach);
      if (constantOf(base) !== null) return onConstants([base], ([x]) => realAlgebra.power(x!, number));
      if (!number.isInteger || number.abs().compare(Rational.of(polynomials.largestDegree)) > 0) throw invalid(outOfReach);
      const one = ofNumber(Rational.one);
      const factors = Array.from({ length: Number(number.abs().numerator) }, () => base);
      const product = factors.reduce((result, factor) => multiply(result, factor), one);
      return number.sign < 0 ? divide(one, product) : product;
    },
    negate,
    factorial: (value) => onConstants([value], ([x]) => realAlgebra.factorial(x!)),
    degrees: () => {
      throw invalid(outOfReach);
    },
  };
}
