/** The phases of a run, the commands, and what follows of each in each; for tests of the built programs. */
export { commandMatrix, commandNames, phases, type Cell, type Phase } from './testing/command-matrix.js';
