import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';

/** Days since 1 March of year 0 by counting years, months and centuries, without any calendar of the platform. */
function dayNumber(year: number, month: number, day: number): number {
  const [y, m] = month > 2 ? [year, month - 3] : [year - 1, month + 9];
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + Math.floor((153 * m + 2) / 5) + day - 1;
}
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const lengthOf = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
/** 1 March of year 0 was a Wednesday. */
const weekday = (days: number): number => (((days + 2) % 7) + 7) % 7;

interface Civil {
  year: number;
  month: number;
  day: number;
}
const dates = fc
  .record({ year: fc.integer({ min: 1, max: 9999 }), month: fc.integer({ min: 1, max: 12 }), day: fc.integer({ min: 1, max: 31 }) })
  .filter(({ year, month, day }) => day <= lengthOf(year, month));
const iso = ({ year, month, day }: Civil): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
const number = ({ year, month, day }: Civil): number => dayNumber(year, month, day);
const read = (text: string): Civil => {
  const [year, month, day] = text.split('-').map(Number) as [number, number, number];
  return { year, month, day };
};
/** Adds months, and stops at the last day of a shorter month. */
const monthsOn = ({ year, month, day }: Civil, months: number): Civil => {
  const count = year * 12 + month - 1 + months;
  const [y, m] = [Math.floor(count / 12), (count % 12) + 1];
  return { year: y, month: m, day: Math.min(day, lengthOf(y, m)) };
};

const weekdayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

