export { BuiltInEmbedder } from './built-in-embedder.js';
