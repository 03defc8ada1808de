import { languageIn, plainNumbers } from './numerals.js';

/** A question about dates in the form that the date tools accept. */
export type CalendarCall =
  | { readonly tool: 'day_of_week'; readonly date: string; readonly asks: 'weekday' | 'week' | 'day of year' }
  | {
      readonly tool: 'date_diff';
      readonly from: string;
      readonly to: string;
      readonly asks: 'days' | 'weeks' | 'months' | 'years' | 'work days' | 'age';
      readonly inclusive: boolean;
    }
  | {
      readonly tool: 'date_add';
      readonly date: string;
      readonly many: number;
      readonly unit: 'days' | 'weeks' | 'months' | 'years' | 'business_days';
    }
  | {
      readonly tool: 'calendar_facts';
      readonly year: number;
      readonly asks: 'leap year' | 'easter' | 'days' | 'weeks';
      readonly month?: number;
    }
  | { readonly tool: 'timezone_convert'; readonly at: string; readonly from: string; readonly to: string };

const monthNames =
  'january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|' +
  'januar|jänner|februar|märz|mai|juni|juli|oktober|dezember|okt|dez|' +
  'janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|' +
  'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre';
const months: readonly string[] = [
  'jan|ene',
  'feb|fév',
  'mar|mär',
  'apr|avr|abr',
  'may|mai',
  'jun|juin',
  'jul|juil',
  'aug|aoû|ago',
  'sep|set',
  'oct|okt',
  'nov',
  'dec|dez|déc|dic',
];
const monthOf = (name: string): number => months.findIndex((starts) => new RegExp(`^(?:${starts})`, 'iu').test(name)) + 1;

const date = new RegExp(
  [
    String.raw`\d{4}-\d{2}-\d{2}`,
    String.raw`\d{4}\/\d{1,2}\/\d{1,2}`,
    String.raw`\d{1,2}\.\s?\d{1,2}\.\s?\d{4}`,
    String.raw`\d{1,2}(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?(?:${monthNames})\.?,?\s+(?:de\s+|del\s+)?\d{4}`,
    String.raw`(?:${monthNames})\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}`,
  ]
    .map((form) => `(?:${form})`)
    .join('|'),
  'giu',
);
/** Weekdays before a date, which add nothing. */
const weekday =
  /(?<!\p{L})(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag),?\s+(?:the\s+|den\s+)?(?=@)/giu;

