import numerals from '../assets/numerals.json' with { type: 'json' };

export type Language = 'en' | 'de' | 'fr' | 'es';
const languages = ['en', 'de', 'fr', 'es'] as const;
const marks = languages.map((language) => [language, new Set(numerals.marks[language].split(' '))] as const);

/** The language with the most small words in a question; English if none leads. */
export function languageIn(question: string): Language {
  const words =
    question
      .normalize('NFC')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const counted = marks.map(([language, known]) => [language, words.filter((word) => known.has(word)).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** The text with every number as plain digits and a decimal point: `1.234,5` and `twelve hundred` too. */
export function plainNumbers(text: string, language: Language): string {
  return withWords(withMultiples(withMarks(text, language)), language);
}

/**
 * Rewrites grouped thousands and decimal commas. If a number has two readings (`1,234`, `1.234`), the language decides. What is not a
 * number, such as `1.2.3` or a list `4,8,15`, stays unchanged.
 */
function withMarks(text: string, language: Language): string {
  const joined = text
    .replace(/[\u00a0\u202f\u2009]/g, ' ')
    .replace(/(?<![\d.,])\d{1,3}(?:['’]\d{3})+(?!\d)/g, (number) => number.replace(/['’]/g, ''))
    .replace(/(?<![\d.,] ?)\d{1,3}(?: \d{3})+(?![\d.])(?:,\d+)?/g, (number) =>
      language !== 'en' || number.includes(',') || /^\d+(?: \d{3}){2,}$/.test(number) ? number.replaceAll(' ', '') : number,
    );
  return joined.replace(/\d[\d.,]*\d/g, (number) => {
    const [points, commas] = ['.', ','].map((sign) => number.split(sign).length - 1) as [number, number];
    const grouped = (sign: string): boolean => new RegExp(`^[1-9]\\d{0,2}(?:\\${sign}\\d{3})+$`).test(number);
    if (points > 0 && commas > 0) {
      if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(number)) return number.replaceAll(',', '');
      return /^\d{1,3}(?:\.\d{3})+,\d+$/.test(number) ? number.replaceAll('.', '').replace(',', '.') : number;
    }
    if (commas > 1) return grouped(',') ? number.replaceAll(',', '') : number;
    if (commas === 1) return grouped(',') && language === 'en' ? number.replace(',', '') : number.replace(',', '.');
    if (points > 1) return grouped('.') ? number.replaceAll('.', '') : number;
    return points === 1 && grouped('.') && (language === 'de' || language === 'es') ? number.replace('.', '') : number;
  });
}

/** Rewrites numbers in words, including compounds. A lone article ("a", "ein", "un") is not a number. */
function withWords(text: string, language: Language): string {
  const { words, links } = numerals[language] as { words: Record<string, number>; links: readonly string[] };
  const known = (word: string): number | null =>
    Object.hasOwn(words, word) ? words[word]! : language === 'de' ? germanCompound(word, words) : null;
  let done = '';
  let rest = text;
  for (;;) {
    const found = /(?<![\p{L}\p{N}])\p{L}+(?:-\p{L}+)*/u.exec(rest);
    if (!found) return done + rest;
    done += rest.slice(0, found.index);
    const run = longestRun(rest.slice(found.index), known, links);
    if (run) done += String(run.value);
    else done += found[0];
    rest = rest.slice(found.index + (run ? run.length : found[0].length));
  }
}

/** The longest run of number words at the beginning of a text that makes one number. */
function longestRun(
  text: string,
  known: (word: string) => number | null,
  links: readonly string[],
): { readonly value: number; readonly length: number } | null {
  let best: { value: number; length: number } | null = null;
  const parts: number[] = [];
  let at = 0;
  let linked = false;
  for (const found of text.matchAll(/(\s*-\s*|\s+|^)(\p{L}+)/gu)) {
    if (found.index !== at) break;
    at = found.index + found[0].length;
    const word = found[2]!.normalize('NFC').toLowerCase();
    if (parts.length === 0 && word === 'a' && /^\s+(?:hundred|thousand|million|billion)(?!\p{L})/iu.test(text.slice(at))) {
      parts.push(1);
      continue;
    }
    if (parts.length > 0 && !linked && links.includes(word)) {
      linked = true;
      continue;
    }
    const value = known(word);
    if (value === null) break;
    // "two and three" are two numbers; "two hundred and three" and "treinta y cinco" are one.
    if (linked && parts.at(-1)! < (links[0] === 'and' ? 100 : 20)) break;
    parts.push(value);
    linked = false;
    const whole = composed(parts);
    if (whole === null) break;
    best = { value: whole, length: at };
  }
  return best;
}

/** One number from its words in order, such as 2, 100, 3; null if they are several numbers. */
function composed(parts: readonly number[]): number | null {
  let total = 0;
  let group = 0;
  let last = Infinity;
  for (const part of parts) {
    if (part >= 1000) {
      if (total > 0 && part >= last) return null;
      total += (group || 1) * part;
      group = 0;
      last = part;
    } else if (part === 100) {
      if (group >= 100) return null;
      group = (group || 1) * 100;
    } else if (part === 20 && group % 100 === 4)
      group += 76; // quatre-vingt
    else {
      const below = group % 100;
      const fits = below === 0 ? true : below === 60 || below === 80 ? part < 20 : below >= 20 && below % 10 === 0 && part < 10;
      if (!fits || (group > 0 && part >= 100)) return null;
      group += part;
    }
  }
  return total + group;
}

/** `einundzwanzig`, `zweihundertdreiundvierzig`, `dreitausend`. */
function germanCompound(word: string, words: Readonly<Record<string, number>>): number | null {
  const one = (part: string): number | null =>
    part === '' ? null : /^ein(?:e|s)?$/.test(part) ? 1 : Object.hasOwn(words, part) ? words[part]! : germanCompound(part, words);
  for (const [name, size] of [
    ['tausend', 1000],
    ['hundert', 100],
  ] as const) {
    const at = word.indexOf(name);
    if (at < 0 || word === name) continue;
    const [before, after] = [word.slice(0, at), word.slice(at + name.length).replace(/^und/, '')];
    const [many, more] = [before === '' ? 1 : one(before), after === '' ? 0 : one(after)];
    return many === null || more === null || more >= size ? null : many * size + more;
  }
  const [, unit, tens] = /^(.+?)und(.+)$/.exec(word) ?? [];
  if (!unit || !tens) return null;
  const [small, large] = [one(unit), Object.hasOwn(words, tens) ? words[tens]! : null];
  return small !== null && large !== null && small < 10 && large >= 20 && large < 100 ? large + small : null;
}

const zeros: Readonly<Record<string, number>> = {
  thousand: 3,
  tausend: 3,
  mille: 3,
  mil: 3,
  million: 6,
  billion: 9,
  milliarde: 9,
  milliard: 9,
  trillion: 12,
};

/** `3 million` and `2.5 thousand` as digits. */
const withMultiples = (text: string): string =>
  text.replace(
    /(\d+)(?:\.(\d+))?\s+(thousand|tausend|million|billion|milliarde|milliard|trillion)(?:en|n|s)?(?!\p{L})/giu,
    (_all, whole: string, part: string | undefined, name: string) => {
      const shift = zeros[name.toLowerCase()]!;
      const fraction = (part ?? '').padEnd(shift, '0');
      const rest = fraction.slice(shift).replace(/0+$/, '');
      return `${(whole + fraction.slice(0, shift)).replace(/^0+(?=\d)/, '')}${rest === '' ? '' : `.${rest}`}`;
    },
  );
