/** What any build of the strategies has to read: for the tests of programs that hold them. */
export { wordings } from './math/__fixtures__/wordings.js';
