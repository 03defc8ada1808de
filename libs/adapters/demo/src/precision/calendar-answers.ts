import type { CalendarCall } from './calendar.js';
import type { Language } from './numerals.js';
import { type Calculation, text, type ToolResult } from './calculation.js';

export const weekdays: Readonly<Record<Language, readonly string[]>> = {
  en: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  de: ['Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag', 'Sonntag'],
  fr: ['lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi', 'dimanche'],
  es: ['lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado', 'domingo'],
};
export const yesNo: Readonly<Record<Language, readonly [yes: string, no: string]>> = {
  en: ['Yes', 'No'],
  de: ['Ja', 'Nein'],
  fr: ['Oui', 'Non'],
  es: ['Sí', 'No'],
};
const spanWords: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: { days: 'days', weeks: 'weeks', months: 'months', years: 'years', 'work days': 'work days (Monday to Friday)' },
  de: { days: 'Tage', weeks: 'Wochen', months: 'Monate', years: 'Jahre', 'work days': 'Werktage (Montag bis Freitag)' },
  fr: { days: 'jours', weeks: 'semaines', months: 'mois', years: 'ans', 'work days': 'jours ouvrés (du lundi au vendredi)' },
  es: { days: 'días', weeks: 'semanas', months: 'meses', years: 'años', 'work days': 'días laborables (de lunes a viernes)' },
};

type CalendarAnswer = Pick<Calculation, 'args' | 'says'> & Partial<Pick<Calculation, 'fits'>>;

/** The arguments of a call about dates, and the sentence for its result in the language of the question. */
export function calendarCall(call: CalendarCall, language: Language, named: (weekday: string | null) => string): CalendarAnswer {
  switch (call.tool) {
    case 'day_of_week':
      return {
        args: { date_str: call.date },
        says: (result) => {
          const date = text(result, 'date');
          if (date === null) return null;
          if (call.asks === 'week') return `${date}: ${text(result, 'iso_week')} (ISO)`;
          return call.asks === 'day of year'
            ? `${date}: day ${text(result, 'day_of_year')} of the year`
            : `${date}: ${named(text(result, 'weekday'))}`;
        },
      };
    case 'date_diff':
      return {
        args: { date1: call.from, date2: call.to, business_days: call.asks === 'work days' },
        says: (result) => differenceSays(call, result, language),
      };
    case 'date_add': {
      const { date, many, unit } = call;
      return {
        args: { base_date: date, [unit]: many },
        says: (result) => {
          const found = text(result, 'date');
          const note = text(result, 'note');
          return found === null
            ? null
            : `${found}, ${named(text(result, 'weekday'))}${note === null ? '' : ` (${note.replace(/\.$/, '')})`}`;
        },
      };
    }
    case 'calendar_facts':
      return {
        args: { year: call.year },
        fits: (result) => result['year'] === call.year,
        says: (result) => yearSays(call, result, language),
      };
    case 'timezone_convert': {
      const plain = (time: string | null): string | null =>
        time
          ?.replace('T', ' ')
          .replace(/:\d{2}(?=[+-])/, ' (UTC')
          .concat(')') ?? null;
      return {
        args: { datetime: call.at, from_timezone: call.from, to_timezone: call.to },
        fits: (result) => text(result, 'from')?.startsWith(call.at) ?? false,
        says: (result) => {
          const to = plain(text(result, 'to'));
          const note = text(result, 'note');
          return to === null
            ? null
            : `${call.at.replace('T', ' ')} ${call.from} = ${to} ${call.to}${note === null ? '' : `; ${note.replace(/\.$/, '')}`}`;
        },
      };
    }
  }
}

function differenceSays(call: Extract<CalendarCall, { tool: 'date_diff' }>, result: ToolResult, language: Language): string | null {
  const number = (key: string): number => (typeof result[key] === 'number' ? result[key] : NaN);
  const [from, to] = [text(result, 'date1'), text(result, 'date2')];
  const words = spanWords[language];
  const span = `${from} – ${to}: `;
  switch (call.asks) {
    case 'days':
      return `${span}${number(call.inclusive ? 'days_inclusive' : 'days')} ${words['days']}`;
    case 'work days': {
      const last = call.inclusive && !/^(?:Saturday|Sunday)$/.test(text(result, 'weekday2') ?? '') ? 1 : 0;
      return `${span}${number('business_days') + last} ${words['work days']}`;
    }
    case 'weeks': {
      const rest = number('remaining_days');
      return `${span}${number('weeks')} ${words['weeks']}${rest === 0 ? '' : ` + ${rest} ${words['days']}`}`;
    }
    case 'months': {
      const rest = number('days_after_months');
      return `${span}${number('total_months')} ${words['months']}${rest === 0 ? '' : ` + ${rest} ${words['days']}`}`;
    }
    case 'years':
    case 'age': {
      const [months, days] = [number('months'), number('days_after_months')];
      const rest = [months === 0 ? '' : ` + ${months} ${words['months']}`, days === 0 ? '' : ` + ${days} ${words['days']}`].join('');
      return `${span}${number('years')} ${words['years']}${call.asks === 'age' ? '' : rest}`;
    }
  }
}

function yearSays(call: Extract<CalendarCall, { tool: 'calendar_facts' }>, result: ToolResult, language: Language): string | null {
  if (call.asks === 'leap year') {
    const is = result['leap_year'];
    return typeof is === 'boolean' ? `${yesNo[language][is ? 0 : 1]}: ${call.year} ${leapWords[language][is ? 0 : 1]}` : null;
  }
  if (call.asks === 'easter') return text(result, 'easter_sunday');
  if (call.asks === 'weeks') return `${call.year}: ${text(result, 'iso_weeks_in_year')} ${spanWords[language]['weeks']} (ISO)`;
  const months = result['days_in_months'];
  const many =
    call.month === undefined ? result['days_in_year'] : Array.isArray(months) ? (months as unknown[])[call.month - 1] : undefined;
  const when = call.month === undefined ? String(call.year) : `${call.year}-${String(call.month).padStart(2, '0')}`;
  return typeof many === 'number' ? `${when}: ${many} ${spanWords[language]['days']}` : null;
}
const leapWords: Readonly<Record<Language, readonly [yes: string, no: string]>> = {
  en: ['is a leap year', 'is not a leap year'],
  de: ['ist ein Schaltjahr', 'ist kein Schaltjahr'],
  fr: ['est une année bissextile', "n'est pas une année bissextile"],
  es: ['es un año bisiesto', 'no es un año bisiesto'],
};
