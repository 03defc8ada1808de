import { createHash } from 'node:crypto';
import {
  ingestId,
  planId,
  resultId,
  type Event,
  type GapDetected,
  type PlanRequested,
  type RunCompleted,
  type TaskDispatched,
} from '@conclave/contracts';
import { canonicalJson, runCapability, type StepResult } from '@conclave/loop';
import { inOrder, RunClock, type Decided, type Difference, type OutputDifference } from './decided.js';
import { membersThatDiffer } from './differences.js';
import { driveWork, type HandledWork } from './drive-work.js';
import type { Recording } from './recording.js';
import { Replay } from './replay.js';
import { todaysCode, type TodaysCode } from './todays-code.js';

export interface ReplayCounts {
  readonly steps: number;
  /** Calls of models and tools. */
  readonly calls: number;
  readonly outcomes: number;
}

/** Result of replaying one recorded run. */
export interface ReplayedRun {
  readonly runId: string;
  /** Milliseconds since 1970 of the first record. */
  readonly from: number;
  readonly ended: boolean;
  /** Counts of everything driven, and of what was equal before the first difference. */
  readonly driven: ReplayCounts;
  readonly before: ReplayCounts;
  /** The first decision, in run order, that today's code makes differently. */
  readonly first: Difference | null;
  /** Number of differences after the first one; many may follow from it. */
  readonly more: number;
  /** Sentences about missing parts of the recording, which prevented a complete replay. */
  readonly lacks: readonly string[];
  /** SHA-256 over everything today's code decided, first 16 hex digits: equal decisions have equal hashes. */
  readonly hash: string;
}

/** Whether the recording was replayed completely and today's code makes the same decisions. */
export const sameAsRecorded = ({ first, lacks }: ReplayedRun): boolean => first === null && lacks.length === 0;

/**
 * Drives every decision of a run through today's code: each engine step, plan and task, with the recorded clock, calls and replies.
 * Contacts no model, tool or store.
 */
export async function driveRun(recording: Recording, code: TodaysCode = todaysCode): Promise<ReplayedRun> {
  const { runId } = recording;
  const clock = new RunClock(recording.steps);
  const engine = driveEngine(recording, code, clock);
  const decided = [...engine.decided];
  const lacks = [...recording.undecodable.map((id) => `${id} cannot be decoded`), ...engine.lacks];
  const unstored: string[] = [];
  const uncompared: string[] = [];
  for (const step of recording.contradicted) lacks.push(`two records of the call ${step} contradict each other`);
  for (const work of worksOf(recording, engine.outputs, lacks)) {
    const driven = await driveWork(work, recording, clock, code);
    decided.push(...driven.decided);
    lacks.push(...driven.lacks);
    unstored.push(...driven.unstored);
    uncompared.push(...driven.uncompared);
  }
  if (uncompared.length > 0) lacks.push(`neither prompt nor hash of ${uncompared.length} of its calls is stored (${uncompared[0]})`);
  if (unstored.length > 0)
    lacks.push(`replies are not stored: ${unstored.length} of its calls cannot be replayed further (${unstored[0]})`);
  decided.sort((a, b) => inOrder(a.place, b.place));
  const differ = decided.filter(({ difference }) => difference !== null);
  const firstAt = differ[0] ? decided.indexOf(differ[0]) : decided.length;
  const times = [
    ...recording.steps.map(({ now }) => now),
    ...recording.owners.flatMap((owner) => [...recording.callsOf(owner).values()].map(({ data }) => data.startedAt)),
  ];
  return {
    runId,
    from: times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    ended: engine.ended,
    driven: countsOf(decided),
    before: countsOf(decided.slice(0, firstAt)),
    first: differ[0]?.difference ?? null,
    more: Math.max(0, differ.length - 1),
    lacks,
    hash: shortHash(decided.map(({ mark }) => mark)),
  };
}

export const shortHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);

const countsOf = (decided: readonly Decided[]): ReplayCounts => {
  const count = (kind: Decided['kind']): number => decided.filter((one) => one.kind === kind).length;
  return { steps: count('step'), calls: count('call'), outcomes: count('outcome') };
};

interface DrivenEngine {
  readonly decided: readonly Decided[];
  /** Outputs of today's engine, by id, up to the first step that differs. */
  readonly outputs: ReadonlyMap<string, Event>;
  readonly lacks: readonly string[];
  readonly ended: boolean;
}

