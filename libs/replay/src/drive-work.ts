import {
  promptMarks,
  type CallRecorded,
  type Event,
  type GapDetected,
  type PlanCreated,
  type PlanRequested,
  type ResultReady,
  type RunCompleted,
  type TaskDispatched,
} from '@conclave/contracts';
import { canonicalJson } from '@conclave/loop';
import { isDeferred, type HandlerOutcome, type Search } from '@conclave/ports';
import { requestHash } from '@conclave/calls';
import { factsFromCache } from '@conclave/service-experts';
import type { Decided, Difference, RunClock } from './decided.js';
import { membersThatDiffer, requestDifference } from './differences.js';
import { CallNotRecorded, RecordedCalls, ReplyNotStored, replyText, type AskedCall } from './recorded-calls.js';
import type { RecordedOutcome, Recording } from './recording.js';
import type { SeenState, TodaysCode } from './todays-code.js';

/**
 * A plan or task that was handled, or the reading of a finished answer. `outcome` is the id of the event that answers it; a reading has
 * none.
 */
export type HandledWork =
  | { readonly kind: 'plan'; readonly owner: string; readonly outcome: string; readonly input: PlanRequested | GapDetected }
  | { readonly kind: 'task'; readonly owner: string; readonly outcome: string; readonly input: TaskDispatched }
  | { readonly kind: 'learning'; readonly owner: string; readonly outcome: string; readonly input: RunCompleted };

export interface DrivenWork {
  readonly decided: readonly Decided[];
  readonly lacks: readonly string[];
  /** Steps of calls with neither request nor hash in the audit. */
  readonly uncompared: readonly string[];
  /** Steps of calls whose replies are not in the audit. */
  readonly unstored: readonly string[];
}

/** Results not made by a capability: the transport settled a dead letter, which is not a decision of that code. */
const isOfTransport = ({ data }: RecordedOutcome): boolean => (data as ResultReady['data']).failure?.code === 'RECORD_DEAD';

/** Sends one recorded input through today's handler and compares each request and the outcome with the recording. */
export async function driveWork(work: HandledWork, recording: Recording, clock: RunClock, code: TodaysCode): Promise<DrivenWork> {
  const recorded = recording.callsOf(work.owner);
  const outcomes = recording.outcomesOf(work.outcome).filter((outcome) => !isOfTransport(outcome));
  // The worker that made calls reports them in its result; attempt 0 marks an answer made without calls by another one.
  const told = (recorded.size > 0 && outcomes.find(({ data }) => (data as { attempt?: number }).attempt !== 0)) || outcomes[0];
  // The work was not handled, or left no records: there is no decision to compare.
  if (recorded.size === 0 && !told) return { decided: [], lacks: [], uncompared: [], unstored: [] };
  const calls = new RecordedCalls(recorded, foundCancel(work, recorded.size > 0, told ?? null));
  const bounds = clock.bounds(work.input.id, work.outcome);
  const lacks: string[] = [];
  const unstored: string[] = [];
  let answer: Event | null = null;
  let ending: Difference | null = null;
  let whole = false;
  try {
    const events = await handle(work, calls, seen(work, recording, recorded, told ?? null), searched(recorded, told), code);
    if (isDeferred(events)) throw new Error('Today it is deferred, although nothing it waits for is open.');
    answer = events.find(({ type }) => type === outcomeTypes[work.kind]) ?? null;
    whole = true;
  } catch (error) {
    const last = calls.asked.at(-1);
    if (error instanceof ReplyNotStored) unstored.push(error.message);
    else if (error instanceof CallNotRecorded && last)
      ending = { kind: 'unrecorded', step: last.step, purpose: last.purpose, name: last.name, asks: endOf(last) };
    else ending = { kind: 'thrown', owner: work.owner, sentence: error instanceof Error ? error.message : String(error) };
  }
  const asked = calls.asked.filter(({ recorded: made }) => made !== null);
  const uncompared = asked.filter(({ compared }) => compared === 'unknown').map(({ step }) => step);
  const at = [...recorded.values()].reduce((end, { data }) => Math.max(end, data.startedAt + data.durationMs), 0) || (told?.time ?? 0);
  const end = { version: Math.min(clock.versionAt(at, bounds), clock.lastVersion), phase: 2, at, id: work.outcome } as const;
  const decided: Decided[] = asked.map((call) => callOf(call, clock.versionAt(call.recorded!.startedAt, bounds)));
  if (ending) decided.push({ place: end, kind: 'outcome', difference: ending, mark: ending });
  if (whole) {
    const unmade = calls.unmade[0];
    const difference = told
      ? outcomeDifference(work, told, answer)
      : unmade && ({ kind: 'unmade', step: unmade.step, purpose: unmade.purpose, name: unmade.model } as const);
    if (!told && answer && recordingEnded(recording)) lacks.push(`${work.outcome} is not recorded`);
    else if (told || unmade)
      decided.push({
        place: end,
        kind: 'outcome',
        difference: difference ?? (unmade ? { kind: 'unmade', step: unmade.step, purpose: unmade.purpose, name: unmade.model } : null),
        mark: answer && comparable(answer.data),
      });
  }
  return { decided, lacks, uncompared, unstored };
}

