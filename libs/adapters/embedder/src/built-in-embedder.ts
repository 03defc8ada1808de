import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Failure } from '@conclave/contracts';
import type { Embedder } from '@conclave/ports';
import { GermanWords } from './german-words.js';
import { TextVectors } from './text-vectors.js';
import { WordTable } from './word-table.js';

// The build copies the assets next to the code, so the same path works in a checkout, in dist and in a bundle.
const asset = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`./assets/embedder/${name}`, import.meta.url)));

/** Raise it when code, german.txt or stop-words.json change a vector. The digest covers changes of the table. */
const codeVersion = 1;
/** Texts per turn: between two turns it checks the signal and yields to the event loop. */
const textsPerTurn = 64;

/**
 * The embedder that needs no server: a table of English words with their meaning as 100 numbers each, a list of German words that map
 * to it, and the spelling of all other words. It knows words, not sentences: "dog bites man" and "man bites dog" are equal.
 * 256 numbers per vector. Opening takes about 50 ms, a short text about 0.1 ms of one processor.
 */
export class BuiltInEmbedder implements Embedder {
  readonly id: string;
  readonly reads = 'words';
  readonly dimension: number;
  private readonly vectors: TextVectors;

  private constructor(table: WordTable, vectors: TextVectors) {
    this.id = `builtin-words-${codeVersion}.${table.digest.slice(0, 8)}`;
    this.dimension = vectors.dimension;
    this.vectors = vectors;
  }

  /** Throws when the bundled table is missing or damaged. */
  static open(): BuiltInEmbedder {
    const table = new WordTable(asset('words.bin'));
    const german = new GermanWords(asset('german.txt').toString('utf8'), (word) => table.rankOf(word) !== undefined);
    return new BuiltInEmbedder(table, new TextVectors(table, german));
  }

  async embed(texts: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (vectors.length > 0 && vectors.length % textsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      vectors.push(this.vectors.vectorOf(text));
    }
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    return vectors;
  }

  async health(): Promise<null> {
    return null;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
