/** Turns texts into vectors whose directions are close where the texts mean something similar. Adapters: built in, OpenAI-compatible. */
export interface Embedder {
  /** Name and version of what makes the vectors. Equal ids make equal spaces; vectors of two ids must never meet. */
  readonly id: string;
  /** What it tells apart: single words, or what sentences say. Sentences where it is not said. */
  readonly reads?: 'words' | 'sentences';
  /** Numbers per vector; null until the first answer of a server whose model is not known in advance. */
  readonly dimension: number | null;
  /**
   * One vector of length 1 per text, in the same order; also for a text without words. The same text gives the same vector.
   * Throws Failure CALL_CANCELLED when the signal aborts, PROVIDER_* and CALL_TIMEOUT from a server, and VECTORS_INCOMPATIBLE when
   * its dimension changes.
   */
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly Float32Array[]>;
  /** Null while it works, otherwise a sentence. */
  health(): Promise<string | null>;
  close(): Promise<void>;
}

/** The collection of this purpose for this embedder: another embedder has another collection, so their vectors never mix. */
export const collectionOf = (purpose: string, embedder: Pick<Embedder, 'id'>): string => `${purpose}@${embedder.id}`;

/** Purpose of the collection that keeps facts of finished runs. */
export const factsPurpose = 'moe_fact_cache';
/** Purpose of the collection that keeps questions of answered runs. */
export const answersPurpose = 'answer_cache';
/** Vectors of the documents of a collection that people named. */
export const documentsCollection = (name: string, embedder: Pick<Embedder, 'id'>): string => collectionOf(`documents/${name}`, embedder);

/** The vector in place, scaled to length 1. One without direction, or with numbers that are not finite, is left and gives false. */
export function toUnitLength(vector: Float32Array): boolean {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return false;
  for (let at = 0; at < vector.length; at += 1) vector[at]! /= length;
  return true;
}
