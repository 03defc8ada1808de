export { ChromaVectors, type ChromaOptions } from './chroma-vectors.js';
export type { ChromaCredentials, ChromaTls } from './chroma-http.js';
