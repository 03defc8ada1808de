import { percent, table } from '../report.js';
import type { Confusion } from './confusion.js';
import { levels } from './prompts/written.js';

/** Targets of the regression half. */
export const routingTargets = { macroF1: 0.85, complexAsTrivial: 0.02 };

export const meetsRoutingTargets = (regression: Confusion): boolean =>
  regression.macroF1 >= routingTargets.macroF1 && regression.complexAsTrivial <= routingTargets.complexAsTrivial;

/** Rows are labels, columns decisions. */
export const printMatrix = ({ matrix, perLevel, macroF1, complexAsTrivial }: Confusion): readonly string[] => [
  ...table(
    ['label \\ decided', ...levels, 'precision', 'recall', 'F1'],
    perLevel.map(({ level, precision, recall, f1 }) => [
      level,
      ...levels.map((decision) => String(matrix[level][decision])),
      precision.toFixed(3),
      recall.toFixed(3),
      f1.toFixed(3),
    ]),
  ),
  `macro-F1 ${macroF1.toFixed(3)}; complex decided as trivial ${percent(complexAsTrivial)}`,
];
