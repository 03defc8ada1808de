import { Decimal as DecimalType } from 'decimal.js';
import { tooLarge } from '../refusal.js';
import { shownDigits } from './decimal-text.js';
import type { Rational } from './rational.js';

/** Thirty digits more than are shown, so that the shown ones are still right after a few hundred operations. */
const workingDigits = 60;
export const Decimal = DecimalType.clone({ precision: workingDigits, rounding: 4, toExpNeg: -12, toExpPos: shownDigits + 10 });
export type Decimal = DecimalType;

/** Largest relative error of one rounded operation, with room for functions that decimal.js rounds in the last place. */
const oneRounding = new Decimal(10).pow(2 - workingDigits);

/** A real number that is known to within ±error: irrational, or too costly to keep exact. */
export interface Approximate {
  value: Decimal;
  /** Absolute. */
  error: Decimal;
}

/** A rounded result whose operands contributed the `inherited` error. */
export const approximate = (value: Decimal, inherited: Decimal | number = 0): Approximate => {
  if (!value.isFinite()) throw tooLarge('The result is too large, or not defined there.');
  return { value, error: value.abs().times(oneRounding).plus(inherited) };
};

export const fromRational = (exact: Rational): Approximate =>
  approximate(new Decimal(exact.numerator.toString()).div(exact.denominator.toString()));

export const pi = Decimal.acos(-1);

export const add = (a: Approximate, b: Approximate): Approximate => approximate(a.value.plus(b.value), a.error.plus(b.error));

export const multiply = (a: Approximate, b: Approximate): Approximate =>
  approximate(a.value.times(b.value), a.value.abs().times(b.error).plus(b.value.abs().times(a.error)).plus(a.error.times(b.error)));

export const negate = (a: Approximate): Approximate => ({ value: a.value.neg(), error: a.error });

/** True if zero is within the error, so that it is unknown whether the number is zero. */
export const mayBeZero = (a: Approximate): boolean => a.value.abs().lte(a.error);

/** The value of a function with the given slope there. */
export const through = (a: Approximate, value: Decimal, slope: Decimal): Approximate => approximate(value, a.error.times(slope.abs()));

/** At most thirty significant digits, and only those that the error leaves certain; "0" if not even the sign is certain. */
export function approximateText(a: Approximate): string {
  if (mayBeZero(a)) return '0';
  const certain = Math.floor(a.value.abs().div(a.error).log(10).toNumber()) - 1;
  return a.value.toSignificantDigits(Math.max(1, Math.min(shownDigits, certain))).toString();
}
