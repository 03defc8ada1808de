// Days in the two servers: text such as 2026-12-04 in arguments and results, milliseconds of UTC midnight inside.

const dayMs = 86_400_000;

/** A tool returns this instead of a result: a code for programs, and a sentence for the planner of the call. */
export class Refusal extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

/** Parses a day; throws a Refusal that names `argument`. Days that do not exist, such as 30 February, are refused too. */
export function dayOf(text, argument) {
  const day = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(day) || textOf(day) !== text)
    throw new Refusal('DATE_INVALID', `\`${argument}\` is "${text}", which is not a day. Write it as YYYY-MM-DD.`);
  return day;
}

export const textOf = (day) => new Date(day).toISOString().slice(0, 10);
export const after = (day, days) => day + days * dayMs;
export const nightsBetween = (checkIn, checkOut) => (checkOut - checkIn) / dayMs;

export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
export const weekdayOf = (day) => weekdays[new Date(day).getUTCDay()];
/** The next day of that name, never the same day. */
export const coming = (day, weekday) => after(day, ((weekdays.indexOf(weekday) - new Date(day).getUTCDay() + 6) % 7) + 1);
