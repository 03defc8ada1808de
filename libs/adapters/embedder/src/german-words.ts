/** Endings of German inflection, longest first. */
const endings = ['ern', 'ten', 'en', 'er', 'es', 'em', 'te', 'st', 'e', 'n', 's', 't'] as const;
/** Endings that may turn a stem into a word of the list. */
const completions = ['', 'en', 'e', 'n'] as const;
const shortestStem = 3;
const shortestCompound = 7;
/** Shortest English word, or name, that counts as the first part of a compound. */
const shortestForeignPart = 5;

const plain = (word: string): string => word.replaceAll('ä', 'a').replaceAll('ö', 'o').replaceAll('ü', 'u');

/** Maps German words, including inflections and compounds, to English words of the table with the same meaning. */
export class GermanWords {
  private readonly meanings = new Map<string, readonly string[]>();

  /** `list`: entries `word=meaning+meaning`, separated by white space; lines starting with # are comments. The first entry wins. */
  constructor(
    list: string,
    private readonly isKnownInEnglish: (word: string) => boolean,
  ) {
    for (const line of list.split('\n')) {
      if (line.startsWith('#')) continue;
      for (const entry of line.split(/\s+/)) {
        const [word = '', meanings = ''] = entry.split('=');
        if (word !== '' && !this.meanings.has(word)) this.meanings.set(word, meanings.split('+'));
      }
    }
  }

  get size(): number {
    return this.meanings.size;
  }

  /** All English words that the list maps to. */
  targets(): ReadonlySet<string> {
    return new Set([...this.meanings.values()].flat());
  }

  /** Whether the list has the exact word. */
  has(word: string): boolean {
    return this.meanings.has(word);
  }

  /** Meanings of a lower-case word; null if unknown. */
  meaningOf(word: string): readonly string[] | null {
    return this.inflected(word) ?? this.compound(word);
  }

  private inflected(word: string): readonly string[] | null {
    const found = this.meanings.get(word);
    if (found) return found;
    for (const ending of endings) {
      if (!word.endsWith(ending) || word.length - ending.length < shortestStem) continue;
      const stem = word.slice(0, -ending.length);
      for (const completion of completions) {
        const meaning = this.meanings.get(stem + completion);
        if (meaning) return meaning;
      }
      const meaning = this.meanings.get(plain(stem));
      if (meaning) return meaning;
    }
    const participle = /^ge(.{3,})(?:t|en)$/.exec(word);
    return participle ? (this.meanings.get(`${participle[1]}en`) ?? null) : null;
  }

  /** The first part of a compound may lose its ending (Mietvertrag, from Miete) or gain a linking one (Arbeitsvertrag). */
  private firstPart(start: string): readonly string[] | null {
    for (const completion of ['e', 'en']) {
      const meaning = this.meanings.get(start) ?? this.meanings.get(start + completion);
      if (meaning) return meaning;
    }
    return this.inflected(start);
  }

  /** The last part of a compound is its main meaning; the first part qualifies it. */
  private compound(word: string): readonly string[] | null {
    if (word.length < shortestCompound) return null;
    for (let cut = 3; cut <= word.length - 3; cut += 1) {
      const last = this.inflected(word.slice(cut));
      if (!last) continue;
      const start = word.slice(0, cut);
      const first = this.firstPart(start);
      if (first) return [...first, ...last];
      if (start.length >= shortestForeignPart && this.isKnownInEnglish(start)) return [start, ...last];
    }
    return null;
  }
}
