import type { Usage } from '@conclave/contracts';

/** How texts are embedded. */
export interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Gets the usage of each request that a model server answered; an embedder without a server never calls it. */
  readonly onUsage?: (usage: Usage) => void;
}

/** Turns texts into vectors; texts of similar meaning get close directions. Adapters: built in, OpenAI-compatible. */
export interface Embedder {
  /** Name and version of the embedding. Equal ids mean the same vector space; vectors of different ids must never be compared. */
  readonly id: string;
  /** Whether it compares single words or the meaning of sentences. Default: sentences. */
  readonly reads?: 'words' | 'sentences';
  /** Numbers per vector; null until the first reply of a server whose model is not known in advance. */
  readonly dimension: number | null;
  /**
   * Returns one vector of length 1 per text, in the same order, also for a text without words. The same text returns the same vector.
   * Throws Failure CALL_CANCELLED when the signal aborts, PROVIDER_* and CALL_TIMEOUT from a server, and VECTORS_INCOMPATIBLE when its
   * dimension changes.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>;
  /** Null while it works, otherwise a sentence that says what is wrong. */
  health(): Promise<string | null>;
  close(): Promise<void>;
}

/** Name of the collection for a purpose and an embedder. Each embedder has its own collection, so vectors never mix. */
export const collectionOf = (purpose: string, embedder: Pick<Embedder, 'id'>): string => `${purpose}@${embedder.id}`;

/** Purpose of the collection for facts of finished runs. */
export const factsPurpose = 'moe_fact_cache';
/** Results of runs and of their steps, which later runs recall. */
export const resultsPurpose = 'conclave_run_results';
/** Purpose of the collection for questions of answered runs. */
export const answersPurpose = 'answer_cache';
/** Vector collection for the documents of a user's named collection. */
export const documentsCollection = (name: string, embedder: Pick<Embedder, 'id'>): string => collectionOf(`documents/${name}`, embedder);

/**
 * Scales the vector to length 1 in place. Returns false and leaves the vector unchanged if it has no direction or contains non-finite
 * numbers.
 */
export function toUnitLength(vector: Float32Array): boolean {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return false;
  for (let at = 0; at < vector.length; at += 1) vector[at]! /= length;
  return true;
}
