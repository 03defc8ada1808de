import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The build copies the assets next to the code, so the same path works in a checkout and in an image without sources.
const asset = (path: string): string => fileURLToPath(new URL(`./assets/${path}`, import.meta.url));

/** Folder of the bundled sample documents (Markdown). */
export const sampleCorpusFolder = (): string => asset('corpus/');

/** A question about them whose second search depends on the result of the first. */
export const sampleQuestion = (): string => readFileSync(asset('question.txt'), 'utf8').trim();
