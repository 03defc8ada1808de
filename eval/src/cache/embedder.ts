import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import type { Embed } from './pair-measure.js';

/** The embedder that ships with the product. Throws when its table is missing or damaged. */
export function builtInEmbed(): Embed {
  const embedder = BuiltInEmbedder.open();
  return (texts) => embedder.embed(texts, { signal: new AbortController().signal });
}