/** Whether a text without its punctuation matches the pattern. */
const onlySays = (text: string, pattern: RegExp): boolean =>
  pattern.test(
    text
      .replace(/[?!.,;:¿¡]/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
const d = '@\\d@';
const small =
  '(?:the |is |was |on |it |of |a |an |in |are |there |will |be |did |does |do |fall |falls |days? |date |that |this |please |me |tell |for |you |can |know |hi |hello )*';
const exactly = (...forms: readonly string[]): RegExp => new RegExp(`^(?:${forms.join('|')})$`, 'iu');

const weekdayForms = exactly(
  `${small}(?:what|which) (?:day of the week|weekday|day) ${small}(?:the )?${d}(?: fall on| fall| be| on)?`,
  `${small}on (?:what|which) (?:day of the week|weekday|day) ${small}${d}(?: fall| fall on)?`,
  `${small}(?:what|which) (?:day of the week|weekday|day) ${small}${d}`,
  `(?:weekday|day of the week) (?:of |for )?${d}`,
  `(?:welcher|was für ein|auf welchen) (?:wochentag|tag) (?:war |ist |fällt |fiel |wird |sein )*(?:am |der |den )*${d}(?: gewesen| sein)?`,
  `(?:quel|c'était quel) jour (?:de la semaine )?(?:était|est|sera|tombe|tombait|etait)(?:-on| on)? (?:le )?${d}`,
  `(?:qué|que) día (?:de la semana )?(?:fue|es|será|era|cae|cayó) (?:el )?${d}`,
);
const weekForms = exactly(
  `${small}(?:in )?(?:what|which) (?:iso |calendar )?week(?: number| of the year)? ${small}${d}`,
  `(?:in )?(?:welche|welcher) (?:kalenderwoche|kw|woche) (?:ist |war |liegt |fällt )*(?:am |der |den )*${d}`,
  `(?:iso |calendar )?week(?: number)? (?:of|for) ${d}`,
);
const dayOfYearForms = exactly(`${small}(?:what|which) day of the year ${small}${d}`, `${small}what number day of the year ${small}${d}`);

const spans = [
  {
    asks: 'work days',
    pattern:
      '(?:business days|working days|work days|workdays|weekdays|arbeitstage|werktage|jours ouvrés|jours ouvrables|días laborables|días hábiles)',
  },
  { asks: 'days', pattern: '(?:days|tage|jours|días|dias)' },
  { asks: 'weeks', pattern: '(?:weeks|wochen|semaines|semanas)' },
  { asks: 'months', pattern: '(?:months|monate|mois|meses)' },
  { asks: 'years', pattern: '(?:years|jahre|ans|années|años)' },
] as const;
const lead = '(?:how many|number of|wie ?viele|combien de|cuántos|cuantos|cuántas)';
const middle =
  '(?: full| whole| complete)?(?: are there| are| is it| lie| liegen| passed| have passed| elapsed| went by| sind es| sind| vergingen| vergehen| y a-t-il| il y a| hay| han pasado| pasan)?';
const range = `(?:from|between|von|zwischen|vom|entre|du|de|desde)? ?(?:the |dem |den |el |le )?${d} (?:to|and|until|till|through|und|bis|bis zum|et|au|y|al|a|hasta) (?:the |dem |den |el |le )?${d}`;
const counted = spans.map(({ asks, pattern }) => ({
  asks,
  form: exactly(
    `${lead} ${pattern}${middle} ${range}(?: inclusive| inclusively| including both(?: days)?| exclusive)?`,
    `${lead} ${pattern} ${range} (?:are there|sind es|hay)`,
  ),
}));
const ageForms = exactly(
  `how old (?:is|was|will be|would be|were|be) (?:someone|somebody|a person|a man|a woman|a child|he|she|who is|who was|that is|that was|i|you|they|will|be| )*(?:who was |who is )?(?:born (?:on )?)${d} (?:on|at|in|as of|by) ${d}`,
  `(?:if )?(?:someone|i|a person|he|she|they|you)?(?: was| were| is| am)? ?born (?:on )?${d} how old (?:is|was|am|are|were|will|would|he|she|i|they|you|be| )+(?:on|at) ${d}`,
  `wie alt (?:ist|war|wäre) (?:jemand|eine person|man)? ?(?:der |die )?(?:am )?${d} (?:geboren(?: wurde| ist)? )?(?:am )?${d}`,
);
const units: Readonly<Record<string, 'days' | 'weeks' | 'months' | 'years' | 'business_days'>> = {
  ...Object.fromEntries(
    ['day', 'days', 'tag', 'tage', 'tagen', 'jour', 'jours', 'día', 'días', 'dia', 'dias'].map((word) => [word, 'days']),
  ),
  ...Object.fromEntries(['week', 'weeks', 'woche', 'wochen', 'semaine', 'semaines', 'semana', 'semanas'].map((word) => [word, 'weeks'])),
  ...Object.fromEntries(['month', 'months', 'monat', 'monate', 'monaten', 'mois', 'mes', 'meses'].map((word) => [word, 'months'])),
  ...Object.fromEntries(
    ['year', 'years', 'jahr', 'jahre', 'jahren', 'an', 'ans', 'année', 'années', 'año', 'años'].map((word) => [word, 'years']),
  ),
  ...Object.fromEntries(
    ['business days', 'working days', 'work days', 'workdays', 'business day', 'working day', 'arbeitstage', 'werktage'].map((word) => [
      word,
      'business_days',
    ]),
  ),
};
const unit = Object.keys(units)
  .sort((a, b) => b.length - a.length)
  .join('|');
const asksDate = `(?:was|what|(?:what|which) (?:date|day|is the date|will the date be|date will it be|date is it|date falls|day is it|day comes)|was für ein datum|welches datum|welcher tag|wann|when|quelle date|quel jour|qué fecha|qué día)?(?: (?:is|was|will be|it|ist|war|est|sera|tombe|es|será|cae|liegt|comes|falls|that|date|the))*`;
const addForms = new RegExp(
  `^${asksDate} ?(?:exactly )?(\\d{1,5}) (${unit}) (after|from|before|prior to|since|later than|nach|vor|ab|après|avant|después de|después del|antes de|antes del|past|following) (?:the )?(?:dem |den |el |le )?${d}(?: ist| war)?$`,
  'iu',
);
const plusForms = new RegExp(`^${asksDate} ?(?:the )?${d} ?(plus|minus|\\+|-) (\\d{1,5}) (${unit})$`, 'iu');
const addVerb = new RegExp(`^(?:add|subtract) (\\d{1,5}) (${unit}) (?:to|from) (?:the )?${d}$`, 'iu');

const year = "(?:the year |das jahr |l'année |el año |im jahr |jahr )?(\\d{4})";
const leapForms = exactly(
  `(?:is|was|will) ${year}(?: be)? (?:a )?leap[- ]?year`,
  `(?:ist|war|wird) ${year} (?:ein )?schaltjahr`,
  `(?:est-ce que |l'an )?${year} (?:est|était|est-elle|était-elle)(?: une)?(?: année)? bissextile`,
  `(?:est-ce que )?${year} (?:est|était)-elle bissextile`,
  `(?:es|fue|será) ${year} (?:un año )?bisiesto`,
  `(?:fue|es) bisiesto (?:el año )?${year}`,
);
const easterForms = exactly(
  `(?:when|what date|on what date|on which date|what day) (?:is|was|will|does|did|be|fall|date of| )*(?:easter(?: sunday)?)(?: be| fall| falls)?(?: on)? (?:in )?(?:the year )?(\\d{4})`,
  `(?:date of )?easter(?: sunday)? (?:in |of )?(\\d{4})`,
  `wann (?:ist|war|fällt) (?:ostern|ostersonntag) (?:im jahr |in )?(\\d{4})`,
  `(?:quelle est la date de|quand est|quand était|quand tombe) pâques (?:en )?(\\d{4})`,
  `cuándo (?:es|fue|cae|será) (?:la )?pascua (?:en |de )?(\\d{4})`,
);
const daysInForms = new RegExp(
  `^(?:how many days|wie ?viele tage|combien de jours|cuántos días) (?:does |did |are there |are |is |will |hat |hatte |hat der |y a-t-il |il y a |tiene |hay |has )*(?:in |en |im |der |der monat )*(?:the (?:month|year) (?:of )?|year |das jahr |jahr |l'année |el año )?(?:(${monthNames}) (?:of |in |de |en )?(?:the year )?)?(\\d{4})(?: have| has)?$`,
  'iu',
);
const weeksInForms = exactly(
  `how many (?:iso |calendar )?weeks (?:does |are there in |are in |in |did |has )*(?:the year )?(\\d{4})(?: have)?`,
  `wie ?viele (?:kalender)?wochen hat(?: das jahr)? (\\d{4})`,
);

/** The call that a question about dates asks for; null for any other question, and if a date has two readings. */
export function calendarIn(question: string): CalendarCall | null {
  if (question.length > 160) return null;
  const dates: string[] = [];
  const marked = question.replace(date, (found) => `@${dates.push(found.trim()) - 1}@`).replace(weekday, '');
  if (dates.length > 2) return null;
  const text = plainNumbers(marked, languageIn(question)).normalize('NFC');
  const says = (pattern: RegExp): boolean => onlySays(text, pattern);
  const [first, second] = dates as [string?, string?];
  const zone = zonesIn(text, dates);
  if (zone) return zone;
  if (dates.length === 1 && first) {
    if (says(weekForms)) return { tool: 'day_of_week', date: first, asks: 'week' };
    if (says(dayOfYearForms)) return { tool: 'day_of_week', date: first, asks: 'day of year' };
    if (says(weekdayForms)) return { tool: 'day_of_week', date: first, asks: 'weekday' };
    return added(text, first);
  }
  if (first && second) {
    for (const { asks, form } of counted)
      if (says(form)) return { tool: 'date_diff', from: first, to: second, asks, inclusive: /inclusiv|including both/i.test(text) };
    return says(ageForms) ? { tool: 'date_diff', from: first, to: second, asks: 'age', inclusive: false } : null;
  }
  return ofYear(text);
}

function added(text: string, of: string): CalendarCall | null {
  const plain = text
    .replace(/[?!.,;:¿¡]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const [, many, named, side] = addForms.exec(plain) ?? [];
  const back = /^(?:before|prior to|vor|avant|antes)/i;
  if (many && named && side)
    return { tool: 'date_add', date: of, many: Number(many) * (back.test(side) ? -1 : 1), unit: units[named.toLowerCase()]! };
  const [, sign, more, called] = plusForms.exec(plain) ?? [];
  if (sign && more && called)
    return { tool: 'date_add', date: of, many: Number(more) * (/^(?:minus|-)$/i.test(sign) ? -1 : 1), unit: units[called.toLowerCase()]! };
  const [, sum, word] = addVerb.exec(plain) ?? [];
  return sum && word
    ? { tool: 'date_add', date: of, many: Number(sum) * (/^subtract/i.test(plain) ? -1 : 1), unit: units[word.toLowerCase()]! }
    : null;
}

function ofYear(text: string): CalendarCall | null {
  const plain = text
    .replace(/[?!.,;:¿¡]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const yearIn = (pattern: RegExp): number | null => {
    const found = pattern
      .exec(plain)
      ?.slice(1)
      .find((part) => /^\d{4}$/.test(part ?? ''));
    return found === undefined ? null : Number(found);
  };
  for (const [asks, pattern] of [
    ['leap year', leapForms],
    ['easter', easterForms],
    ['weeks', weeksInForms],
  ] as const) {
    const found = yearIn(pattern);
    if (found !== null) return { tool: 'calendar_facts', year: found, asks };
  }
  const [, month, of] = daysInForms.exec(plain) ?? [];
  return of ? { tool: 'calendar_facts', year: Number(of), asks: 'days', ...(month ? { month: monthOf(month) } : {}) } : null;
}

/** Cities whose name is not part of a time zone's name. */
const cities: Readonly<Record<string, string>> = {
  'new york city': 'America/New_York',
  nyc: 'America/New_York',
  washington: 'America/New_York',
  boston: 'America/New_York',
  miami: 'America/New_York',
  'san francisco': 'America/Los_Angeles',
  seattle: 'America/Los_Angeles',
  beijing: 'Asia/Shanghai',
  peking: 'Asia/Shanghai',
  mumbai: 'Asia/Kolkata',
  delhi: 'Asia/Kolkata',
  'new delhi': 'Asia/Kolkata',
  bangalore: 'Asia/Kolkata',
  osaka: 'Asia/Tokyo',
  munich: 'Europe/Berlin',
  münchen: 'Europe/Berlin',
  hamburg: 'Europe/Berlin',
  frankfurt: 'Europe/Berlin',
  cologne: 'Europe/Berlin',
  geneva: 'Europe/Zurich',
  milan: 'Europe/Rome',
  barcelona: 'Europe/Madrid',
  wien: 'Europe/Vienna',
  rom: 'Europe/Rome',
  moskau: 'Europe/Moscow',
  tokio: 'Asia/Tokyo',
  singapur: 'Asia/Singapore',
  tokyo: 'Asia/Tokyo',
  londres: 'Europe/London',
  utc: 'UTC',
  gmt: 'UTC',
};
let zones: ReadonlyMap<string, string> | null = null;
/** Time zone of a city; null where none is known by this name. */
function zoneOf(place: string): string | null {
  zones ??= new Map([
    ...Intl.supportedValuesOf('timeZone')
      .filter((name) => name.includes('/'))
      .map((name): [string, string] => [name.split('/').at(-1)!.replaceAll('_', ' ').toLowerCase(), name]),
    ...Object.entries(cities),
  ]);
  const name = place.trim().toLowerCase();
  return zones.get(name) ?? (/^[a-z]+\/[a-z_]+$/i.test(place.trim()) ? place.trim() : null);
}

const clock = String.raw`(\d{1,2})(?:[:.h](\d{2}))?\s*(a\.?m\.?|p\.?m\.?|uhr|o['’]clock|h)?`;
const place = String.raw`([\p{L}][\p{L} /_]*?)`;
const zoneForms: readonly RegExp[] = [
  // "9 am in New York on @0@: what time is it in London?"
  new RegExp(
    String.raw`^(?:if |when |wenn )?(?:it is |it's |its |es ist |es )?${clock} (?:time )?(?:in|at) ${place}(?: time)?,?(?: ist)?,? (?:on |am )?@0@(?: ist)?,? (?:then )?(?:what time is it|what(?:'s| is) the time|what time will it be|what time would it be|what time is that|wie spät ist es(?: dann)?|wie viel uhr ist es) (?:then )?in ${place}[\s?.]*$`,
    'iu',
  ),
  new RegExp(
    String.raw`^(?:if |when )?(?:it is |it's |its )?(?:on )?@0@,? (?:at )?${clock} (?:in|at) ${place}(?: time)?,? what time (?:is it|will it be|is that|would it be) in ${place}[\s?.]*$`,
    'iu',
  ),
  new RegExp(String.raw`^what (?:time )?is ${clock} ${place} time (?:on @0@ )?in ${place}(?: on @0@)?[\s?.]*$`, 'iu'),
  new RegExp(
    String.raw`^(?:convert |what is )?${clock} (?:in |at )?${place}(?: time)? (?:on @0@ )(?:to|in|into) ${place}(?: time)?[\s?.]*$`,
    'iu',
  ),
  new RegExp(
    String.raw`^(?:convert |what is )?${clock} (?:in |at )?${place}(?: time)? (?:to|in|into) ${place}(?: time)? on @0@[\s?.]*$`,
    'iu',
  ),
  new RegExp(String.raw`^what time is it in ${place} (?:when|if) (?:it is|it's) ${clock} in ${place} on @0@[\s?.]*$`, 'iu'),
];

function zonesIn(text: string, dates: readonly string[]): CalendarCall | null {
  if (dates.length !== 1) return null;
  const plain = text
    .replace(/[?!;,¿¡]|[.:](?=\s|$)/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  for (const [at, form] of zoneForms.entries()) {
    const found = form.exec(plain);
    if (!found) continue;
    const asked = at === zoneForms.length - 1;
    const [hour, minute, half, here, there] = asked ? [found[2], found[3], found[4], found[5], found[1]] : found.slice(1);
    const [from, to] = [zoneOf(here ?? ''), zoneOf(there ?? '')];
    const time = clockTime(Number(hour), Number(minute ?? 0), half);
    const day = isoOf(dates[0]!);
    if (from && to && time && day) return { tool: 'timezone_convert', at: `${day}T${time}`, from, to };
  }
  return null;
}

function clockTime(hour: number, minute: number, half: string | undefined): string | null {
  const afternoon = /^p/i.test(half ?? '');
  const morning = /^a/i.test(half ?? '');
  if ((afternoon || morning) && (hour < 1 || hour > 12)) return null;
  const at = afternoon ? (hour % 12) + 12 : morning ? hour % 12 : hour;
  return at > 23 || minute > 59 ? null : `${String(at).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

/** The date as YYYY-MM-DD, which the tool for time zones requires. */
function isoOf(written: string): string | null {
  const [, y, m, n] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(written) ?? [];
  const pad = (part: string): string => part.padStart(2, '0');
  if (y && m && n) return `${y}-${pad(m)}-${pad(n)}`;
  const [, dd, mm, yy] = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(written) ?? [];
  if (dd && mm && yy) return `${yy}-${pad(mm)}-${pad(dd)}`;
  const name = new RegExp(`(?<!\\p{L})(?:${monthNames})(?!\\p{L})`, 'iu').exec(written)?.[0];
  const [small, large] = [/(?<!\d)\d{1,2}(?!\d)/.exec(written)?.[0], /\d{4}/.exec(written)?.[0]];
  return name && small && large ? `${large}-${pad(String(monthOf(name)))}-${pad(small)}` : null;
}
