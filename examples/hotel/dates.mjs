// Days as the two servers count them: text such as 2026-12-04 outside, milliseconds of UTC midnight inside.

const dayMs = 86_400_000;

/** What a tool returns instead of a result: a code for programs, a sentence for the planner of the call. */
export class Refusal extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

/** The refusal names `argument`. Days that exist in no month are refused too. */
export function dayOf(text, argument) {
  const day = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(day) || textOf(day) !== text)
    throw new Refusal('DATE_INVALID', `\`${argument}\` is "${text}", which is no day. Write it as YYYY-MM-DD.`);
  return day;
}

export const textOf = (day) => new Date(day).toISOString().slice(0, 10);
export const after = (day, days) => day + days * dayMs;
export const nightsBetween = (checkIn, checkOut) => (checkOut - checkIn) / dayMs;

export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
export const weekdayOf = (day) => weekdays[new Date(day).getUTCDay()];
/** The next day of that name, never the same day. */
export const coming = (day, weekday) => after(day, ((weekdays.indexOf(weekday) - new Date(day).getUTCDay() + 6) % 7) + 1);
