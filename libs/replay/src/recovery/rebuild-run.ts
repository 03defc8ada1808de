import { factEntries, type Event, type FactOf, type PlanRequested, type RunCompleted, type StepRecorded } from '@conclave/contracts';
import { evolve, inputOf, NotBegun, statusOf, step, type StepResult, type RunState, type Strategies } from '@conclave/loop';
import type { RestoredRun } from '@conclave/ports';
import { lostRequest } from './lost-request.js';

/** The log's records of one run. */
export interface RunRecords {
  readonly runId: string;
  /** Its request; null if only later records are left. */
  readonly header: PlanRequested | null;
  /** Records of its steps in log order; a step published twice may occur twice. */
  readonly steps: readonly StepRecorded[];
  /** Versions whose record exists but is unreadable. */
  readonly unreadable: readonly number[];
  readonly completed: RunCompleted | null;
  /** Whether its end was requested. */
  readonly cancelled: boolean;
}

export interface RebuildOptions {
  readonly strategyOf: Strategies;
}

export interface RebuiltRun {
  readonly run: RestoredRun<RunState>;
  /** Versions without a record although later ones have one: their inputs were never acknowledged and are redelivered. */
  readonly gaps: readonly number[];
  /** Why the run cannot continue and must be ended; null if it can. */
  readonly fault: string | null;
}

/**
 * Rebuilds a run after its last recorded step by driving every recorded input through today's engine at its recorded time.
 *
 * A step that was in the lost store but never published leaves a gap. Its input was not acknowledged either, so it is redelivered and taken
 * later: ids are semantic, so everything that followed from it is decided again under the same ids. If the first step is missing, the run
 * begins from its header with the first existing input.
 */
export function rebuildRun(records: RunRecords, options: RebuildOptions): RebuiltRun {
  const { runId, completed, unreadable } = records;
  const driven = drive(records, options);
  const versions = new Set(records.steps.map(({ data }) => data.version));
  const lost = unreadable.filter((version) => !versions.has(version));
  const gaps = gapsIn(versions).filter((version) => !lost.includes(version));
  const { header } = driven;
  const version = Math.max(0, ...versions, ...unreadable, completed ? 1 : 0);
  // An ended run stays ended, whatever can be driven: its end is on the log.
  const end = completed && (driven.state?.endedAt ?? null) === null ? endOf(completed, driven.state?.epoch ?? 0) : null;
  const state = end ? endedState(runId, driven.state, header, completed!, end, options) : driven.state;
  const endedAt = state?.endedAt ?? null;
  const terminal = endedAt !== null;
  const fault = terminal ? null : (driven.fault ?? (lost.length > 0 ? `step ${lost.join(', ')} can no longer be read` : null));
  const { due } = state ?? { due: { arm: 0, at: null } };
  const isArmed = due.at !== null && !terminal;
  return {
    run: {
      runId,
      header,
      retryKey: header?.data.retryKey ?? null,
      version,
      // A run whose steps cannot be driven is ended; until then it has its initial state.
      state: state ?? (version > 0 ? begun(runId, header ?? lostRequest(runId, driven.lastNow), options) : null),
      status: state ? statusOf(state) : 'accepted',
      terminal,
      endedAt,
      applied: driven.applied,
      entries: end ? [...driven.entries, ...factEntries(end).map((entry) => ({ at: end.at, entry }))] : driven.entries,
      timers: isArmed ? [{ name: 'due', arm: due.arm, dueAt: due.at! }] : [],
      disarmed: isArmed ? [] : ['due'],
      cancels: terminal ? [] : [...driven.cancels, ...(records.cancelled ? [runId] : [])],
    },
    gaps,
    fault,
  };
}

interface Driven {
  state: RunState | null;
  header: PlanRequested | null;
  fault: string | null;
  lastNow: number;
  readonly applied: RestoredRun<RunState>['applied'][number][];
  readonly entries: RestoredRun<RunState>['entries'][number][];
  readonly cancels: Set<string>;
}

