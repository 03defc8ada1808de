import {
  CommandIssued,
  commandId,
  makeEvent,
  noUsage,
  ResultReady,
  type ResultReady as ReadyResult,
  resultId,
  type Event,
  type FailureNote,
  type Service,
  type TaskDispatched,
} from '@conclave/contracts';
import type { DeadReason, HandlerOutcome } from '@conclave/ports';
import type * as z from 'zod';
import { defer } from '@conclave/ports';
import { knownStrategy, StrategyMissing } from '@conclave/strategies';
import type { Calls, WorkState } from './calls.js';

/** The body of a result before its defaults are filled in. */
type ResultDraft = z.input<(typeof ResultReady)['schema']>;

/** What a capability returns: the body of a result, entries for the audit, or a deferral. */
export type Performed =
  | { readonly result: Partial<ResultDraft> & Pick<ResultDraft, 'status'>; readonly records: readonly Event[] }
  | { readonly deferMs: number };

export interface TaskContext {
  readonly task: TaskDispatched;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970 by the store's clock at which the task must have ended. */
  readonly deadline: number;
}

export type Capability = (context: TaskContext) => Promise<Performed>;

export const note = (code: string, message: string, retriable = false): FailureNote => ({ code, message, retriable });

/** Status of a task whose call failed. */
export const failedStatus = ({ code }: FailureNote): 'timeout' | 'error' => (code === 'CALL_TIMEOUT' ? 'timeout' : 'error');

/** The result event of a task, with missing fields filled with defaults. */
export function resultOf(
  task: TaskDispatched,
  source: Service,
  data: Partial<ResultDraft> & Pick<ResultDraft, 'status'>,
  time = Date.now(),
): ReadyResult {
  const { taskId, epoch } = task.data;
  return makeEvent(
    ResultReady,
    { id: resultId(taskId), runId: task.runId, source, time },
    {
      taskId,
      epoch,
      output: null,
      confidence: null,
      gaps: [],
      refer: [],
      sources: [],
      failure: null,
      model: null,
      usage: noUsage,
      attempt: 0,
      durationMs: 0,
      ...data,
    },
  );
}

/**
 * Runs one dispatched task: expired, ended and unknown work is answered without a call; all other work goes to its capability. After the
 * start deadline, only work begun before it is finished.
 */
export async function workOn(
  task: TaskDispatched,
  parts: {
    state: WorkState;
    cancels: Calls['cancels'];
    source: Service;
    signal: AbortSignal;
    capability: Capability | null;
    /** Whether the capability does nothing before its first journalled call, which itself checks for cancels. */
    callsFirst: boolean;
  },
): Promise<HandlerOutcome> {
  const { state, source } = parts;
  const { taskId, capability, startBy, timeoutS } = task.data;
  if (!parts.capability)
    return [
      resultOf(task, source, {
        status: 'unsupported',
        failure: note(
          'CAPABILITY_UNSUPPORTED',
          `This worker does not have the capability ${capability}. If an extension provides it, name its module under \`extensions\` in the configuration of every process, and restart them.`,
        ),
      }),
    ];
  const now = await state.now();
  if (!(parts.callsFirst && now <= startBy) && !(await state.journal.started(taskId))) {
    if (await parts.cancels.isCancelled([task.runId, taskId]))
      return [
        resultOf(task, source, { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled before it started.') }),
      ];
    if (now > startBy)
      return [
        resultOf(task, source, { status: 'timeout', failure: note('TASK_EXPIRED', 'The task was not started before its deadline.') }),
      ];
  }
  const from = performance.now();
  const performed = await parts.capability({ task, signal: parts.signal, deadline: Math.min(now, startBy) + timeoutS * 1000 });
  if ('deferMs' in performed) return defer(performed.deferMs);
  const ended = await state.now();
  return [resultOf(task, source, { durationMs: Math.round(performance.now() - from), ...performed.result }, ended), ...performed.records];
}

/** Why a record became a dead letter, for people. */
const whyDead: Readonly<Record<DeadReason, string>> = {
  undecodable: 'it cannot be read',
  failed: 'handling it failed each time',
  killed_process: 'each process that handled it ended meanwhile',
};

/** Result of a dead-lettered task: an error, so that its round continues. */
export const deadTask = (task: TaskDispatched, source: Service, reason: DeadReason): ReadyResult =>
  resultOf(task, source, {
    status: 'error',
    failure: note('RECORD_DEAD', `The record of this task became a dead letter (${reason}): ${whyDead[reason]}.`),
  });

/** Ends the run of a dead-lettered engine or planner record. */
export async function abortRun(
  event: Event,
  state: Pick<WorkState, 'now'> & { readonly runs: Pick<WorkState['runs'], 'nextCommandSeq' | 'header'> },
  reason: DeadReason,
): Promise<readonly Event[]> {
  const strategy = (await state.runs.header(event.runId))?.data.template.strategy;
  // The most frequent cause that a person can remove, and the run's owner is not told of any other.
  const missing = strategy === undefined || knownStrategy(strategy) ? '' : `: ${new StrategyMissing(strategy).detail}`;
  const seq = await state.runs.nextCommandSeq(event.runId);
  const issuedAt = await state.now();
  return [
    makeEvent(
      CommandIssued,
      { id: commandId(event.runId, seq), runId: event.runId, source: 'transport', time: issuedAt },
      {
        seq,
        actor: 'transport',
        issuedAt,
        command: { name: 'abort', reason: `${event.type} ${event.id} could not be handled (${reason})${missing}` },
      },
    ),
  ];
}