function driveEngine(recording: Recording, code: TodaysCode, clock: RunClock): DrivenEngine {
  const { strategyOf, chainHash, stateHash } = code;
  const steps = new Map<number, Decided>();
  const outputs = new Map<string, Event>();
  const decide = (version: number, difference: Difference | null, mark: unknown): void => {
    steps.set(version, { place: { version, phase: 0, at: clock.nowOf(version), id: '' }, kind: 'step', difference, mark });
  };
  const onStep = (version: number, decision: StepResult): void => {
    const contents = decision.outputs.map(({ id, data }) => ({ id, data }));
    for (const output of decision.outputs) outputs.set(output.id, output);
    const changed = decision.outputs.flatMap((output) => outputDifference(version, output, recording.outputs.get(output.id)));
    decide(version, changed[0] ?? null, shortHash({ version, contents, hash: decision.next.hash }));
  };
  const replay = new Replay(recording.runId, { strategyOf, chainHash, stateHash, onStep });
  for (const step of recording.steps) replay.take(step);
  const result = replay.result();
  const lacks: string[] = [];
  const hasEnd = [...recording.outputs.values()].some(({ type }) => type === 'RunCompleted');
  const ended = hasEnd || (result.kind === 'same' && result.ended);
  if (result.kind === 'different' || result.kind === 'refused') {
    const driven = steps.get(result.version);
    const output = driven?.difference?.kind === 'output' ? driven.difference : null;
    decide(result.version, { kind: 'step', result, output }, driven?.mark ?? null);
    return { decided: [...steps.values()], outputs, lacks, ended };
  }
  if (result.kind === 'conflicting') lacks.push(`two records of step ${result.version} contradict each other`);
  if (result.kind === 'missing')
    lacks.push(`${result.gaps.map(([from, to]) => (from === to ? `step ${from}` : `steps ${from} to ${to}`)).join(', ')} missing`);
  // Steps that are missing after the last recorded one leave no gap between numbers.
  if (result.kind === 'same' && !result.ended && hasEnd) lacks.push('the run has ended, but the step in which it did is not recorded');
  if (recording.steps.length === 0) lacks.push('no step of the engine is recorded');
  return { decided: [...steps.values()], outputs, lacks, ended };
}

/** Compares an output of the engine with the event on its topic, if it is still there. */
function outputDifference(version: number, { id, type, data }: Event, recorded: Event | undefined): readonly OutputDifference[] {
  const members = recorded ? membersThatDiffer(withoutPermit(recorded.data), data) : [];
  return members.length === 0 ? [] : [{ kind: 'output', version, id, type, members }];
}

/** Capability tokens are signed outside the engine, with a key that a replay does not have. No decision depends on them. */
function withoutPermit(data: unknown): unknown {
  const { permit: _permit, ...rest } = data as { readonly permit?: unknown };
  return rest;
}

/**
 * Handled work: plans, tasks and learning from the run's end, with the events that requested it as recorded, else as today's engine outputs
 * them.
 */
function* worksOf(recording: Recording, outputs: ReadonlyMap<string, Event>, lacks: string[]): Generator<HandledWork> {
  const { runId, request } = recording;
  const known = new Set<string>();
  const asked = new Map<string, Event>([...outputs, ...recording.outputs]);
  if (request) {
    const owner = planId(runId, 0);
    known.add(owner);
    yield { kind: 'plan', owner, outcome: owner, input: request as PlanRequested };
  }
  for (const input of asked.values()) {
    if (input.type === 'GapDetected' && request) {
      const gap = input as GapDetected;
      const owner = planId(runId, gap.data.epoch + 1);
      known.add(owner);
      yield { kind: 'plan', owner, outcome: owner, input: gap };
    } else if (input.type === 'TaskDispatched') {
      const task = input as TaskDispatched;
      const owner = task.data.taskId;
      known.add(owner);
      // A child run is driven by its own records, and its end is what its own engine decides.
      if (task.data.capability === runCapability) continue;
      yield { kind: 'task', owner, outcome: resultId(owner), input: task };
    } else if (input.type === 'RunCompleted') {
      const owner = ingestId(runId);
      known.add(owner);
      yield { kind: 'learning', owner, outcome: owner, input: input as RunCompleted };
    }
  }
  for (const owner of recording.owners)
    if (!known.has(owner) && !recording.isOfGateway(owner))
      lacks.push(`the event that requested ${owner} is not recorded, so its calls cannot be replayed`);
}
