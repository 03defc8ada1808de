import * as z from 'zod';

/**
 * Every id is deterministic and semantic: it names what the event *is*, never where it was made. So a repeated handler creates the same
 * ids, and every receiver can drop the repeat.
 */
export const RunId = z
  .string()
  .regex(/^run_[A-Za-z0-9]{8,64}(~\d+\.[A-Za-z0-9][A-Za-z0-9_.-]{0,31}){0,3}$/)
  .describe('run id, `run_` followed by 8 to 64 letters and digits; that of a child run continues with `~<epoch>.<task>` of its parent');
export type RunId = string;

/** A task id chosen by a planner: short, and never with the prefix of the engine's own judge tasks. */
export const LocalTaskId = z
  .string()
  .regex(/^(?!judge\.)[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/, 'must be 1 to 32 letters, digits, "_", "." and "-", and not begin with "judge."')
  .describe('task id inside its plan, 1 to 32 characters, must not begin with "judge."');

export const Epoch = z.int().nonnegative().describe('number of the plan inside its run, from 0');

export const planId = (runId: string, epoch: number): string => `${runId}/${epoch}/plan`;
export const taskId = (runId: string, epoch: number, local: string): string => `${runId}/${epoch}/${local}`;
export const judgeTaskId = (runId: string, epoch: number, name: string, n = 0): string =>
  `${runId}/${epoch}/judge.${name}${n > 0 ? `.${n}` : ''}`;
/** Owner of the calls that learn from a finished run. */
export const ingestId = (runId: string): string => `${runId}/ingest`;
export const resultId = (task: string): string => `${task}/result`;
export const gapId = (runId: string, epoch: number): string => `${runId}/${epoch}/gap`;
export const timerId = (runId: string, arm: number): string => `${runId}/timer/${arm}`;
export const commandId = (runId: string, seq: number): string => `${runId}/command/${seq}`;
export const completedId = (runId: string): string => `${runId}/completed`;
export const erasedId = (runId: string): string => `${runId}/erased`;
/** Journal step of the n-th model call of a task or plan: never a hash of the prompt, so a changed prompt keeps its step. */
export const callStep = (owner: string, index: number): string => `${owner}/call/${index}`;

export interface TaskAddress {
  readonly runId: string;
  readonly epoch: number;
  readonly local: string;
}

/** Inverse of `taskId` and `judgeTaskId`; undefined for anything else. */
export function parseTaskId(id: string): TaskAddress | undefined {
  const match = /^(run_[^/]+)\/(\d+)\/([^/]+)$/.exec(id);
  return match ? { runId: match[1]!, epoch: Number(match[2]), local: match[3]! } : undefined;
}

/** Maximum number of generations of child runs. */
export const deepestChild = 3;

/** Id of the run that a task of capability `run` starts: deterministic, so that a repeated task does not start a second run. */
export function childRunId(task: string): string {
  const { runId, epoch, local } = parseTaskId(task)!;
  return `${runId}~${epoch}.${local}`;
}

/** The task that started a run; null for a run that a client requested. */
export function parentTaskOf(runId: string): (TaskAddress & { readonly taskId: string }) | null {
  const match = /^(.+)~(\d+)\.([^~]+)$/.exec(runId);
  if (!match) return null;
  const [parent, epoch, local] = [match[1]!, Number(match[2]), match[3]!];
  return { runId: parent, epoch, local, taskId: taskId(parent, epoch, local) };
}

/** The run that a client requested: the run itself, or the first ancestor of a child run. */
export const rootOf = (runId: string): string => runId.split('~', 1)[0]!;

/** Generations between a run and the one that a client requested; 0 for the latter. */
export const depthOf = (runId: string): number => runId.split('~').length - 1;

/** Runs and tasks whose cancel also cancels this run, nearest first; empty for a run that a client requested. */
export function ancestorsOf(runId: string): readonly string[] {
  const parent = parentTaskOf(runId);
  return parent ? [parent.taskId, parent.runId, ...ancestorsOf(parent.runId)] : [];
}
