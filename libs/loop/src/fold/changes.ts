import type { FactKind, FactOf } from '@conclave/contracts';
import type { Owed, RunState, TaskState } from '../state.js';

/** For each kind of fact: the state after one of it. */
export type Folds<K extends FactKind> = { readonly [Kind in K]: (run: RunState, fact: FactOf<Kind>) => RunState };

export const owing = (run: RunState, owed: Owed): RunState => ({ ...run, owed: [...run.owed, owed] });

export const commandsOf = (owed: readonly Owed[]): readonly Owed[] => owed.filter(({ hook }) => hook === 'command');

export const withTask = (run: RunState, ref: string, change: Partial<TaskState>): RunState => ({
  ...run,
  tasks: { ...run.tasks, [ref]: { ...run.tasks[ref]!, ...change } },
});
