import { Failure } from '@conclave/contracts';
import type { Reranker } from './reranker.js';

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

/** Scores a text by the share of the query's words that it contains, for tests. It answers at once, or fails with the given error. */
export class MemoryReranker implements Reranker {
  readonly id = 'words@memory';
  /** Texts of each call, in order. */
  readonly asked: { readonly query: string; readonly texts: readonly string[] }[] = [];

  constructor(private readonly failure: Failure | null = null) {}

  async score(query: string, texts: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<readonly number[]> {
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    if (texts.length === 0) return [];
    this.asked.push({ query, texts });
    if (this.failure) throw this.failure;
    const wanted = [...wordsOf(query)];
    return texts.map((text) => {
      const held = wordsOf(text);
      return wanted.length === 0 ? 0 : wanted.filter((word) => held.has(word)).length / wanted.length;
    });
  }

  async close(): Promise<void> {}
}