const handle = (
  work: HandledWork,
  calls: RecordedCalls,
  state: SeenState,
  search: Search['kind'] | null,
  code: TodaysCode,
): Promise<HandlerOutcome> => {
  switch (work.kind) {
    case 'plan':
      return code.plan(work.input, calls, state, search);
    case 'task':
      return code.work(work.input, calls, state, search);
    case 'learning':
      return code.learn(work.input, calls, state);
  }
};

const outcomeTypes: Readonly<Record<HandledWork['kind'], string | null>> = { plan: 'PlanCreated', task: 'ResultReady', learning: null };

/** Whether the handler found the cancel flag of its run: a planner says so, and a worker says so if it has made no call. */
function foundCancel({ kind }: HandledWork, called: boolean, told: RecordedOutcome | null): boolean {
  if (kind === 'plan') return (told?.data as PlanCreated['data'] | undefined)?.failure?.code === 'CALL_CANCELLED';
  return !called && (told?.data as Partial<ResultReady['data']> | undefined)?.status === 'cancelled';
}

/**
 * The state a handler saw is not recorded; it is inferred from the handler's actions: whether it had begun, was too late or was cancelled.
 */
function seen(
  work: HandledWork,
  { request }: Recording,
  recorded: ReadonlyMap<string, CallRecorded>,
  told: RecordedOutcome | null,
): SeenState {
  const called = recorded.size > 0;
  // A planner that made no call either needed none or found the flag before it began.
  const started = called || (work.kind !== 'task' && !foundCancel(work, called, told));
  if (work.kind !== 'task') return { now: work.input.time, started, request, kept: null };
  const answer = told?.data as ResultReady['data'] | undefined;
  // A worker that is in time begins a call, which finds the flag. A worker that made no call was therefore late.
  const expired = answer?.failure?.code === 'TASK_EXPIRED' || (!called && answer?.status === 'cancelled');
  // A sub-topic makes at most two calls, a search and a question about what it found: a cache takes the place of the second.
  const [search] = recorded.size === 1 && work.input.data.capability === 'subtopic' ? recorded.values() : [];
  const found = search ? replyText(search.data) : null;
  const kept = found === null ? null : factsFromCache(found, answer?.output ?? null);
  return { now: expired ? work.input.data.startBy + 1 : Math.min(work.input.time, work.input.data.startBy), started, request, kept };
}

/**
 * The kind of search of a worker, from its first call; null if its result says that it had no part for the task, such as a search or a
 * memory, and `corpus` if nothing shows the kind.
 */
function searched(calls: ReadonlyMap<string, CallRecorded>, told: RecordedOutcome | undefined): Search['kind'] | null {
  const name = [...calls.values()][0]?.data.model;
  if (name?.startsWith('search.')) return name.slice('search.'.length) as Search['kind'];
  return (told?.data as Partial<ResultReady['data']> | undefined)?.status === 'unsupported' ? null : 'corpus';
}

function callOf(call: AskedCall, version: number): Decided {
  const { step, purpose, name, request, recorded, compared } = call;
  const difference = compared === 'different' ? ({ kind: 'request', step, purpose, request: requestDifference(call) } as const) : null;
  const place = { version, phase: 1, at: recorded!.startedAt, id: step } as const;
  return { place, kind: 'call', difference, mark: { step, name, request: requestHash(request) } };
}

function outcomeDifference({ outcome, kind }: HandledWork, told: RecordedOutcome, answer: Event | null): Difference | null {
  const type = outcomeTypes[kind] ?? '';
  if (!answer) return { kind: 'outcome', id: outcome, type, members: [] };
  const [was, is] = [comparable(told.data), comparable(answer.data)];
  return canonicalJson(was) === canonicalJson(is) ? null : { kind: 'outcome', id: outcome, type, members: membersThatDiffer(was, is) };
}

/** Removes the duration, on which no decision depends. */
function comparable(data: unknown): unknown {
  const { durationMs: _durationMs, ...rest } = data as { durationMs?: number };
  return rest;
}

const recordingEnded = ({ outputs }: Recording): boolean => [...outputs.values()].some(({ type }) => type === 'RunCompleted');

/** The end of a call's prompt, after everything it quotes: a re-ask names the faults there. */
function endOf({ request }: AskedCall): string {
  const messages = (request as { messages?: readonly { readonly content: string }[] }).messages ?? [];
  return messages.at(-1)?.content.split(promptMarks.data.close).at(-1)?.trim() ?? canonicalJson(request);
}
