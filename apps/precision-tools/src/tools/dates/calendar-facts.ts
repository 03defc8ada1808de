import { Temporal } from '@js-temporal/polyfill';
import * as z from 'zod';
import { invalid } from '../refusal.js';
import { defineTool } from '../tool.js';
import { readDate, weekdayOf } from './read-date.js';

/** Easter Sunday of the Gregorian calendar: the anonymous algorithm (Meeus, Astronomical Algorithms, chapter 8). */
export function easterSunday(year: number): Temporal.PlainDate {
  const a = year % 19;
  const [b, c] = [Math.floor(year / 100), year % 100];
  const [d, e] = [Math.floor(b / 4), b % 4];
  const g = Math.floor((8 * b + 13) / 25);
  const h = (19 * a + b - d - g + 15) % 30;
  const [i, k] = [Math.floor(c / 4), c % 4];
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 19 * l) / 433);
  const month = Math.floor((h + l - 7 * m + 90) / 25);
  return Temporal.PlainDate.from({ year, month, day: (h + l - 7 * m + 33 * month + 19) % 32 });
}

/** Holidays in all of Germany today; German Unity Day since 1990. */
function germanHolidays(year: number): { date: string; name: string }[] {
  const easter = easterSunday(year);
  const moved = (days: number): string => easter.add({ days }).toString();
  const fixed = (month: number, day: number): string => Temporal.PlainDate.from({ year, month, day }).toString();
  return [
    { date: fixed(1, 1), name: 'Neujahr' },
    { date: moved(-2), name: 'Karfreitag' },
    { date: moved(1), name: 'Ostermontag' },
    { date: fixed(5, 1), name: 'Tag der Arbeit' },
    { date: moved(39), name: 'Christi Himmelfahrt' },
    { date: moved(50), name: 'Pfingstmontag' },
    ...(year >= 1990 ? [{ date: fixed(10, 3), name: 'Tag der Deutschen Einheit' }] : []),
    { date: fixed(12, 25), name: '1. Weihnachtstag' },
    { date: fixed(12, 26), name: '2. Weihnachtstag' },
  ];
}

export const calendarFacts = defineTool({
  name: 'calendar_facts',
  title: 'Facts of a year or date',
  description:
    'Leap year, number of days and ISO weeks, Easter, German nationwide holidays of a year; quarter, day of year and days left of a date. Use it for calendar questions without a difference.',
  input: {
    year: z.int().min(1).max(9999).optional().describe('give the year or a date'),
    date: z.string().optional().describe('YYYY-MM-DD or DD.MM.YYYY'),
  },
  output: {
    year: z.int(),
    leap_year: z.boolean(),
    days_in_year: z.int(),
    iso_weeks_in_year: z.int(),
    first_weekday: z.string().describe('weekday of 1 January'),
    days_in_months: z.array(z.int()).length(12),
    fridays_the_13th: z.array(z.string()),
    easter_sunday: z.string().optional().describe('Gregorian, from 1583 on'),
    german_holidays: z
      .array(z.strictObject({ date: z.string(), name: z.string() }))
      .optional()
      .describe('nationwide, by today’s law; from 1950 on'),
    date: z
      .strictObject({
        date: z.string(),
        weekday: z.string(),
        quarter: z.int(),
        day_of_year: z.int(),
        days_left_in_year: z.int(),
        iso_week: z.string(),
        days_in_month: z.int(),
      })
      .optional(),
  },
  run({ year: wanted, date: text }) {
    if ((wanted === undefined) === (text === undefined)) throw invalid('Give either "year" or "date".');
    const date = text === undefined ? undefined : readDate(text, 'date');
    const year = date?.year ?? wanted!;
    const first = Temporal.PlainDate.from({ year, month: 1, day: 1 });
    const months = Array.from({ length: 12 }, (_, i) => first.with({ month: i + 1 }));
    return {
      year,
      leap_year: first.inLeapYear,
      days_in_year: first.daysInYear,
      // 28 December is always in the last ISO week of its year.
      iso_weeks_in_year: first.with({ month: 12, day: 28 }).weekOfYear!,
      first_weekday: weekdayOf(first),
      days_in_months: months.map(({ daysInMonth }) => daysInMonth),
      fridays_the_13th: months
        .map((month) => month.with({ day: 13 }))
        .filter(({ dayOfWeek }) => dayOfWeek === 5)
        .map(String),
      ...(year >= 1583 && { easter_sunday: easterSunday(year).toString() }),
      ...(year >= 1950 && { german_holidays: germanHolidays(year) }),
      ...(date && {
        date: {
          date: date.toString(),
          weekday: weekdayOf(date),
          quarter: Math.ceil(date.month / 3),
          day_of_year: date.dayOfYear,
          days_left_in_year: date.daysInYear - date.dayOfYear,
          iso_week: `${date.yearOfWeek}-W${String(date.weekOfYear).padStart(2, '0')}`,
          days_in_month: date.daysInMonth,
        },
      }),
    };
  },
});
