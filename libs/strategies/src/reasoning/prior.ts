import type { RunFact, TaskInputDraft, RequestedTask } from '@conclave/contracts';
import type { TaskState } from '@conclave/loop';
import { searchTextOf } from '../prompts/follow-up.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import type { ReasoningView } from './own.js';

/** Most results of earlier runs, and most passages of documents, that are looked up before the first plan. */
const memories = 5;
const passages = 3;
/** Characters of each that the planner sees. */
const shown = 200;

const requested = (id: string, capability: string, goal: string): RequestedTask => ({
  spec: { id, capability, task: 'What is known before the run', query: goal, needs: [], metadata_filters: null },
  action: null,
  models: [],
  // The ledger contains what this run finds.
  learn: 'never',
  stream: 'held',
});

/** What is looked up before the first plan. */
export const priorTasks = ({ run, template }: ReasoningView): readonly RequestedTask[] => {
  const goal = searchTextOf(run.request);
  return [
    requested('memory', 'recall', goal),
    ...(template.capabilities.includes('collections') ? [requested('knowledge', 'collections', goal)] : []),
  ];
};

export function priorInput({ run, template }: ReasoningView, { spec }: TaskState): TaskInputDraft {
  const query = searchTextOf(run.request);
  if (spec.capability === 'recall') return { kind: 'values', values: { query, limit: memories } };
  return { kind: 'collections', query, collections: (template.collections ?? []).map(({ name }) => name), filters: {}, limit: passages };
}

/** Lines of a look-up's result for the planner; none for other facts of the run. */
export function priorLines({ run }: ReasoningView, fact: RunFact): readonly string[] {
  if (fact.kind !== 'TaskSettled' || fact.result.output?.kind !== 'evidence') return [];
  const task = run.tasks[fact.ref];
  return task?.helper ? fact.result.output.facts.map(({ text }) => bounded(oneLine(text), shown)) : [];
}
