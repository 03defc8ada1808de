import * as about from '../numbers/approximate.js';
import { fractionText, roundedDecimal } from '../numbers/decimal-text.js';
import { gcdOf, integerRoot, Rational } from '../numbers/rational.js';
import { primitive, type Polynomial } from './polynomial.js';

export interface Root {
  value: string;
  decimal: string;
  exact: boolean;
  real: boolean;
  multiplicity: number;
}

/** value = outside^2 * inside, where every square of a prime below 1,000 is taken out (and the whole, if it is a square). */
function withoutSquares(value: bigint): { outside: bigint; inside: bigint } {
  const root = integerRoot(value, 2n);
  if (root * root === value) return { outside: root, inside: 1n };
  let [outside, inside] = [1n, value];
  for (let d = 2n; d < 1_000n && d * d <= inside; d += 1n) {
    while (inside % (d * d) === 0n) [outside, inside] = [outside * d, inside / (d * d)];
  }
  return { outside, inside };
}

/** The two roots of a quadratic whose roots are not both fractions, exactly, as (p ± q*sqrt(r))/s. */
export function quadraticRoots(p: Polynomial, multiplicity: number): Root[] {
  const [c, b, a] = primitive(p).map(({ numerator }) => numerator) as [bigint, bigint, bigint];
  const [sign, twice] = a < 0n ? [-1n, -2n * a] : [1n, 2n * a];
  const discriminant = b * b - 4n * a * c;
  const real = discriminant >= 0n;
  const { outside, inside } = withoutSquares(real ? discriminant : -discriminant);
  const common = gcdOf(gcdOf(b, outside), twice);
  const [middle, factor, below] = [(-b * sign) / common, outside / common, twice / common];

  const surd = [
    ...(factor === 1n && (inside !== 1n || !real) ? [] : [`${factor}`]),
    ...(inside === 1n ? [] : [`sqrt(${inside})`]),
    ...(real ? [] : ['i']),
  ].join('*');
  const centre = Rational.of(middle, below);
  const spread = about.multiply(
    about.fromRational(Rational.of(factor, below)),
    about.approximate(about.Decimal.sqrt(new about.Decimal(inside.toString()))),
  );
  return (['-', '+'] as const).map((operator) => {
    const top = middle === 0n ? `${operator === '-' ? '-' : ''}${surd}` : `${middle} ${operator} ${surd}`;
    const value = below === 1n ? top : `${middle === 0n ? top : `(${top})`}/${below}`;
    const signed = operator === '-' ? about.negate(spread) : spread;
    const size = about.approximateText(spread);
    const imaginary = size === '1' ? 'i' : `${size}*i`;
    const decimal = real
      ? about.approximateText(about.add(about.fromRational(centre), signed))
      : centre.sign === 0
        ? `${operator === '-' ? '-' : ''}${imaginary}`
        : `${roundedDecimal(centre)} ${operator} ${imaginary}`;
    return { value, decimal, exact: true, real, multiplicity };
  });
}

/** A root that is a fraction. */
export const rationalRoot = (value: Rational, multiplicity: number): Root => ({
  value: fractionText(value),
  decimal: roundedDecimal(value),
  exact: true,
  real: true,
  multiplicity,
});
