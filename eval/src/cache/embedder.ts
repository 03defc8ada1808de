import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import type { Embed } from './pair-measure.js';

/** The shipped embedder. Throws if its table is missing or damaged. */
export function builtInEmbed(): Embed {
  const embedder = BuiltInEmbedder.open();
  return (texts) => embedder.embed(texts, { signal: new AbortController().signal });
}
