/** Wordings that every build of the experts must read; for tests of the built programs. */
export { wordings } from './math/__fixtures__/wordings.js';
