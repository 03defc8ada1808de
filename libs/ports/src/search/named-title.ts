import { hasTellingWord } from '../vectors/query-words.js';

const wordsOf = (text: string): readonly string[] => text.normalize('NFKC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
const hasCapitals = (text: string): boolean => /\p{Lu}/u.test(text);

/** Shortest single word that counts as a title. */
const shortestTitle = 3;

/**
 * Whether a text names a document: it contains the whole title word by word, without a remark in brackets such as `(film)`. A title of
 * one word counts only if it is written like a name, so that "water" does not name the document "Water". A text without capitals writes
 * names in small letters.
 */
export function namesTitle(text: string, title: string): boolean {
  const words = wordsOf(title.trim().replace(/(?<!\s)\s*\([^()]*\)$/u, ''));
  if (words.length === 0 || !hasTellingWord(words)) return false;
  const folds = words.length > 1 || !hasCapitals(text);
  if (words.length === 1 && words[0]!.length < shortestTitle) return false;
  const row = (all: readonly string[]): string => ` ${(folds ? all.map((word) => word.toLowerCase()) : all).join(' ')} `;
  return row(wordsOf(text)).includes(row(words));
}

/** Added to each place, as in the fusion of two searches: the smaller, the more the first places count. */
const smoothing = 2;

/**
 * Reorders hits, best first: a hit whose document the query names gets an additional score for its position among such hits. So a document
 * about the very thing that a question or a found passage names comes before documents that only share ordinary words with it.
 */
export function namedFirst<T>(hits: readonly T[], query: string, titleOf: (hit: T) => string): readonly T[] {
  const named = hits.filter((hit) => namesTitle(query, titleOf(hit)));
  if (named.length === 0) return hits;
  const places = new Map(named.map((hit, place) => [hit, place]));
  const scores = hits.map((hit, place) => {
    const among = places.get(hit);
    return { hit, score: 1 / (smoothing + place + 1) + (among === undefined ? 0 : 1 / (smoothing + among + 1)) };
  });
  return scores.sort((a, b) => b.score - a.score).map(({ hit }) => hit);
}
