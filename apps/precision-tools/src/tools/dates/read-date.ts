import { Temporal } from '@js-temporal/polyfill';
import { invalid, quoted } from '../refusal.js';

const iso = /^(\d{4})-(\d{2})-(\d{2})$/;
const compact = /^(\d{4})(\d{2})(\d{2})$/;
const pointed = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/;
/** The year first has one order everywhere. */
const yearFirst = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/;
/** `3 May 2019`, `3rd of May, 2019`, `3. Mai 2019`, `14 de julio de 1998`. */
const dayFirst = /^(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s*(?:of\s+|de\s+)?(\p{L}+)\.?,?\s+(?:de\s+|del\s+)?(\d{4})$/iu;
/** `May 3, 2019`, `May 3rd 2019`. */
const monthFirst = /^(\p{L}+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/iu;

/** Months in English, German, French and Spanish, by their first letters: as many as tell them apart. */
const months: readonly RegExp[] = [
  /^(?:jan(?:uary|uar)?|jän(?:ner)?|janv(?:ier)?|ene(?:ro)?)$/,
  /^(?:feb(?:ruary|ruar|rero)?|févr?(?:ier)?|fevrier)$/,
  /^(?:mar(?:ch|zo)?|mär(?:z)?|maerz|mars)$/,
  /^(?:apr(?:il)?|avr(?:il)?|abr(?:il)?)$/,
  /^(?:may|mai|mayo)$/,
  /^(?:jun[ei]?|juin|junio)$/,
  /^(?:jul[yi]?|juil(?:let)?|julio)$/,
  /^(?:aug(?:ust)?|août|aout|ago(?:sto)?)$/,
  /^(?:sept?(?:ember|embre|iembre)?|setiembre)$/,
  /^(?:oct(?:ober|obre|ubre)?|okt(?:ober)?)$/,
  /^(?:nov(?:ember|embre|iembre)?)$/,
  /^(?:dec(?:ember)?|dez(?:ember)?|déc(?:embre)?|decembre|dic(?:iembre)?)$/,
];
function monthOf(word: string): string | null {
  const at = months.findIndex((names) => names.test(word.normalize('NFC').toLowerCase()));
  return at < 0 ? null : String(at + 1);
}

/** Year, month and day; null if the text has no such form. */
function worded(text: string): readonly [string, string, string] | null {
  const [day, word, year] = dayFirst.exec(text)?.slice(1) ?? [];
  if (day && word && year) {
    const month = monthOf(word);
    return month === null ? null : [year, month, day];
  }
  const [name, of, then] = monthFirst.exec(text)?.slice(1) ?? [];
  const month = name ? monthOf(name) : null;
  return month !== null && of && then ? [then, month, of] : null;
}

/**
 * Reads 2024-02-29, 20240229, 2024/02/29, 29.02.2024, and dates with the month in words of four languages; proleptic Gregorian, years 1
 * to 9999. Throws INVALID_ARGUMENT for a day that does not exist and for other dates with a slash, whose order is ambiguous.
 */
export function readDate(text: string, name: string): Temporal.PlainDate {
  const written = text.trim();
  const parts =
    iso.exec(written)?.slice(1) ??
    compact.exec(written)?.slice(1) ??
    yearFirst.exec(written)?.slice(1) ??
    pointed.exec(written)?.slice(1).reverse() ??
    worded(written);
  if (!parts) {
    const hint = /^\d{1,4}\/\d{1,2}\/\d{1,4}$/.test(written)
      ? 'A date with slashes has two readings: write it as YYYY-MM-DD.'
      : /^(today|now|tomorrow|yesterday|heute|jetzt|morgen|gestern)$/i.test(written)
        ? 'The tool has no clock: write the date as YYYY-MM-DD.'
        : /^\d{4}-\d{2}-\d{2}[T ]/.test(written)
          ? 'Give the date without the time.'
          : 'Write it as YYYY-MM-DD.';
    throw invalid(`${name}: ${quoted(text)} is not a date. ${hint}`);
  }
  const [year, month, day] = parts.map(Number) as [number, number, number];
  if (year < 1) throw invalid(`${name}: years go from 0001 to 9999.`);
  try {
    return Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid(`${name}: ${quoted(text)} does not exist in the calendar.`);
  }
}

export const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
export const weekdayOf = (date: Temporal.PlainDate): (typeof weekdays)[number] => weekdays[date.dayOfWeek - 1]!;

/** A result outside the years 1 to 9999. */
export function withinYears(date: Temporal.PlainDate): Temporal.PlainDate {
  if (date.year < 1 || date.year > 9999) throw invalid('The result is outside the years 0001 to 9999.');
  return date;
}

/** Runs a calendar calculation; a result outside the range of any calendar is reported in the same way. */
export function reckoned(calculate: () => Temporal.PlainDate): Temporal.PlainDate {
  try {
    return withinYears(calculate());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid('The result is outside the years 0001 to 9999.');
  }
}
