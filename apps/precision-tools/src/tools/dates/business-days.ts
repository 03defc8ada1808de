import type { Temporal } from '@js-temporal/polyfill';
import { invalid } from '../refusal.js';
import { reckoned, readDate } from './read-date.js';

/** Maximum number of holidays in one call. */
const mostHolidays = 1_000;

/** Holidays that fall on Monday to Friday, each once, as ISO dates. */
export function holidaysOf(list: readonly string[] | undefined): Set<string> {
  if (list && list.length > mostHolidays) throw invalid(`At most ${mostHolidays} holidays.`);
  const dates = (list ?? []).map((text, i) => readDate(text, `holidays[${i}]`));
  return new Set(dates.filter(({ dayOfWeek }) => dayOfWeek <= 5).map(String));
}

/**
 * Monday to Friday without holidays, from `start` inclusive to `end` exclusive; start <= end. Whole weeks are counted, not walked through.
 */
export function businessDaysBetween(start: Temporal.PlainDate, end: Temporal.PlainDate, holidays: ReadonlySet<string>): number {
  const days = start.until(end).days;
  let count = Math.floor(days / 7) * 5;
  for (let i = 0; i < days % 7; i += 1) if ((start.dayOfWeek - 1 + i) % 7 < 5) count += 1;
  const [from, to] = [start.toString(), end.toString()];
  for (const holiday of holidays) if (holiday >= from && holiday < to) count -= 1;
  return count;
}

/** The business day that is `count` business days after the date (before it, if negative). */
export function addBusinessDays(start: Temporal.PlainDate, count: number, holidays: ReadonlySet<string>): Temporal.PlainDate {
  const step = count < 0 ? -1 : 1;
  let date = start;
  for (let left = Math.abs(count); left > 0;) {
    const weeks = holidays.size === 0 && date.dayOfWeek <= 5 ? Math.floor(left / 5) : 0;
    if (weeks > 0) {
      date = reckoned(() => date.add({ days: step * weeks * 7 }));
      left -= weeks * 5;
      continue;
    }
    date = reckoned(() => date.add({ days: step }));
    if (date.dayOfWeek <= 5 && !holidays.has(date.toString())) left -= 1;
  }
  return date;
}
