import * as z from 'zod';
import { defineTool } from '../tool.js';
import { readDate, weekdayOf, weekdays } from './read-date.js';

export const dayOfWeek = defineTool({
  name: 'day_of_week',
  title: 'Day of the week',
  description: 'The weekday, ISO week and day of the year of a date. Use it instead of guessing a weekday.',
  input: { date_str: z.string().describe('YYYY-MM-DD or DD.MM.YYYY') },
  output: {
    date: z.string(),
    weekday: z.enum(weekdays),
    iso_weekday: z.int().min(1).max(7).describe('1 is Monday'),
    iso_week: z.string().describe('such as 2024-W09; its year may differ from that of the date'),
    day_of_year: z.int().min(1).max(366),
    is_weekend: z.boolean(),
  },
  run({ date_str }) {
    const date = readDate(date_str, 'date_str');
    return {
      date: date.toString(),
      weekday: weekdayOf(date),
      iso_weekday: date.dayOfWeek,
      iso_week: `${date.yearOfWeek}-W${String(date.weekOfYear).padStart(2, '0')}`,
      day_of_year: date.dayOfYear,
      is_weekend: date.dayOfWeek > 5,
    };
  },
});
