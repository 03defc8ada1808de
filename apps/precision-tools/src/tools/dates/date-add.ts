import * as z from 'zod';
import { defineTool } from '../tool.js';
import { addBusinessDays, holidaysOf } from './business-days.js';
import { readDate, reckoned, weekdayOf } from './read-date.js';

const amount = (unit: string) => z.int().min(-4_000_000).max(4_000_000).default(0).describe(`${unit} to add; negative to go back`);

export const dateAdd = defineTool({
  name: 'date_add',
  title: 'Add to a date',
  description:
    'Adds years, months, weeks, days or business days to a date, calendar-aware. Use it for deadlines and due dates. Years and months are added first and kept to the end of a shorter month.',
  input: {
    base_date: z.string().describe('YYYY-MM-DD or DD.MM.YYYY'),
    days: amount('days'),
    months: amount('months'),
    years: amount('years'),
    weeks: amount('weeks'),
    business_days: z.int().min(-100_000).max(100_000).default(0).describe('Mondays to Fridays to add after everything else'),
    holidays: z.array(z.string()).optional().describe('days that are not business days'),
  },
  output: {
    date: z.string().describe('YYYY-MM-DD'),
    weekday: z.string(),
    iso_week: z.string().describe('such as 2024-W09'),
    clamped: z.boolean().describe('true when the day did not exist in the month reached and its last day was taken'),
    note: z.string().optional(),
  },
  run({ base_date, days, months, years, weeks, business_days, holidays }) {
    const base = readDate(base_date, 'base_date');
    const month = reckoned(() => base.add({ years: 0, months: years * 12 + months }));
    const clamped = month.day !== base.day;
    const moved = reckoned(() => month.add({ days: weeks * 7 + days }));
    const date = business_days === 0 ? moved : addBusinessDays(moved, business_days, holidaysOf(holidays));
    return {
      date: date.toString(),
      weekday: weekdayOf(date),
      iso_week: `${date.yearOfWeek}-W${String(date.weekOfYear).padStart(2, '0')}`,
      clamped,
      ...(clamped && {
        note: `Day ${base.day} does not exist in ${month.toPlainYearMonth().toString()}; its last day ${month.day} was taken.`,
      }),
    };
  },
});
