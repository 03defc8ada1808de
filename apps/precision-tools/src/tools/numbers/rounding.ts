import { Rational } from './rational.js';

export const roundings = ['half_up', 'half_even', 'down', 'up', 'floor', 'ceiling'] as const;
/** half_up: ties away from zero. half_even: ties to the even digit. down, up: towards and away from zero. */
export type Rounding = (typeof roundings)[number];

/** To the nearest whole number by the rule. */
export function roundToInteger(value: Rational, rule: Rounding): bigint {
  const floor = value.floor();
  if (value.isInteger) return floor;
  const negative = value.sign < 0;
  if (rule === 'floor') return floor;
  if (rule === 'ceiling') return floor + 1n;
  if (rule === 'down') return negative ? floor + 1n : floor;
  if (rule === 'up') return negative ? floor : floor + 1n;
  const half = value.subtract(Rational.of(floor)).compare(Rational.of(1, 2));
  if (half !== 0) return half > 0 ? floor + 1n : floor;
  if (rule === 'half_even') return floor % 2n === 0n ? floor : floor + 1n;
  return negative ? floor : floor + 1n;
}

/** To `places` decimal places (negative: to tens, hundreds …), as an exact fraction. */
export function roundTo(value: Rational, places: number, rule: Rounding): Rational {
  const scale = Rational.of(10n ** BigInt(Math.abs(places)));
  const [scaled, back] = places >= 0 ? [value.multiply(scale), Rational.one.divide(scale)] : [value.divide(scale), scale];
  return Rational.of(roundToInteger(scaled, rule)).multiply(back);
}
