import type { Embed } from './pair-measure.js';

/** The embedder that ships with the product; null while this version has none, and then only the comparison of words is measured. */
export const builtInEmbedder: Embed | null = null;
