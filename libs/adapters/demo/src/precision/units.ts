import units from '../assets/units.json' with { type: 'json' };
import { languageIn, plainNumbers } from './numerals.js';

/** A conversion in the form that the tool for units accepts. */
export interface Conversion {
  readonly value: string;
  readonly from_unit: string;
  readonly to_unit: string;
}

/** Symbols that are units as they are written; capitals count. */
const symbols: ReadonlySet<string> = new Set([
  ...Object.keys(units),
  ...'psi Torr eV MJ GJ Wh MWh GW MW mW mA kA A V kV mV Hz kHz MHz GHz kN hPa MPa mbar dB mol lm kbit Gbit Gbit/s kbit/s MB/s GB/s kB/s PB µg ug hl dm dm^3 mpg l/100km L mL °'.split(
    ' ',
  ),
]);
const named = new Map<string, string>(
  Object.entries(units).flatMap(([symbol, names]) => names.split(' ').map((name): [string, string] => [name.toLowerCase(), symbol])),
);

/** Words of a question that asks for a conversion. Any other word means that it asks for something else. */
const frame: ReadonlySet<string> = new Set(
  (
    "how many much is are there in to into as do does make makes equal equals convert converted change express a an the one what whats what's please " +
    'can you tell me give of and it s would be correspond corresponds for hi hello exactly approximately about us (us) conversion ' +
    'wie viel viele wieviel wieviele sind ist hat haben in nach ein eine einen einer einem der die das rechne um umgerechnet umrechnen wandle konvertiere bitte entsprechen entspricht was ' +
    "combien de d' dans font fait il y a t un une en le la les est vaut valent convertis convertir à quoi " +
    'cuántos cuántas cuanto cuantos cuánto hay son es equivalen equivale un una en el la los a convierte convertir qué por favor'
  ).split(' '),
);
/** Words that mean one of the unit after them. */
const articles: ReadonlySet<string> = new Set('a an one per ein eine einem einer einen un une una'.split(' '));
/** Words before the unit that is asked for, as in "how many seconds". */
const isAsked = /^(?:many|viele|wieviele|combien|cuántos|cuántas|cuantos|cuantas|de|d')$/;

/** How many of the smaller unit make one of the larger, so that 5 ft 11 in is read as one amount. */
const within: Readonly<Record<string, readonly [smaller: string, many: number]>> = {
  ft: ['in', 12],
  lb: ['oz', 16],
  st: ['lb', 14],
  h: ['min', 60],
  min: ['s', 60],
  m: ['cm', 100],
  kg: ['g', 1000],
  km: ['m', 1000],
  d: ['h', 24],
  week: ['d', 7],
  yd: ['ft', 3],
};

interface Word {
  readonly text: string;
  readonly number?: string;
  readonly unit?: string;
}

/** Words that are units only in Spanish or French. */
const foreign: ReadonlySet<string> = new Set(['pie', 'pies', 'once', 'onces']);

const known = (text: string): string | null => (symbols.has(text) ? text : (named.get(text.toLowerCase()) ?? null));

/** Splits a text into numbers, units of up to three words, and other words. */
function wordsOf(text: string): readonly Word[] {
  const pieces =
    text
      .replace(/(\d+)\s*['′]\s*(\d+)\s*(?:["″]|'')/g, '$1 ft $2 inches')
      .replace(/(?<=\d)["″]/g, ' inches')
      // "6 foot 3" leaves out the inches.
      .replace(/(\d+\s*(?:ft|foot|feet)\s+\d{1,2})(?=\s+(?:in|to|into)\s+\p{L}{2,}|\s*$)/giu, '$1 inches')
      .replace(/(?<=\d)(?=[\p{L}°µ])(?![eE][+-]?\d)/gu, ' ')
      .replace(/l\/100 km/gi, 'l/100km')
      .match(/-?\d+(?:\.\d+)?(?:\/\d+)?(?:[eE][+-]?\d+)?(?![\d.])|[\p{L}°℃℉µ][\p{L}\p{N}°²³^/'’-]*|\S/gu) ?? [];
  const words: Word[] = [];
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (/^-?\d/.test(piece)) {
      words.push({ text: piece, number: piece });
      continue;
    }
    let taken = 0;
    for (let many = Math.min(3, pieces.length - at); many > 0 && taken === 0; many -= 1) {
      const joined = pieces.slice(at, at + many).join('_');
      const symbol =
        known(joined) ??
        (many === 2 && /^°_[CF]$/.test(joined) ? joined.replace('_', '') : null) ??
        (many === 2 && pieces[at] === '°' ? known(`°${pieces[at + 1]!.slice(0, 1).toUpperCase()}`) : null);
      if (symbol === null) continue;
      // "in" means the inch after a number unless a unit follows; otherwise it is the preposition.
      if (
        symbol === 'in' &&
        piece.toLowerCase() === 'in' &&
        !(words.at(-1)?.number !== undefined && (/^(?:in|to|into|as)$/i.test(pieces[at + 1] ?? '') || !isUnitNext(pieces, at + 1)))
      )
        continue;
      // A single letter is a unit after a number, or after a preposition such as "in".
      if (
        /^[a-z]$/i.test(piece) &&
        many === 1 &&
        words.at(-1)?.number === undefined &&
        !/^(?:in|to|into|nach|en)$/i.test(words.at(-1)?.text ?? '')
      )
        continue;
      words.push({ text: joined, unit: symbol });
      taken = many;
    }
    if (taken > 0) at += taken - 1;
    else words.push({ text: piece });
  }
  return words;
}

const isUnitNext = (pieces: readonly string[], at: number): boolean =>
  [1, 2, 3].some((many) => at + many <= pieces.length && known(pieces.slice(at, at + many).join('_')) !== null);

/** The conversion that a question asks for; null for any other question. */
export function conversionIn(question: string): Conversion | null {
  if (question.length > 200) return null;
  const language = languageIn(question);
  if (language === 'en' && [...foreign].some((word) => new RegExp(`\\b${word}\\b`, 'i').test(question))) return null;
  const plain = plainNumbers(question.replace(/\((us|uk|imperial)\)/giu, ' '), language)
    .replace(
      /(?<![\d./])(\d{1,6})\s+(\d{1,3})\/(\d{1,3})(?!\d)/g,
      (_all, whole: string, above: string, below: string) => `${Number(whole) * Number(below) + Number(above)}/${below}`,
    )
    .replace(/(?<=\d)\s+and a (half|quarter)(?!\p{L})/giu, (_all, part: string) => (part === 'half' ? '.5' : '.25'))
    .replace(/(?<![\p{L}\p{N}])(?:half a|a half)(?![\p{L}\p{N}])/giu, '0.5')
    .replace(/(?<![\p{L}\p{N}])(?:a quarter(?: of an?)?|quarter of an?)(?![\p{L}\p{N}])/giu, '0.25');
  const words = wordsOf(plain.replace(/[?!¿¡.,:=]+(?=\s|$)|^[¿¡]/gu, ' ').replace(/°\s+(?=[CF]\b)/g, '°'));
  if (words.some(({ number, unit, text }) => number === undefined && unit === undefined && !frame.has(text.toLowerCase()))) return null;
  const amounts: { number: string; unit: string }[] = [];
  const bare: { unit: string; asked: boolean; one: boolean }[] = [];
  for (const [at, { number, unit }] of words.entries()) {
    const next = words[at + 1];
    if (number !== undefined) {
      if (next?.unit === undefined) return null;
      amounts.push({ number, unit: next.unit });
    } else if (unit !== undefined && words[at - 1]?.number === undefined) {
      const before = words[at - 1]?.text.toLowerCase() ?? '';
      bare.push({ unit, asked: isAsked.test(before), one: articles.has(before) });
    }
  }
  // "How many seconds are in a week": one week.
  const single = amounts.length === 0 && bare.length === 2 ? bare.find(({ one, asked }) => one && !asked) : undefined;
  const amount = single ? { number: '1', unit: single.unit } : together(amounts);
  const targets = bare.filter((one) => one !== single);
  if (!amount || targets.length !== 1 || (targets[0]!.unit === amount.unit && amounts.length < 2)) return null;
  return { value: amount.number, from_unit: amount.unit, to_unit: targets[0]!.unit };
}

/** Adds amounts such as 5 ft 11 in, in the smaller unit; null if they do not form one amount. */
function together(
  amounts: readonly { readonly number: string; readonly unit: string }[],
): { readonly number: string; readonly unit: string } | null {
  const [first, ...others] = amounts;
  if (!first) return null;
  let sum = first;
  for (const { number, unit } of others) {
    const [smaller, many] = within[sum.unit] ?? [];
    if (smaller !== unit || many === undefined || !/^\d+$/.test(sum.number) || !/^\d+(?:\.\d+)?$/.test(number)) return null;
    const [whole, part] = number.split('.') as [string, string?];
    sum = { number: `${BigInt(sum.number) * BigInt(many) + BigInt(whole)}${part === undefined ? '' : `.${part}`}`, unit };
  }
  return sum;
}

/** The unit that "and in feet?" asks the same amount in; null for any other text. */
export function furtherUnit(text: string): string | null {
  const said = /^(?:and|und|et|y|what about|how about|now|ok,?|then|or|oder)?[\s,]*(?:in|to|into|as|nach|en|a)\s+(.+?)\s*[?.!]*$/iu.exec(
    text.trim(),
  )?.[1];
  return said === undefined ? null : known(said.replace(/\s+/g, '_'));
}
