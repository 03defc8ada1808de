import type { Scenario } from './scenario.js';
import { budgetRuns, guardRuns } from './runs-of-guards.js';
import { rowsOfTable } from './runs-of-table.js';
import type { ScriptedRun } from './scripted-run.js';

export { guards, type Guard, type ScriptedRun } from './scripted-run.js';

/** Scripted runs that together take every row of the decision table and every guard. */
export const scriptedRuns: readonly ScriptedRun[] = [...rowsOfTable, ...budgetRuns, ...guardRuns];

/** What a reader of the run sees of it: reason, deciding sentences and the entries of its tasks. */
export const visibleText = (run: Scenario): string =>
  [
    String(run.completed()?.['reason'] ?? ''),
    ...run.state!.decisions.map(({ rule, sentence }) => `${rule}: ${sentence}`),
    ...run.decisions.flatMap(({ entries }) => entries.flatMap((entry) => (entry.kind === 'task.settled' ? [entry.summary] : []))),
  ].join('\n');
