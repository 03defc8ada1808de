import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { natureOf, openEmbeddings } from '@conclave/adapter-openai';
import type { Embedder } from '@conclave/ports';
import type { EvaluationOptions } from './evaluation.js';

/** The embedding model that the user named, or else the shipped embedder. Throws if the table of the latter is missing or damaged. */
export function chosenEmbedder(embeddings: EvaluationOptions['embeddings']): Embedder {
  if (!embeddings) return BuiltInEmbedder.open();
  const { url, model } = embeddings;
  return openEmbeddings({ name: 'given', provider: { base_url: url, ...natureOf(url, false) }, model });
}
