/** The phases of a run, the commands, and the effect of each command in each phase; for tests of the built programs. */
export { commandMatrix, commandNames, phases, type Cell, type Phase } from './testing/command-matrix.js';
