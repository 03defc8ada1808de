import type { Fact } from '@conclave/contracts';
import type { AnswerWords } from '../answer-words/answer-words.js';
import { shortenedNumbers, shortens } from './rounded-numbers.js';

/** A cited sentence that says more than its source. */
export interface Unsupported {
  readonly n: number;
  readonly sentence: string;
  readonly missing: string[];
}

/** Splits at ends of sentences and lines, but not at a point inside a number or after a single letter. */
const sentenceEnd = /(?<=[.!?]["')\]]{0,8}(?:\s{0,8}\[\d[\d,\s]{0,80}\]){0,16})(?<!\b\p{L}\.)\s+(?=[\p{Lu}\p{N}"'([•*-])|\n+/u;
const citation = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;
const number = /(?<![\p{L}\p{N}])[+\-−]?\d[\d.,'\u00a0\u202f]*\d|(?<![\p{L}\p{N}])\d/gu;
const name = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}'’-]+/gu;

/** Capitalised words that are not names; for German nouns see `isName`. */
const common: ReadonlySet<string> = new Set(
  (
    'the a an this that these those it its in on at by for from to of and or but if when while where who what which why how as with without ' +
    'he she they we you his her their our your i after before since during between both all some most many no not yes however thus therefore ' +
    'der die das ein eine einer eines dem den des dies diese dieser dieses es er sie wir ihr ich im in am an auf aus bei für von vom zu zum zur ' +
    'und oder aber wenn als während wo wer was welche welcher warum wie mit ohne nach vor seit zwischen beide alle einige viele kein keine nicht ja jedoch daher laut'
  ).split(' '),
);

/** Normalises a number: 2,340 and 2.340 and 2340 are equal; 17.50 is 17.5. */
function plain(text: string): string {
  const bare = text.replace(/^[+\-−]/, '').replace(/['\u00a0\u202f]/g, '');
  const grouped = /^\d{1,3}([.,]\d{3})+$/.test(bare) ? bare.replace(/[.,]/g, '') : bare;
  const parts = grouped.split(/[.,](?=\d+$)/);
  const fraction = (parts[1] ?? '').replace(/0+$/, '');
  const whole = (parts[0] ?? '').replace(/[.,]/g, '').replace(/^0+(?=\d)/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const numbersOf = (text: string): readonly string[] => text.match(number) ?? [];
const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Capitalised words inside a sentence; the first word only if it occurs again in the sentence. */
function namesOf(sentence: string): readonly string[] {
  const start = /\p{L}/u.exec(sentence)?.index ?? 0;
  return [...sentence.matchAll(name)]
    .filter((match) => match.index > start && !common.has(match[0].toLowerCase()) && isName(match[0], sentence))
    .map((match) => match[0]);
}

const german = /(?:^|\s)(?:der|die|das|und|ist|nicht|ein|eine|wurde|mit|von|zu|den|dem)(?:\s|[.,])/iu;
/** German capitalises every noun: only several capitalised words in a row, or one with a digit or hyphen, are a name. */
function isName(word: string, sentence: string): boolean {
  if (!german.test(sentence) || /[\d-]/.test(word)) return true;
  const row = sentence.split(/[^\p{L}\p{M}\p{N}'’-]+/u).filter(Boolean);
  const isCapital = (other: string | undefined): boolean =>
    other !== undefined && /^\p{Lu}/u.test(other) && !common.has(other.toLowerCase());
  return row.some((other, at) => other === word && (isCapital(row[at - 1]) || isCapital(row[at + 1])));
}

const code = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`/g;
/** Citations: single numbers in brackets after a word; not an index, a link or the text's own footnote. */
const lone = /(?<=^|[\s.,;:!?)"'’”*_])(?:\[[1-9]\d{0,2}\])+(?![([:\p{L}\p{N}])/gmu;

/** Cited numbers without a fact, unless the question itself contains them. */
function inventedCitations(text: string, facts: readonly Fact[], question: string): readonly Unsupported[] {
  const invented = new Map<number, Unsupported>();
  for (const match of text.replace(code, (part) => ' '.repeat(part.length)).matchAll(lone))
    for (const cited of match[0].match(/\d+/g)!) {
      const n = Number(cited);
      if (facts[n - 1] || invented.has(n) || question.includes(`[${n}]`)) continue;
      const before = text.slice(0, match.index).split(sentenceEnd).at(-1) ?? '';
      invented.set(n, { n, sentence: before.replace(citation, ' ').replace(/\s+/g, ' ').trim(), missing: [] });
    }
  return [...invented.values()];
}

/**
 * Cited sentences whose numbers or names do not occur in the facts they cite, unless a number is a rounded or shortened one of theirs, and
 * citations without a fact, with an empty `missing`. Words of the question itself need no source. Facts are numbered from 1 in the order
 * given.
 */
export function unsupported(text: string, facts: readonly Fact[], question = ''): readonly Unsupported[] {
  const asked = { numbers: new Set(numbersOf(question).map(plain)), words: fold(question) };
  const beyond = text.split(sentenceEnd).flatMap((sentence): Unsupported[] => {
    const cited = [...sentence.matchAll(citation)]
      .flatMap((match) => match[1]!.split(',').map((part) => Number(part.trim())))
      .filter((n) => facts[n - 1]);
    if (cited.length === 0) return [];
    const source = cited.map((n) => `${facts[n - 1]!.source.title} ${facts[n - 1]!.source.call ?? ''} ${facts[n - 1]!.text}`).join('\n');
    const said = sentence.replace(citation, ' ');
    const known = new Set(numbersOf(source).map(plain));
    const words = fold(source);
    const unknown = numbersOf(said).filter((one) => !known.has(plain(one)) && !asked.numbers.has(plain(one)));
    const shortened = shortenedNumbers(unknown.length > 0 ? numbersOf(source) : []);
    const missing = [
      ...unknown.filter((one) => !shortens(one, shortened)),
      ...namesOf(said).filter((one) => !words.includes(fold(one)) && !asked.words.includes(fold(one))),
    ];
    return missing.length > 0 ? [{ n: cited[0]!, sentence: said.replace(/\s+/g, ' ').trim(), missing: [...new Set(missing)] }] : [];
  });
  return [...beyond, ...inventedCitations(text, facts, question)];
}

/** The note under an answer about its unsupported sentences; empty without any. */
export const unsupportedNote = (found: readonly Unsupported[], words: AnswerWords): string =>
  found.length === 0
    ? ''
    : `\n\n${words.unsupported}\n${found.map(({ n, missing }) => `- [${n}]: ${missing.length > 0 ? missing.join(', ') : words.noSuchSource}`).join('\n')}`;
