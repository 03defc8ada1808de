/** What any build of the experts has to read: for the tests of programs that hold them. */
export { wordings } from './math/__fixtures__/wordings.js';
