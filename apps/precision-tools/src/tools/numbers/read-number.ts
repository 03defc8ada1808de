import * as z from 'zod';
import { invalid, quoted, tooLarge } from '../refusal.js';
import { longestDigits, Rational } from './rational.js';

const plain = /^(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$|^\.(\d+)(?:[eE]([+-]?\d{1,6}))?$/;
const groupedByComma = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const groupedByPoint = /^\d{1,3}(?:\.\d{3})+,\d+$/;
const groupedOtherwise = /^\d{1,3}(?:([_'’\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:\.\d+)?$/;

/**
 * Reads an unsigned decimal literal exactly. Thousands may be grouped if only one reading is possible: 1,234.5 and 1.234,5 and 1_234.
 * Throws INVALID_ARGUMENT for a literal that could mean two numbers, such as 3,5.
 */
export function readDecimal(literal: string, name?: string): Rational {
  if (literal.length > longestDigits + 20) throw tooLarge(`A number may have ${longestDigits.toLocaleString('en')} digits.`);
  let text = literal;
  if (groupedByComma.test(text)) text = text.replaceAll(',', '');
  else if (groupedByPoint.test(text)) text = text.replaceAll('.', '').replace(',', '.');
  else if (groupedOtherwise.test(text)) text = text.replace(/[^\d.]/g, '');
  const found = plain.exec(text);
  if (!found) {
    const hint = /^\d+,\d+$/.test(text)
      ? 'Write a decimal point (3.5); a comma may only separate groups of three digits (12,345).'
      : 'Write it with digits and one decimal point, such as 1234.5.';
    throw invalid(`${name ? `${name}: ` : ''}${quoted(literal)} is not a number that has one reading. ${hint}`);
  }
  const [, whole = '0', fraction = '', exponent, bare, bareExponent] = found;
  const decimals = bare ?? fraction;
  const shift = Number(exponent ?? bareExponent ?? 0) - decimals.length;
  if (Math.abs(shift) > longestDigits) throw tooLarge(`The exponent of ${quoted(literal)} is too large: at most ${longestDigits}.`);
  const digits = BigInt((bare === undefined ? whole : '') + decimals || '0');
  return shift >= 0 ? Rational.of(digits * 10n ** BigInt(shift)) : Rational.of(digits, 10n ** BigInt(-shift));
}

/**
 * Reads one number of an argument: a JSON number, or text with an optional sign, fraction (3/4) or percent sign.
 * A JSON number is taken as the decimal as which it was written; beyond 2^53 it has already lost digits and is refused.
 */
export function readNumber(value: string | number, name: string): Rational {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid(`${name} is not a finite number.`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw invalid(`${name} is larger than a JSON number can carry exactly: give it as text, such as "12345678901234567890".`);
    return readNumber(String(value), name);
  }
  // A currency sign does not change the number.
  const text = value
    .trim()
    .replace(/^[−–]/, '-')
    .replace(/^([+-]?)\s*[$€£¥]\s*(?=[\d.])|(?<=\d)\s*[$€£¥]$/u, '$1');
  const signed = /^([+-]?)\s*(.*?)\s*(%?)$/s.exec(text);
  const [, sign = '', body = '', percent = ''] = signed ?? [];
  if (body === '') throw invalid(`${name} is empty: give a number.`);
  const [above = '', below, ...more] = body.split('/');
  if (more.length > 0) throw invalid(`${name} must be one number or one fraction such as 3/4.`);
  let read = readDecimal(above.trim(), name);
  if (below !== undefined) read = read.divide(readDecimal(below.trim(), name));
  if (percent) read = read.divide(Rational.of(100));
  return sign === '-' ? read.negate() : read;
}

/** A whole number of any size; as text if a JSON number cannot hold it. */
export function readInteger(value: string | number, name: string): bigint {
  const read = readNumber(value, name);
  if (!read.isInteger) throw invalid(`${name} must be a whole number.`);
  return read.numerator;
}

/** The schema of a number in an argument. */
export const numberArgument = (meaning: string) =>
  z.union([z.number(), z.string()]).describe(`${meaning}; a number, or text such as "1234.5", "3/4" or "7.5%"`);
export const integerArgument = (meaning: string) =>
  z.union([z.number(), z.string()]).describe(`${meaning}; a whole number, as text when it is above 2^53`);
