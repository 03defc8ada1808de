import { fileURLToPath } from 'node:url';

/** Folder of the bundled sample documents (Markdown). They lie beside the sources, for the built package too. */
export const sampleCorpusFolder = (): string => fileURLToPath(new URL('../src/assets/corpus/', import.meta.url));
