import { Temporal } from '@js-temporal/polyfill';
import * as z from 'zod';
import { defineTool } from '../tool.js';
import { businessDaysBetween, holidaysOf } from './business-days.js';
import { readDate, weekdayOf } from './read-date.js';

const day = z.string();

/**
 * The largest number of months that can be added without passing `to`, where each sum stops at the end of a shorter month. Temporal's own
 * `until` does not count such a month as whole, and so differs from the result of `add`.
 */
function wholeMonths(from: Temporal.PlainDate, to: Temporal.PlainDate): number {
  const months = (to.year - from.year) * 12 + to.month - from.month;
  const order = Temporal.PlainDate.compare(from.add({ months }), to);
  if (order === 0) return months;
  const forward = Temporal.PlainDate.compare(from, to) < 0;
  if (forward) return order > 0 ? months - 1 : months;
  return order < 0 ? months + 1 : months;
}

export const dateDiff = defineTool({
  name: 'date_diff',
  title: 'Difference of two dates',
  description:
    'Exact calendar difference of two dates: days, weeks, and years/months/days, optionally business days. Use it for ages, durations and deadlines. Months are those that date_add adds: 31 May to 30 June is one month.',
  input: {
    date1: z.string().describe('YYYY-MM-DD or DD.MM.YYYY'),
    date2: z.string().describe('YYYY-MM-DD or DD.MM.YYYY; before date1 gives negative numbers'),
    business_days: z
      .boolean()
      .default(false)
      .describe('also count Monday to Friday, from the earlier day inclusive to the later exclusive'),
    holidays: z.array(z.string()).optional().describe('days that are not business days'),
  },
  output: {
    date1: day,
    date2: day,
    weekday1: z.string(),
    weekday2: z.string(),
    days: z.int().describe('from date1 to date2; the day of date1 is not counted'),
    days_inclusive: z.int().nonnegative().describe('with both days counted, without sign'),
    weeks: z.int().describe('whole weeks of `days`'),
    remaining_days: z.int().describe('days beside the whole weeks'),
    total_months: z.int().describe('whole calendar months'),
    years: z.int(),
    months: z.int(),
    days_after_months: z.int().describe('years + months + these days lead from date1 to date2'),
    business_days: z.int().nonnegative().optional(),
    note: z.string().optional(),
  },
  run({ date1, date2, business_days, holidays }) {
    const [from, to] = [readDate(date1, 'date1'), readDate(date2, 'date2')];
    const { days } = from.until(to, { largestUnit: 'day' });
    const forward = days >= 0;
    const totalMonths = wholeMonths(from, to);
    const reached = from.add({ months: totalMonths });
    const clamped = reached.day !== from.day;
    const output = {
      date1: from.toString(),
      date2: to.toString(),
      weekday1: weekdayOf(from),
      weekday2: weekdayOf(to),
      days,
      days_inclusive: Math.abs(days) + 1,
      weeks: Math.trunc(days / 7) + 0,
      remaining_days: (days % 7) + 0,
      total_months: totalMonths,
      years: Math.trunc(totalMonths / 12) + 0,
      months: (totalMonths % 12) + 0,
      days_after_months: reached.until(to, { largestUnit: 'day' }).days,
      ...(clamped && { note: `Day ${from.day} does not exist in the month reached, so its last day counts as a whole month.` }),
    };
    if (!business_days) return output;
    const [early, late] = forward ? [from, to] : [to, from];
    return { ...output, business_days: businessDaysBetween(early, late, holidaysOf(holidays)) };
  },
});
