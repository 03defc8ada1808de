import { withPairs } from '@conclave/contracts';
import { queryWords } from './query-words.js';

/** A text as it is indexed: words in the title and headings are better evidence of the subject than words in the body. */
export interface IndexedText {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}
/** Weights of title, heading and body. */
export const fieldWeights = [4, 2, 1] as const;

/** Saturation of repeated words and weight of the length, as recommended by Robertson and Zaragoza (2009). */
const k1 = 1.2;
const b = 0.75;
/** A word that occurs in every text still counts a little, so that a query of such words finds something. */
const leastWeight = 1e-6;

interface Entry {
  readonly length: number;
  /** Term -> weighted count. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * In-memory full text, ranked by BM25 over weighted fields: for stores without their own. Holds word counts, not texts; uses about as much
 * memory as the texts.
 */
export class TextIndex {
  private readonly entries = new Map<string, Entry>();
  private readonly holders = new Map<string, Set<string>>();
  private length = 0;

  get size(): number {
    return this.entries.size;
  }

  has(id: string): boolean {
    return this.entries.has(id);
  }

  ids(): Iterable<string> {
    return this.entries.keys();
  }

  /** Replaces any text with this id. */
  put(id: string, { title, heading, body }: IndexedText): void {
    this.remove(id);
    const counts = new Map<string, number>();
    let length = 0;
    [title, heading, body].forEach((text, field) => {
      for (const term of termsOf(text)) {
        counts.set(term, (counts.get(term) ?? 0) + fieldWeights[field]!);
        length += 1;
      }
    });
    this.entries.set(id, { length, counts });
    this.length += length;
    for (const term of counts.keys()) {
      const holders = this.holders.get(term);
      if (holders) holders.add(id);
      else this.holders.set(term, new Set([id]));
    }
  }

  remove(id: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    this.length -= entry.length;
    for (const term of entry.counts.keys()) {
      const holders = this.holders.get(term)!;
      holders.delete(id);
      if (holders.size === 0) this.holders.delete(term);
    }
  }

  /** Best first, equal scores by id. Scores are above 0 and only comparable within this index and query. */
  find(query: string): readonly { readonly id: string; readonly score: number }[] {
    const scores = new Map<string, number>();
    const average = this.length / Math.max(1, this.entries.size);
    for (const term of new Set(queryWords(query).flatMap(termsOf))) {
      const holders = this.holders.get(term);
      if (!holders) continue;
      const rarity = Math.max(leastWeight, Math.log((this.entries.size - holders.size + 0.5) / (holders.size + 0.5)));
      for (const id of holders) {
        const { counts, length } = this.entries.get(id)!;
        const count = counts.get(term)!;
        const part = (count * (k1 + 1)) / (count + k1 * (1 - b + (b * length) / average));
        scores.set(id, (scores.get(id) ?? 0) + rarity * part);
      }
    }
    return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
  }
}

const termsOf = (text: string): readonly string[] =>
  (
    withPairs(text)
      .normalize('NFD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{1,64}/gu) ?? []
  ).map(stemOf);

const hasVowel = /[aeiouy]/;

/** Stems a word like step 1 of Porter (1980), which does nearly all of its work: plurals, -ed, -ing, a final -e and -y. */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let stem = word;
  if (stem.endsWith('sses')) stem = stem.slice(0, -2);
  else if (stem.endsWith('ies')) stem = `${stem.slice(0, -3)}i`;
  else if (stem.endsWith('s') && !stem.endsWith('ss') && !stem.endsWith('us')) stem = stem.slice(0, -1);
  const bare = stem.endsWith('eed') ? stem : stem.replace(/(?:ed|ing)$/, '');
  if (bare !== stem && bare.length >= 3 && hasVowel.test(bare)) stem = /([bdfgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare;
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1);
  if (stem.length > 2 && stem.endsWith('y') && hasVowel.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  return stem;
}

/** The indexed parts of a record: its text, and the title and heading from its metadata. */
export const indexedText = (text: string, metadata: Readonly<Record<string, unknown>>): IndexedText => ({
  title: typeof metadata['title'] === 'string' ? metadata['title'] : '',
  heading: typeof metadata['heading'] === 'string' ? metadata['heading'] : '',
  body: text,
});