describe('the date tools, against counted days', () => {
  it('return the day of week and the difference that result from counting days', () => {
    fc.assert(
      fc.property(dates, dates, (a, b) => {
        const found = ask('date_diff', { date1: iso(a), date2: iso(b) });
        expect(found.days).toBe(number(b) - number(a));
        expect(found.weekday1).toBe(weekdayNames[weekday(number(a))]);
        expect(ask('day_of_week', { date_str: iso(b) })).toMatchObject({
          weekday: weekdayNames[weekday(number(b))],
          day_of_year: number(b) - dayNumber(b.year, 1, 1) + 1,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('the years, months and days of a difference lead from the first date to the second', () => {
    fc.assert(
      fc.property(dates, dates, (one, other) => {
        const [a, b] = number(one) <= number(other) ? [one, other] : [other, one];
        const { total_months, years, months, days_after_months } = ask('date_diff', { date1: iso(a), date2: iso(b) }) as Record<
          string,
          number
        >;
        expect(years! * 12 + months!).toBe(total_months);
        expect(number(monthsOn(a, total_months!)) + days_after_months!).toBe(number(b));
        expect(days_after_months).toBeLessThan(31);
        expect(number(monthsOn(a, total_months! + 1))).toBeGreaterThan(number(b));
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['0001-01-31', '0001-04-30', { total_months: 3, days_after_months: 0 }],
    ['2024-05-31', '2024-06-30', { total_months: 1, days_after_months: 0 }],
    ['2000-02-29', '2023-02-28', { years: 23, months: 0, days_after_months: 0 }],
    ['2024-01-31', '2024-03-30', { total_months: 1, days_after_months: 30 }],
    ['2024-03-31', '2024-02-29', { total_months: -1, days_after_months: 0 }],
    ['2024-06-30', '2024-05-31', { total_months: 0, days_after_months: -30 }],
    ['2024-03-15', '2023-01-10', { years: -1, months: -2, days_after_months: -5 }],
  ])('the months from %s to %s are those that date_add adds', (date1, date2, difference) => {
    expect(ask('date_diff', { date1, date2 })).toMatchObject(difference);
    const { total_months, days_after_months } = ask('date_diff', { date1, date2 }) as Record<string, number>;
    expect(ask('date_add', { base_date: date1, months: total_months, days: days_after_months })).toMatchObject({ date: date2 });
  });

  it('date_add counts days, stops at the end of a shorter month, and reports that', () => {
    fc.assert(
      fc.property(dates, fc.integer({ min: -3_000, max: 3_000 }), fc.integer({ min: -600, max: 600 }), (base, days, months) => {
        const moved = monthsOn(base, months);
        const result = number(moved) + days;
        fc.pre(moved.year > 10 && moved.year < 9_980);
        const found = ask('date_add', { base_date: iso(base), days, months }) as { date: string; clamped: boolean; weekday: string };
        expect(number(read(found.date))).toBe(result);
        expect(found.clamped).toBe(moved.day !== base.day);
        expect(found.weekday).toBe(weekdayNames[weekday(result)]);
      }),
      { numRuns: 60 },
    );
  });

  it('business days equal a count over every day, without holidays', () => {
    const span = fc.tuple(dates, fc.integer({ min: 0, max: 400 }), fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 5 }));
    fc.assert(
      fc.property(span, ([start, length, offsets]) => {
        fc.pre(start.year < 9_990);
        const dayAt = (days: number): string => (ask('date_add', { base_date: iso(start), days }) as { date: string }).date;
        const holidays = offsets.map(dayAt);
        const free = new Set(offsets);
        let walked = 0;
        for (let i = 0; i < length; i += 1) if (weekday(number(start) + i) < 5 && !free.has(i)) walked += 1;
        expect(ask('date_diff', { date1: iso(start), date2: dayAt(length), business_days: true, holidays })).toMatchObject({
          business_days: walked,
        });
      }),
      { numRuns: 20 },
    );
  });

  it('adding business days and counting them agree', () => {
    fc.assert(
      fc.property(dates, fc.integer({ min: 1, max: 2_000 }), (start, count) => {
        fc.pre(start.year < 9_900);
        const { date } = ask('date_add', { base_date: iso(start), business_days: count }) as { date: string };
        let [walked, at] = [0, number(start)];
        while (walked < count) if (weekday((at += 1)) < 5) walked += 1;
        expect(number(read(date))).toBe(at);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [1583, '1583-04-10'],
    [1818, '1818-03-22'],
    [1943, '1943-04-25'],
    [1999, '1999-04-04'],
    [2000, '2000-04-23'],
    [2008, '2008-03-23'],
    [2011, '2011-04-24'],
    [2024, '2024-03-31'],
    [2025, '2025-04-20'],
    [2026, '2026-04-05'],
    [2285, '2285-03-22'],
  ])('Easter of %i is %s', (year, easter) => expect(ask('calendar_facts', { year })).toMatchObject({ easter_sunday: easter }));

  it('calendar_facts knows the length of every year and its moveable holidays', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), (year) => {
        const facts = ask('calendar_facts', { year });
        expect(facts).toMatchObject({ leap_year: isLeap(year), days_in_year: isLeap(year) ? 366 : 365 });
        expect(facts.days_in_months).toEqual(Array.from({ length: 12 }, (_, i) => lengthOf(year, i + 1)));
        // A year has 53 weeks if it begins on a Thursday, or on a Wednesday and is a leap year.
        const first = weekday(dayNumber(year, 1, 1));
        expect(facts.iso_weeks_in_year).toBe(first === 3 || (first === 2 && isLeap(year)) ? 53 : 52);
      }),
      { numRuns: 40 },
    );
    expect(ask('calendar_facts', { year: 2024 }).german_holidays).toContainEqual({ date: '2024-05-09', name: 'Christi Himmelfahrt' });
  });

  it.each([
    ['2023-02-29', 'does not exist'],
    ['2024-04-31', 'does not exist'],
    ['03/04/2024', 'two readings'],
    ['today', 'no clock'],
    ['2024-02-01T10:00', 'without the time'],
    ['24-02-01', 'YYYY-MM-DD'],
    ['0000-01-01', 'years go from'],
    ['__proto__', 'YYYY-MM-DD'],
  ])('refuses the date %s and says what to write', (date, words) => {
    expect(refusalOf('day_of_week', { date_str: date })).toMatch(/^INVALID_ARGUMENT/);
    expect(refusalOf('day_of_week', { date_str: date })).toContain(words);
  });

  it('reports a sum outside the calendar', () => {
    expect(refusalOf('date_add', { base_date: '9999-12-31', days: 1 })).toContain('outside the years');
    expect(refusalOf('date_add', { base_date: '2024-01-01', years: 4_000_000 })).toContain('outside the years');
    expect(refusalOf('date_add', { base_date: '2024-01-01', days: 1e300 })).toMatch(/^INVALID_ARGUMENT/);
  });

  it('counts a month that ends earlier as whole, and reports that', () => {
    expect(ask('date_diff', { date1: '2024-01-31', date2: '2024-03-01' })).toMatchObject({
      months: 1,
      days_after_months: 1,
      note: expect.stringContaining('Day 31'),
    });
  });
});

describe('timezone_convert', () => {
  const convert = (datetime: string, from_timezone: string, to_timezone: string) =>
    ask('timezone_convert', { datetime, from_timezone, to_timezone });
  /** The same instant as the platform formats it. */
  const formatted = (instant: number, timeZone: string): string => {
    const parts = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }).formatToParts(instant);
    const part = (type: string): string => parts.find((one) => one.type === type)!.value;
    return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}`;
  };

  it("agrees with the platform's formatting of the instant", () => {
    const zones = [
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'America/St_Johns',
      'Pacific/Kiritimati',
      'UTC',
    ];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000_000 }), fc.constantFrom(...zones), (second, zone) => {
        const datetime = new Date(second * 1_000).toISOString().slice(0, 19);
        expect(convert(datetime, 'UTC', zone).to).toMatch(new RegExp(`^${formatted(second * 1_000, zone)}[+-]`));
      }),
      { numRuns: 40 },
    );
  });

  it('reports that a time occurs twice or never', () => {
    expect(convert('2024-10-27T02:30', 'Europe/Berlin', 'UTC')).toMatchObject({
      to: '2024-10-27T00:30:00+00:00',
      alternative_to: '2024-10-27T01:30:00+00:00',
      note: expect.stringContaining('twice'),
    });
    expect(convert('2024-03-31T02:30', 'Europe/Berlin', 'UTC')).toMatchObject({
      from: '2024-03-31T03:30:00+02:00',
      note: expect.stringContaining('does not exist'),
    });
  });

  it.each(['CST', 'Mars/Base', '+25:00', '../../etc/passwd', 'Europe/Berlin; x'])('refuses the zone %s', (zone) => {
    expect(refusalOf('timezone_convert', { datetime: '2024-01-01T00:00', from_timezone: zone, to_timezone: 'UTC' })).toContain('IANA');
  });
});

describe('dates as people write them', () => {
  it.each([
    ['May 3, 2019', '2019-05-03'],
    ['3 May 2019', '2019-05-03'],
    ['3rd of May 2019', '2019-05-03'],
    ['Sept. 9, 2001', '2001-09-09'],
    ['3. März 2021', '2021-03-03'],
    ['14 juillet 1998', '1998-07-14'],
    ['1er août 2010', '2010-08-01'],
    ['12 de octubre de 1992', '1992-10-12'],
    ['2019/5/3', '2019-05-03'],
  ])('%s is %s', (written, date) => expect(ask('day_of_week', { date_str: written })).toMatchObject({ date }));

  it.each(['03/05/2019', '3 Foo 2019', '31 April 2020', 'May 2019'])('%s is refused', (written) =>
    expect(refusalOf('day_of_week', { date_str: written })).toMatch(/^INVALID_ARGUMENT: .* (?:is not a date|does not exist)/),
  );

  it('reads an offset from UTC with its usual sign, unlike the names of Etc/GMT', () => {
    const at = { datetime: '2024-07-10T15:30', to_timezone: 'UTC' };
    expect(ask('timezone_convert', { ...at, from_timezone: 'UTC+2' })).toMatchObject({ to: '2024-07-10T13:30:00+00:00' });
    expect(ask('timezone_convert', { ...at, from_timezone: 'GMT-3:30' })).toMatchObject({ to: '2024-07-10T19:00:00+00:00' });
    expect(ask('timezone_convert', { ...at, from_timezone: 'Etc/GMT+2' })).toMatchObject({ to: '2024-07-10T17:30:00+00:00' });
  });
});
