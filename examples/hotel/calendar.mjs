// The calendar: translates people's words for days into dates. A fixture, so that every run of the example finds the same dates.
import { after, coming, dayOf, nightsBetween, Refusal, textOf, weekdayOf, weekdays } from './dates.mjs';

/** The day on which the example takes place. */
const today = '2025-01-13';

/** First and last evening. */
const holidays = [
  { holiday_name: 'Passover', start_date: '2026-04-01', end_date: '2026-04-08', holiday_type: 'jewish' },
  { holiday_name: 'Rosh Hashanah', start_date: '2026-09-11', end_date: '2026-09-13', holiday_type: 'jewish' },
  { holiday_name: 'Sukkot', start_date: '2026-09-25', end_date: '2026-10-02', holiday_type: 'jewish' },
  { holiday_name: 'Hanukkah', start_date: '2026-12-04', end_date: '2026-12-11', holiday_type: 'jewish' },
  { holiday_name: 'Christmas', start_date: '2026-12-24', end_date: '2026-12-26', holiday_type: 'christian' },
];

const letters = (name) => name.toLowerCase().replaceAll(/[^a-z]/g, '');

function resolveHoliday({ holiday_name, year }) {
  const found = holidays.find((one) => letters(one.holiday_name) === letters(holiday_name));
  const known = holidays.map((one) => one.holiday_name).join(', ');
  if (!found) throw new Refusal('HOLIDAY_UNKNOWN', `"${holiday_name}" is not in this calendar. It holds ${known}.`);
  const held = Number(found.start_date.slice(0, 4));
  if (year !== undefined && year !== held)
    throw new Refusal('YEAR_UNKNOWN', `This calendar holds ${found.holiday_name} of ${held}, not of ${year}.`);
  const { start_date, end_date } = found;
  const duration_days = nightsBetween(dayOf(start_date, 'start_date'), dayOf(end_date, 'end_date')) + 1;
  return { ...found, duration_days, year: held };
}

/** The accepted hints, each with its first day and its number of nights. `nights: null` = as many as requested. */
const hints = [
  [/^(tonight|today)$/, (now) => ({ first: now, nights: null, because: 'it is the same day' })],
  [/^tomorrow$/, (now) => ({ first: after(now, 1), nights: null, because: 'it is the day after' })],
  [/^in (\d{1,3}) days?$/, (now, [, days]) => ({ first: after(now, Number(days)), nights: null, because: `it is ${days} days later` })],
  [
    /^(?:(?:this|next|the) )?weekend$/,
    (now) => ({ first: coming(now, 'friday'), nights: 2, because: 'guests of a weekend stay from Friday to Sunday' }),
  ],
  [
    new RegExp(`^(?:(?:on|this|next) )?(${weekdays.join('|')})$`),
    (now, [, weekday]) => ({ first: coming(now, weekday), nights: null, because: `it is the next ${weekday}` }),
  ],
];

function resolveDateHint({ date_hint, current_date = today, timezone = 'Asia/Jerusalem', default_nights = 1 }) {
  const said = date_hint.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const now = dayOf(current_date, 'current_date');
  for (const [pattern, read] of hints) {
    const match = pattern.exec(said);
    if (!match) continue;
    const { first, nights: own, because } = read(now, match);
    const nights = own ?? default_nights;
    return {
      check_in: textOf(first),
      check_out: textOf(after(first, nights)),
      nights,
      days: Array.from({ length: nights }, (_, night) => weekdayOf(after(first, night))),
      timezone,
      reasoning: `"${date_hint}" said on ${current_date}: ${because}.`,
    };
  }
  throw new Refusal('HINT_UNKNOWN', `"${date_hint}" is not understood. Try tonight, tomorrow, next weekend, next friday, or in 3 days.`);
}

const weekends = {
  israeli: ['thursday', 'friday', 'saturday'],
  western: ['saturday', 'sunday'],
};

function checkIsWeekend({ date, weekend_type = 'israeli' }) {
  const weekday = weekdayOf(dayOf(date, 'date'));
  return { date, weekday, weekend_type, is_weekend: weekends[weekend_type].includes(weekday) };
}

const text = (description) => ({ type: 'string', minLength: 1, maxLength: 100, description });
const day = (description) => ({ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: `${description}, YYYY-MM-DD` });

export const tools = {
  resolve_holiday: {
    description: 'First and last evening of a holiday. Ask for it whenever a holiday is named: its days differ from year to year.',
    properties: {
      holiday_name: text('such as Hanukkah'),
      year: { type: 'integer', description: 'the one that the calendar holds unless given' },
    },
    required: ['holiday_name'],
    run: resolveHoliday,
  },
  resolve_date_hint: {
    description: 'Check-in and check-out of days that are named by their distance, such as "next weekend" or "tomorrow".',
    properties: {
      date_hint: text('the words of the guest'),
      current_date: day(`the day they were said on; ${today} unless given`),
      timezone: text('zone of the hotel; Asia/Jerusalem unless given'),
      default_nights: { type: 'integer', minimum: 1, maximum: 30, description: 'nights where the words do not say it; 1 unless given' },
    },
    required: ['date_hint'],
    run: resolveDateHint,
  },
  check_is_weekend: {
    description: 'Whether a day belongs to the weekend.',
    properties: {
      date: day('the day'),
      weekend_type: { enum: Object.keys(weekends), description: 'israeli (Thursday to Saturday) unless given' },
    },
    required: ['date'],
    run: checkIsWeekend,
  },
};
