import { plainCharacters } from '@conclave/loop';
import { grammarOf, isGrammar } from './lexicon.js';
import type { Language } from './language.js';
import { literalPattern } from './normalise.js';
import { canonicalDigits, monthOf, unitOf, valueOfWord } from './numbers.js';

export interface ComparedToken {
  readonly kind: 'word' | 'number' | 'date' | 'identifier' | 'operator';
  /** As written. */
  readonly text: string;
  /** Compared value: lower case for words, one spelling for numbers, `y-m-d` with blanks for dates. */
  readonly value: string;
  /** Capitalised although the position does not require it: a name, or in German any noun. */
  readonly isCapital: boolean;
  /** The nearest grammatical word before it, except articles: its role. */
  readonly role: string;
}

/** One text, parsed for comparison. */
export interface ComparedText {
  readonly language: Language | null;
  /** Contents of quotes and code, trimmed but otherwise unchanged. */
  readonly literals: readonly string[];
  readonly tokens: readonly ComparedToken[];
  /** The text without its literals, lower case, blanks collapsed. */
  readonly prose: string;
}

const tokenPattern =
  /(?<link>https?:\/\/\S+|[\w.+-]+@[\w-]+\.[\w.-]+)|(?<iso>\d{4}-\d{1,2}-\d{1,2}(?!\d))|(?<dotted>\d{1,2}\.\d{1,2}\.\d{4}(?!\d))|(?<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m(?![\p{L}])\.?)|(?<identifier>(?=[\p{L}\d_./-]*\d)(?=[\w./-]*\p{L})[\p{L}\d_]+(?:[./_-][\p{L}\d_]+)*|\p{L}+[_/\\][\w/\\.]+|\d+(?:[./]\d+){2,}|\p{Ll}+\p{Lu}\p{L}*|[\p{L}]+\.\p{L}{2,}|(?<![\p{L}\d])\p{Lu}(?:\+\+|#)|[$@#]\p{L}[\w-]*)|(?<number>(?<![\p{L}\d)])-?\d[\d.,]*(?:(?<=\d)[ _']\d{3}(?!\d))*)|(?<word>[\p{L}\p{M}]+(?:['’]\p{L}+)?)|(?<operator>[-+*/^=<>%‰$€£¥°!&|~§])/gu;

/** "5km" and "20k" are a number and a word. */
const glued = /^(\d[\d.,]*)([\p{L}°]{1,4})$/u;

/** The language that more grammatical words of a text belong to, of its first `mostWords` words. */
export function languageOf(text: string, mostWords = Number.POSITIVE_INFINITY): Language | null {
  const words = (text.toLowerCase().match(/[\p{L}']+/gu) ?? []).slice(0, mostWords);
  let en = 0;
  let de = 0;
  for (const word of words) {
    if (grammarOf.en.has(word) && !grammarOf.de.has(word)) en += 1;
    if (grammarOf.de.has(word) && !grammarOf.en.has(word)) de += 1;
  }
  return en === de ? null : en > de ? 'en' : 'de';
}

/** Words that are not grammar but define the role of the next word. */
const governs = new Set(['without', 'except', 'neither', 'ohne', 'außer', 'weder', 'gegen', 'against']);

/** "Without being asked": the role stays that of "without". */
const keepsGoverned = new Set(['being', 'having', 'any', 'to', 'zu']);

const articles = new Set(
  'a an the der die das den dem des ein eine einen einem einer eines my your our mein meine meinen dein deine unser unsere'.split(' '),
);

export function readQuestion(text: string): ComparedText {
  const literals = [...text.matchAll(literalPattern)].map(([literal]) => literal.replace(/^(?:```\w*\n?|.)|(?:```|.)$/gsu, '').trim());
  const plain = plainCharacters(text.replace(literalPattern, ' ⌀ ')).replace(/\s+/gu, ' ').trim();
  const language = languageOf(plain, 200);
  const isShouted = !/\p{Ll}/u.test(plain);
  const tokens: ComparedToken[] = [];
  let role = '';
  let startsSentence = true;
  let end = 0;
  const push = (kind: ComparedToken['kind'], written: string, value: string, isCapital = false): void => {
    tokens.push({ kind, text: written, value, isCapital, role });
    if (kind !== 'operator') role = '';
  };
  for (const match of plain.matchAll(tokenPattern)) {
    const [written] = match;
    const groups = match.groups!;
    if (/[.!?:]\s/u.test(plain.slice(end, match.index + 1))) startsSentence = true;
    end = match.index + written.length;
    const split = groups['identifier'] === undefined ? null : glued.exec(written);
    if (groups['iso'] !== undefined) push('date', written, dateOf(...(written.split('-').map(Number) as [number, number, number])));
    else if (groups['dotted'] !== undefined)
      push('date', written, dateOf(...(written.split('.').map(Number).reverse() as [number, number, number])));
    else if (groups['clock'] !== undefined) push('number', written, clockOf(written));
    else if (split && /^(?:st|nd|rd|th)$/u.test(split[2]!)) push('number', written, canonicalDigits(split[1]!, language));
    else if (split && isGrammar(split[2]!.toLowerCase(), language) && !unitOf.has(split[2]!.toLowerCase()))
      push('identifier', written, written.toLowerCase());
    else if (split) {
      push('number', split[1]!, canonicalDigits(split[1]!, language));
      pushWord(split[2]!);
    } else if (groups['link'] !== undefined) push('identifier', written, written.replace(/[?!.,;]+$/u, ''));
    else if (groups['identifier'] !== undefined) push('identifier', written, written.toLowerCase());
    else if (groups['number'] !== undefined) push('number', written, canonicalDigits(written, language));
    else if (groups['operator'] !== undefined) push('operator', written, written);
    else pushWord(written);
    startsSentence = false;
  }
  return { language, literals, tokens: withDates(withQuantities(withGenitives(tokens)), language), prose: plain.toLowerCase() };

  function pushWord(written: string): void {
    const contracted = /^(.*?)(n't|'(?:s|re|ve|ll|d|m))$/iu.exec(written);
    const [stem, ending] = contracted ? [contracted[1]!, contracted[2]!.toLowerCase()] : [written, ''];
    const word =
      stem.toLowerCase() === 'ca' && ending === "n't"
        ? 'can'
        : stem.toLowerCase() === 'wo' && ending === "n't"
          ? 'will'
          : stem.toLowerCase();
    const numeral = romanNumerals.indexOf(written);
    if (numeral > 1) return push('number', written, String(numeral));
    // "A beats B": a letter used as a name, not an article.
    if (
      /^\p{Lu}$/u.test(written) &&
      written !== 'I' &&
      (written !== 'A' ||
        !startsSentence ||
        /^\s+(?:is|are|was|has|beats|and|or|to|vs|than)\s|^\s*[^\s\p{L}]/u.test(plain.slice(end, end + 20)))
    )
      return push('identifier', written, written.toLowerCase(), true);
    // "IT" and "US" are names, "it" and "us" are not.
    const isShouting = isShouted || /^(?:not|no|nicht|kein)$/u.test(word);
    if (!isShouting && /^\p{Lu}{2,}$/u.test(written) && isGrammar(word, language)) return push('identifier', written, word, true);
    const isCapital = !startsSentence && !isShouted && /^\p{Lu}/u.test(written) && word !== 'i';
    const roleBefore = role;
    push('word', written, word, isCapital);
    if (governs.has(roleBefore) && keepsGoverned.has(word)) role = roleBefore;
    else if ((isGrammar(word, language) || governs.has(word)) && !articles.has(word)) role = word;
    else if (articles.has(word)) role = tokens.at(-1)?.role ?? '';
    if (ending !== '') tokens.push({ kind: 'word', text: ending, value: ending, isCapital: false, role: '' });
    if (ending !== '' && isGrammar(word, language)) role = word;
  }
}

const romanNumerals = '- - II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** Gives "Brazil" in "Brazil's president" the role that it has in "president of Brazil". */
const withGenitives = (tokens: readonly ComparedToken[]): readonly ComparedToken[] =>
  tokens.map((token, index) => (tokens[index + 1]?.value === "'s" && token.kind !== 'number' ? { ...token, role: 'of' } : token));

const dateOf = (year: number | '', month: number, day: number | ''): string => `${year}-${month}-${day}`;

function clockOf(written: string): string {
  const [, hour, minute = '00'] = /^(\d{1,2})(?::(\d{2}))?/u.exec(written)!;
  const isAfternoon = /p\.?m/iu.test(written);
  const hours = (Number(hour) % (/[ap]\.?m/iu.test(written) ? 12 : 24)) + (isAfternoon ? 12 : 0);
  return `${hours}:${minute}`;
}

/** Converts number words to numbers, and unit words and signs to one name. */
function withQuantities(tokens: readonly ComparedToken[]): readonly ComparedToken[] {
  const result: ComparedToken[] = [];
  for (const token of tokens) {
    const before = result.at(-1);
    const value = token.kind === 'word' ? valueOfWord(token.value) : undefined;
    const number = before?.kind === 'number' && !before.value.includes(':') ? Number(before.value) : Number.NaN;
    if (value !== undefined && isTens(before) && value < 10 && value > 0)
      result[result.length - 1] = { ...before!, value: String(number + value) };
    else if (value !== undefined && !(token.value === 'second' && before?.value === 'per'))
      result.push({ ...token, kind: 'number', value: String(value), isCapital: false });
    else result.push(token);
  }
  return result.map((token, index) => {
    const before = result[index - 1];
    // Short unit names are also words ("gib", "bar"): they need a number or a preposition before them.
    const isShort = /^\p{L}{1,4}$/u.test(token.value) && before?.kind !== 'number' && !besideUnit.has(before?.value ?? '');
    const degrees = before?.value === '°' ? unitOf.get(`°${token.value}`) : undefined;
    const unit = degrees ?? (token.kind === 'number' || token.kind === 'date' || isShort ? undefined : unitOf.get(token.value));
    if (before?.kind === 'number' && /^[kmgt]b$/iu.test(token.text))
      return { ...token, value: /^[A-Z]b$/u.test(token.text) ? `unit:${token.text}` : `unit:${token.value}`, isCapital: false };
    if (
      before?.kind === 'number' &&
      /^\d/u.test(before.text) &&
      unit === undefined &&
      /^\p{L}{1,2}$/u.test(token.text) &&
      token.kind === 'word' &&
      /\p{Lu}/u.test(token.text)
    )
      return { ...token, value: `unit:${token.text}`, isCapital: false };
    return unit === undefined ? token : { ...token, value: `unit:${unit}`, isCapital: false };
  });
}
const besideUnit = new Set('in to into per pro nach zu many viele viel much und and or oder'.split(' '));
const isTens = (token: ComparedToken | undefined): boolean =>
  token?.kind === 'number' && /^[2-9]0$/u.test(token.value) && /^\p{L}/u.test(token.text);

/** Recognises dates: "9 November 1989", "November 9th, 1989", "im März"; the year only if it is next to the month. */
function withDates(tokens: readonly ComparedToken[], language: Language | null): readonly ComparedToken[] {
  const result: ComparedToken[] = [];
  const isDay = (token: ComparedToken | undefined): boolean =>
    token !== undefined && /^(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?$/u.test(token.value);
  const isYear = (token: ComparedToken | undefined): boolean => token?.kind === 'number' && /^[12]\d{3}$/u.test(token.value);
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]!;
    const month = token.kind === 'word' ? monthOf.get(token.value) : undefined;
    const before = result.at(-1);
    const isMonth =
      month !== undefined &&
      (token.isCapital ||
        isDay(before) ||
        isDay(tokens[index + 1]) ||
        (language === 'de' && token.value.length > 3) ||
        ['in', 'im', 'of', 'since', 'until', 'by'].includes(token.role));
    if (!isMonth) {
      result.push(token);
      continue;
    }
    let day: number | '' = '';
    if (isDay(before)) day = Number.parseInt(result.pop()!.value, 10);
    else if (before?.value === 'of' && isDay(result.at(-2))) {
      result.pop();
      day = Number.parseInt(result.pop()!.value, 10);
    } else if (isDay(tokens[index + 1])) day = Number.parseInt(tokens[(index += 1)]!.value, 10);
    const year = isYear(tokens[index + 1]) ? Number(tokens[(index += 1)]!.value) : '';
    result.push({ ...token, kind: 'date', value: dateOf(year, month, day), isCapital: false });
  }
  return result;
}
