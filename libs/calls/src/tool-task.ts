import type { Event, FailureNote } from '@conclave/contracts';
import type { CallEnd, Calls, JournalledToolCall } from './calls.js';
import { failedStatus, note, type Performed, type TaskContext } from './task-worker.js';

type ResultPart = Extract<Performed, { result: unknown }>['result'];
type ToolRequest = Pick<JournalledToolCall, 'name' | 'request' | 'onBegun' | 'isError'>;

/** A tool's reply, and the attempt of the task it belongs to. */
export interface ToolAnswer {
  readonly content: string;
  readonly attempt: number;
}

/** Audit records of the calls. */
export const recordsOf = (ends: readonly CallEnd[]): readonly Event[] =>
  ends.flatMap((end) => (end.kind !== 'busy' && end.record ? [end.record] : []));

/**
 * How a task ends if some calls were not answered: deferred while one is busy, else cancelled, else failed with the first failure for which
 * `fails` returns true. Null if there are answers to continue with.
 */
export function earlyEnd(
  ends: readonly CallEnd[],
  { records = recordsOf(ends), fails = () => true }: { records?: readonly Event[]; fails?: (failure: FailureNote) => boolean } = {},
): Performed | null {
  const busy = ends.flatMap((end) => (end.kind === 'busy' ? [end.retryInMs] : []));
  if (busy.length > 0) return { deferMs: Math.max(...busy) };
  const attempt = Math.max(1, ...ends.map((end) => (end.kind === 'busy' ? 0 : end.attempt)));
  if (ends.some((end) => end.kind === 'cancelled'))
    return { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), attempt }, records };
  const failure = ends.flatMap((end) => (end.kind === 'failed' && fails(end.failure) ? [end.failure] : []))[0];
  return failure ? { result: { status: failedStatus(failure), failure, attempt }, records } : null;
}

/**
 * Answers a task with one tool call, like `answerTask` with a model: a busy, cancelled or failed call ends the task as such, and `read`
 * turns a reply into the result. `onFailed` is called with a failure before the task ends with it.
 */
export async function answerByTool(
  maker: Calls,
  { task, signal, deadline }: TaskContext,
  asked: ToolRequest,
  perform: (signal: AbortSignal) => Promise<unknown>,
  read: (answer: ToolAnswer) => ResultPart | Promise<ResultPart>,
  onFailed: (failure: FailureNote, attempt: number) => Promise<void> = () => Promise.resolve(),
): Promise<Performed> {
  const { runId, data } = task;
  const call = { runId, owner: data.taskId, index: 0, purpose: data.capability, deadline, signal, task, ...asked };
  const end = await maker.tool(call, async (running) => JSON.stringify(await perform(running)));
  if (end.kind === 'failed') await onFailed(end.failure, end.attempt);
  const early = earlyEnd([end]);
  if (early) return early;
  const { reply, attempt } = end as Extract<CallEnd, { kind: 'reply' }>;
  return { result: { attempt, ...(await read({ content: reply.content, attempt })) }, records: recordsOf([end]) };
}
