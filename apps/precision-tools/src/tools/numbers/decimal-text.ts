import { Rational } from './rational.js';
import { roundToInteger, roundTo, type Rounding } from './rounding.js';

/** Significant digits of a rounded decimal, if the exact one does not terminate. */
export const shownDigits = 30;

function twosAndFives(denominator: bigint): { twos: number; fives: number; rest: bigint } {
  let [rest, twos, fives] = [denominator, 0, 0];
  while (rest % 2n === 0n) [rest, twos] = [rest / 2n, twos + 1];
  while (rest % 5n === 0n) [rest, fives] = [rest / 5n, fives + 1];
  return { twos, fives, rest };
}

const withPoint = (digits: bigint, places: number): string => {
  const negative = digits < 0n;
  const text = (negative ? -digits : digits).toString().padStart(places + 1, '0');
  const whole = text.slice(0, text.length - places);
  return `${negative ? '-' : ''}${whole}${places > 0 ? `.${text.slice(text.length - places)}` : ''}`;
};

/** The whole decimal expansion, or null if it does not terminate. */
export function exactDecimal(value: Rational): string | null {
  const { twos, fives, rest } = twosAndFives(value.denominator);
  if (rest !== 1n) return null;
  const places = Math.max(twos, fives);
  return withPoint((value.numerator * 10n ** BigInt(places)) / value.denominator, places);
}

/** With exactly `places` decimal places, such as "12.50". */
export function fixedDecimal(value: Rational, places: number, rule: Rounding): string {
  return withPoint(roundToInteger(value.multiply(Rational.of(10n ** BigInt(places))), rule), places);
}

/** Position of the leading digit: floor(log10 |value|), for a value that is not zero. */
function magnitudeOf(value: Rational): number {
  const { numerator, denominator } = value.abs();
  const guess = numerator.toString().length - denominator.toString().length;
  const power = Rational.of(10).power(BigInt(guess));
  return value.abs().compare(power) >= 0 ? guess : guess - 1;
}

/** Rounded half to even to significant digits; without an exponent as long as that is readable. */
export function roundedDecimal(value: Rational, digits = shownDigits): string {
  if (value.sign === 0) return '0';
  let magnitude = magnitudeOf(value);
  const rounded = roundTo(value, digits - 1 - magnitude, 'half_even');
  magnitude = magnitudeOf(rounded);
  if (magnitude >= digits || magnitude < -12) {
    const scaled = exactDecimal(rounded.divide(Rational.of(10).power(BigInt(magnitude))));
    return `${scaled}e${magnitude < 0 ? '-' : '+'}${Math.abs(magnitude)}`;
  }
  return exactDecimal(rounded) ?? '0';
}

/** "3", "0.25" or, if the decimals do not terminate, "1/3". Always exact. */
export const exactText = (value: Rational): string => exactDecimal(value) ?? `${value.numerator}/${value.denominator}`;

/** "1/3" or "7": the fraction in lowest terms. */
export const fractionText = (value: Rational): string =>
  value.isInteger ? value.numerator.toString() : `${value.numerator}/${value.denominator}`;
