/** What any build of the tools has to answer: for the tests of programs that hold them. */
export { questions, type Question } from './__fixtures__/questions.js';
