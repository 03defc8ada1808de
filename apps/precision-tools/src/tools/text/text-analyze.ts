import * as z from 'zod';
import { Rational } from '../numbers/rational.js';
import { fixedDecimal } from '../numbers/decimal-text.js';
import { defineTool, longTextChars } from '../tool.js';

const word = /[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu;
/**
 * A sentence ends at . ! ? or …, with closing quotation marks of any language, before white space or the end of the text. A run of such
 * signs is tried from its first sign only.
 */
const sentenceEnd = /(?<![.!?…])[.!?…]+["'”’“‘»«›‹)\]]*(?=\s|$)/gu;
const mostFrequent = 10;
/** Graphemes are counted up to this length, because the segmenter is slow. */
const graphemeChars = 20_000;

const countOf = (text: string, pattern: RegExp): number => {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
};

function sentences(text: string): number {
  const ends = countOf(text, sentenceEnd);
  const lastEnd = [...text.slice(-2_000).matchAll(sentenceEnd)].at(-1);
  const tail = lastEnd ? text.slice(-2_000).slice(lastEnd.index + lastEnd[0].length) : text;
  return ends + (/[\p{L}\p{N}]/u.test(tail) ? 1 : 0);
}

function graphemes(text: string): number {
  let count = 0;
  for (const _ of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) count += 1;
  return count;
}

export const textAnalyze = defineTool({
  name: 'text_analyze',
  title: 'Text statistics',
  description:
    'Counts characters, words, sentences, lines and paragraphs of a text and its most frequent words, or how often a string occurs. Use it whenever something in a text is to be counted.',
  input: {
    text: z.string(),
    find: z.string().min(1).optional().describe('also count this string, capitals included, without overlaps'),
  },
  output: {
    characters: z.int().describe('Unicode code points'),
    characters_without_spaces: z.int(),
    graphemes: z.int().optional().describe('characters as a reader sees them; for texts up to 20,000 UTF-16 units'),
    bytes_utf8: z.int(),
    words: z.int(),
    unique_words: z.int().describe('regardless of capitals'),
    sentences: z.int(),
    lines: z.int(),
    paragraphs: z.int().describe('blocks parted by blank lines'),
    average_word_length: z.string().describe('two decimals'),
    most_frequent_words: z.array(z.strictObject({ word: z.string(), count: z.int() })),
    occurrences: z.int().optional().describe('of `find`'),
  },
  limits: { argumentChars: longTextChars, timeoutMs: 900 },
  run({ text, find }) {
    let [characters, spaces] = [0, 0];
    for (const character of text) {
      characters += 1;
      if (/\s/u.test(character)) spaces += 1;
    }
    const counts = new Map<string, number>();
    let [words, letters] = [0, 0];
    for (const [found] of text.matchAll(word)) {
      words += 1;
      letters += found.length;
      const key = found.toLowerCase();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const frequent = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, mostFrequent);
    return {
      characters,
      characters_without_spaces: characters - spaces,
      ...(text.length <= graphemeChars && { graphemes: graphemes(text) }),
      bytes_utf8: Buffer.byteLength(text, 'utf8'),
      words,
      unique_words: counts.size,
      sentences: sentences(text),
      lines: text === '' ? 0 : countOf(text, /\r\n|\r|\n/g) + (/[\r\n]$/.test(text) ? 0 : 1),
      paragraphs: text.split(/(?:\r?\n[ \t]*){2,}/).filter((block) => block.trim() !== '').length,
      average_word_length: words === 0 ? '0.00' : fixedDecimal(Rational.of(letters, words), 2, 'half_up'),
      most_frequent_words: frequent.map(([name, count]) => ({ word: name, count })),
      ...(find !== undefined && { occurrences: text.split(find).length - 1 }),
    };
  },
});