function drive({ runId, header, steps }: RunRecords, options: RebuildOptions): Driven {
  const driven: Driven = { state: null, header, fault: null, lastNow: 0, applied: [], entries: [], cancels: new Set() };
  const taken = new Set<string>();
  // After a gap, steps rightly differ from the recorded ones.
  let whole = true;
  for (const record of [...steps].sort((a, b) => a.data.version - b.data.version)) {
    const { version, input, now } = record.data;
    if (taken.has(input.id)) continue;
    taken.add(input.id);
    whole &&= version === taken.size;
    driven.lastNow = now;
    try {
      const decision = takeStep(runId, driven, record, options);
      if (whole) driven.fault = departureOf(record, decision);
      keep(driven, record, decision);
    } catch (error) {
      // The input's subject follows from a missing step. That input is redelivered, and with it everything that followed: a task is
      // dispatched under its id and answered from the journal. Marking this input as applied would then discard it.
      if (!whole && error instanceof NotBegun) continue;
      driven.fault = `step ${version} fails today: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (driven.fault !== null) return driven;
  }
  return driven;
}

function takeStep(runId: string, driven: Driven, { data }: StepRecorded, { strategyOf }: RebuildOptions): StepResult | null {
  const request = data.request ? inputOf(runId, data.request) : null;
  const event = inputOf(runId, data.input);
  for (const one of [request, event]) if (one?.type === 'PlanRequested') driven.header ??= one;
  return step(driven.state, event, data.now, strategyOf, event.type === 'PlanRequested' ? null : driven.header);
}

/** Outputs of a step are on the log or will be published: a state with other outputs is not this run's state. */
function departureOf({ data }: StepRecorded, decision: StepResult | null): string | null {
  const idsOf = (outputs: readonly { readonly id: string }[]): string => outputs.map(({ id }) => id).join(', ') || 'nothing';
  const [was, is] = [idsOf(data.outputs), idsOf(decision?.outputs ?? [])];
  return was === is ? null : `step ${data.version} returned ${was} when it was recorded and returns ${is} with this version`;
}

function keep(driven: Driven, record: StepRecorded, decision: StepResult | null): void {
  const { input, now, hash } = record.data;
  driven.applied.push({ eventId: input.id, outputs: [...(decision?.outputs ?? []), record as Event] });
  if (!decision) return;
  // Between two steps a state is stored as JSON. The chain of hashes continues from the recorded one.
  driven.state = JSON.parse(JSON.stringify({ ...decision.next, hash })) as RunState;
  driven.entries.push(...decision.entries.map((entry) => ({ at: now, entry })));
  for (const id of decision.cancels) driven.cancels.add(id);
}

function gapsIn(versions: ReadonlySet<number>): readonly number[] {
  const last = Math.max(0, ...versions);
  return Array.from({ length: last }, (_, n) => n + 1).filter((version) => !versions.has(version));
}

/** Initial state of a run, from its request. */
function begun(runId: string, { data: request }: PlanRequested, { strategyOf }: RebuildOptions): RunState {
  const { strategy } = request.template;
  const started = evolve(null, { kind: 'RunStarted', at: request.requestedAt, strategy, maxRounds: 1, request }, strategyOf);
  return evolve({ ...started, runId }, { kind: 'StrategyChosen', strategy }, strategyOf);
}

function endOf({ data }: RunCompleted, epoch: number): FactOf<'RunEnded'> {
  const { outcome, rule, reason, reasonCode, answer: text, sources, insight, cutShort } = data;
  const { usage, rounds, openCalls, failure, completedAt: at } = data;
  const answer = text === null ? null : { text, sources, insight, cutShort, epoch };
  return { kind: 'RunEnded', at, ending: { outcome, rule, reason, reasonCode }, answer, usage, rounds, openCalls, failure };
}

/** State of an ended run whose last steps are lost, from its terminal event. */
function endedState(
  runId: string,
  before: RunState | null,
  header: PlanRequested | null,
  { data }: RunCompleted,
  end: FactOf<'RunEnded'>,
  options: RebuildOptions,
): RunState {
  const request = header ?? withEnd(lostRequest(runId, data.startedAt), data);
  const ended = evolve(before ?? begun(runId, request, options), end, options.strategyOf);
  return { ...ended, spent: data.usage, rounds: data.rounds, history: data.history };
}

/** Completes a lost request with what the run's end says about it. */
const withEnd = (lost: PlanRequested, { question, caller, template }: RunCompleted['data']): PlanRequested => ({
  ...lost,
  data: { ...lost.data, goal: question, caller, template: { ...lost.data.template, ...template } as PlanRequested['data']['template'] },
});
