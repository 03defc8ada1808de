import { Temporal } from '@js-temporal/polyfill';
import * as z from 'zod';
import { invalid, quoted } from '../refusal.js';
import { defineTool } from '../tool.js';

const offset = /^[+-](?:[01]\d|2[0-3]):[0-5]\d$/;
const zoneName = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){1,2}$/;

function zoneOf(text: string, name: string): string {
  // UTC+2 is an offset; the names Etc/GMT+2, which mean the opposite, have a slash.
  const [, sign, hours, minutes = '00'] = /^(?:UTC|GMT)\s?([-+−])(\d{1,2})(?::?([0-5]\d))?$/.exec(text.trim()) ?? [];
  const written = sign && hours ? `${sign === '−' ? '-' : sign}${hours.padStart(2, '0')}:${minutes}` : text.trim();
  const zone = written === 'Z' ? 'UTC' : written;
  try {
    if (zone !== 'UTC' && zone !== 'GMT' && !offset.test(zone) && !zoneName.test(zone)) throw new RangeError('not a zone name');
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return zone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid(
      `${name}: ${quoted(text)} is not a time zone. Use an IANA name such as Europe/Berlin, UTC, or an offset such as +02:00; abbreviations such as CST have several meanings.`,
    );
  }
}

function localTime(text: string): Temporal.PlainDateTime {
  const written = text.trim().replace(' ', 'T');
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/.test(written)) {
    throw invalid(`datetime: write the local time of from_timezone as YYYY-MM-DDTHH:MM without an offset, not ${quoted(text)}.`);
  }
  try {
    return Temporal.PlainDateTime.from(written, { overflow: 'reject' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid(`datetime: ${quoted(text)} does not exist in the calendar.`);
  }
}

const shown = (time: Temporal.ZonedDateTime): string => `${time.toPlainDateTime().toString()}${time.offset}`;

/** Historical local mean times have offsets with seconds. */
function hoursAndMinutes(seconds: number): string {
  const size = Math.abs(seconds);
  const parts = [Math.floor(size / 3_600), Math.floor(size / 60) % 60, ...(size % 60 === 0 ? [] : [size % 60])];
  return (seconds < 0 ? '-' : '+') + parts.map((part) => String(part).padStart(2, '0')).join(':');
}

export const timezoneConvert = defineTool({
  name: 'timezone_convert',
  title: 'Time zones',
  description:
    'Converts a local time from one time zone to another with the daylight-saving rules of that date. Use it for every question about times in two places.',
  input: {
    datetime: z.string().describe('local time in from_timezone, YYYY-MM-DDTHH:MM'),
    from_timezone: z.string().describe('IANA name such as Europe/Berlin, UTC, or an offset such as +02:00'),
    to_timezone: z.string().describe('likewise'),
  },
  output: {
    from: z.string().describe('with offset'),
    to: z.string().describe('with offset'),
    utc: z.string(),
    difference: z.string().describe('to minus from, such as +05:45'),
    day_change: z.int().describe('calendar days from `from` to `to`'),
    alternative_to: z.string().optional().describe('the second reading of a time that occurs twice'),
    note: z.string().optional(),
  },
  run({ datetime, from_timezone, to_timezone }) {
    const local = localTime(datetime);
    const [fromZone, toZone] = [zoneOf(from_timezone, 'from_timezone'), zoneOf(to_timezone, 'to_timezone')];
    const [earlier, later] = (['earlier', 'later'] as const).map((disambiguation) => local.toZonedDateTime(fromZone, { disambiguation }));
    const twice = !earlier!.equals(later!) && earlier!.toPlainDateTime().equals(local);
    const never = !earlier!.equals(later!) && !twice;
    // Like clocks: forward over a gap, and the first of two equal times.
    const from = never ? later! : earlier!;
    const to = from.withTimeZone(toZone);
    return {
      from: shown(from),
      to: shown(to),
      utc: from.toInstant().toString(),
      difference: hoursAndMinutes((to.offsetNanoseconds - from.offsetNanoseconds) / 1e9),
      day_change: from.toPlainDate().until(to.toPlainDate()).days,
      ...(twice && {
        alternative_to: shown(later!.withTimeZone(toZone)),
        note: 'Clocks are put back then, so this local time occurs twice: the first is used.',
      }),
      ...(never && {
        note: 'Clocks are put forward then, so this local time does not exist: it was moved forward by the length of the gap.',
      }),
    };
  },
});
