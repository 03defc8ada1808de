import * as z from 'zod';
import { RunId } from './ids.js';
import { StageCode } from './stages.js';
import { ThoughtCode } from './thoughts.js';
import { AwaitedCalls, FailureNote, Outcome, RuleId, Source, Timestamp, Usage } from './values.js';

/** Entries the engine appends inside `commit`: facts of the run, in order. */
export const EngineEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run.started'),
    template: z.string(),
    strategy: z.string(),
    maxRounds: z.int().describe('maximum rounds, including the first pass'),
    round: z.string().optional().describe('what the strategy calls a round, such as `wave`'),
    question: z.string(),
  }),
  z.object({
    kind: z.literal('run.forked'),
    of: RunId.describe('run whose entries precede this one'),
    step: z.int().describe('last step of that run that this one shares'),
  }),
  z.object({ kind: z.literal('planning'), epoch: z.int(), iteration: z.int(), max: z.int() }),
  z.object({
    kind: z.literal('plan.ready'),
    epoch: z.int(),
    fallback: z.boolean(),
    says: z.string().optional().describe("the planner's own account of its plan"),
    tasks: z.array(z.object({ taskId: z.string(), capability: z.string(), task: z.string(), needs: z.array(z.string()) })),
  }),
  z.object({ kind: z.literal('task.dispatched'), taskId: z.string(), capability: z.string(), taskClass: z.string() }),
  z.object({
    kind: z.literal('task.settled'),
    taskId: z.string(),
    capability: z.string(),
    status: z.string(),
    confidence: z.number().nullable(),
    facts: z.int().nonnegative(),
    summary: z.string(),
    durationMs: z.int(),
  }),
  z.object({
    kind: z.literal('assessed'),
    epoch: z.int(),
    verdict: z.string(),
    gap: z.string(),
    nextFocus: z.string(),
    parsed: z.boolean().describe('false if no verdict could be read and the fallback of the strategy was used'),
    failed: z.boolean().optional().describe('true if the check itself failed'),
  }),
  z.object({ kind: z.literal('decided'), epoch: z.int(), rule: RuleId, sentence: z.string() }),
  z.object({
    kind: z.literal('replanning'),
    iteration: z.int(),
    max: z.int(),
    gap: z.string(),
    round: z.string().optional().describe('what the strategy calls a round, such as `wave`'),
  }),
  z.object({
    kind: z.literal('thought'),
    code: ThoughtCode,
    taskId: z.string().nullable(),
    text: z.string().describe('what happened, one line for people'),
    detail: z.string().nullable().describe('prompt or raw content; only in runs that asked for full detail'),
    score: z
      .object({ mean: z.number().describe('mean of its four scores, 1 to 5'), quality: z.enum(['good', 'partial', 'failed']) })
      .optional()
      .describe('set for a step that was evaluated'),
  }),
  z.object({ kind: z.literal('stage'), code: StageCode, text: z.string().describe('what it does now, one line for people') }),
  z.object({ kind: z.literal('composing'), taskId: z.string(), stream: z.enum(['live', 'held']) }),
  z.object({
    kind: z.literal('command.accepted'),
    seq: z.int(),
    name: z.string(),
    actor: z.string().describe('who sent it'),
    text: z.string().optional().describe('what it says; the first 240 characters'),
  }),
  z.object({ kind: z.literal('command.applied'), seq: z.int(), name: z.string(), epoch: z.int() }),
  z.object({ kind: z.literal('command.rejected'), seq: z.int(), name: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('question.asked'), question: z.string(), deadline: Timestamp, calls: AwaitedCalls.optional() }),
  z.object({
    kind: z.literal('run.completed'),
    outcome: Outcome,
    rule: RuleId.nullable(),
    reason: z.string(),
    reasonCode: z.string(),
    answer: z.string().nullable(),
    cutShort: z.boolean(),
    sources: z.array(Source),
    usage: Usage,
    rounds: z.int(),
    failure: FailureNote.nullable(),
  }),
]);
export type EngineEntry = z.infer<typeof EngineEntry>;
/** The last entry of a run, with its outcome and answer. */
export type RunCompletedEntry = Extract<EngineEntry, { kind: 'run.completed' }>;

/** Entries a worker appends while it works, idempotent by task, attempt and offset. */
export const WorkerEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('chunk'),
    taskId: z.string(),
    attempt: z.int().positive(),
    offset: z.int().nonnegative().describe('characters (UTF-16 units) of this attempt before this chunk'),
    text: z.string().min(1),
  }),
  z.object({
    kind: z.literal('progress'),
    taskId: z.string(),
    attempt: z.int().positive(),
    n: z.int().nonnegative().describe('number of this progress line inside its attempt'),
    code: z.string().describe('stable code, such as `research.query`'),
    text: z.string().describe('one line for people, no prompts'),
    detail: z.string().optional().describe('prompt or raw content; only in runs that asked for full detail'),
  }),
]);
export type WorkerEntry = z.infer<typeof WorkerEntry>;

/** Written by the stream itself. */
export const StreamMark = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('superseded'),
    taskId: z.string(),
    attempt: z.int().positive().describe('attempt that replaces it'),
    discarded: z.int().nonnegative().describe('characters of the earlier attempt that no longer count'),
  }),
]);
export type StreamMark = z.infer<typeof StreamMark>;

export type StreamBody = EngineEntry | WorkerEntry | StreamMark;

/** One entry of a run's stream. Ids are dense integers from 1, assigned by the append. */
export type StreamEntry = StreamBody & { readonly id: number; readonly at: number };

/** Sent once before the entries if a reader asks for an id that the stream does not contain, or no longer contains. */
export interface Snapshot {
  readonly kind: 'snapshot';
  readonly runId: string;
  readonly first: number;
  readonly last: number;
  readonly status: string;
  readonly text: string;
}

/** Shape of every entry over HTTP. */
export const StreamEntryShape = z.intersection(
  z.object({ id: z.int().positive(), at: Timestamp }),
  z.union([EngineEntry, WorkerEntry, StreamMark]),
);

/** Shape of every entry of a stream of several runs: that of the run's own stream, and the id of the run. */
export const RunsEntryShape = z
  .looseObject({ runId: z.string().describe('run that the entry belongs to'), id: z.int().positive(), at: Timestamp, kind: z.string() })
  .describe('a `StreamEntry` with the id of its run');

export const isTerminal = (entry: StreamBody): entry is RunCompletedEntry => entry.kind === 'run.completed';
