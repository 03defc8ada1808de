import type { Event, PlanRequested, RunCompleted, StepRecorded } from '@conclave/contracts';
import { evolve, inputOf, step, unborn, type Decision, type EngineInput, type RunState, type Strategy } from '@conclave/loop';
import type { RestoredRun } from '@conclave/ports';

/** What the log holds of one run. */
export interface RunRecords {
  readonly runId: string;
  /** Its request; null where only later records of it are left. */
  readonly header: PlanRequested | null;
  /** Records of its steps in the order of the log; one that was published twice may stand there twice. */
  readonly steps: readonly StepRecorded[];
  /** Versions whose record is there and cannot be read. */
  readonly unreadable: readonly number[];
  readonly completed: RunCompleted | null;
  /** Whether somebody asked for its end. */
  readonly cancelled: boolean;
}

export interface RebuildOptions {
  readonly strategyOf: (id: string) => Strategy;
  readonly stateHash: (state: RunState) => string;
}

export interface RebuiltRun {
  readonly run: RestoredRun<RunState>;
  /** Versions that have no record although later ones have: their inputs were never acknowledged and come again. */
  readonly gaps: readonly number[];
  /** Why it cannot go on and has to be ended; null where it can. */
  readonly fault: string | null;
}

/**
 * A run as it stood after its last recorded step: every recorded input is driven through today's engine, at its recorded time.
 *
 * A step that the lost store held and that was never published leaves a gap. Its input was not acknowledged either, so it comes
 * again and is taken then, later than it was: the engine relies on no order, and ids are semantic, so whatever had followed
 * from it is decided again under the same ids.
 */
export function rebuildRun(records: RunRecords, options: RebuildOptions): RebuiltRun {
  const { runId, completed, unreadable } = records;
  const driven = drive(records, options);
  const versions = new Set(records.steps.map(({ data }) => data.version));
  const lost = unreadable.filter((version) => !versions.has(version));
  const gaps = gapsIn(versions).filter((version) => !lost.includes(version));
  const header = records.header ?? driven.header;
  const version = Math.max(0, ...versions, ...unreadable, completed ? 1 : 0);
  // Whatever can be driven, an ended run stays ended: its end is on the log.
  const isOver = driven.state?.phase === 'done';
  const state = completed && !isOver ? endedState(driven.state ?? unborn(runId), header, completed) : driven.state;
  const terminal = state?.phase === 'done';
  const fault = terminal ? null : (driven.fault ?? (lost.length > 0 ? `step ${lost.join(', ')} of it cannot be read any more` : null));
  const endedAt = terminal ? (state.completedAt ?? completed?.data.completedAt ?? driven.lastNow) : null;
  return {
    run: {
      runId,
      header,
      retryKey: header?.data.retryKey ?? null,
      version,
      state: state ?? (version > 0 ? unborn(runId) : null),
      status: state ? statusOf(state) : version > 0 ? 'unborn' : 'accepted',
      terminal,
      endedAt,
      applied: driven.applied,
      entries: completed && !isOver ? [...driven.entries, { at: completed.data.completedAt, entry: endEntry(completed) }] : driven.entries,
      timers: terminal ? [] : [...driven.armed.values()],
      disarmed: terminal ? [...driven.disarmed, ...driven.armed.keys()] : [...driven.disarmed],
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
  readonly armed: Map<string, Decision['arm'][number]>;
  readonly disarmed: Set<string>;
  readonly cancels: Set<string>;
}

function drive({ runId, steps }: RunRecords, options: RebuildOptions): Driven {
  const driven: Driven = {
    ...{ state: null, header: null, fault: null, lastNow: 0 },
    ...{ applied: [], entries: [], armed: new Map(), disarmed: new Set(), cancels: new Set() },
  };
  const taken = new Set<string>();
  // From a gap on the steps are others than the recorded ones, which is right.
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
      driven.fault = `step ${version} cannot be taken today: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (driven.fault !== null) return driven;
  }
  return driven;
}

function takeStep(runId: string, driven: Driven, { data }: StepRecorded, { strategyOf }: RebuildOptions): Decision | null {
  const request = data.request ? inputOf(runId, data.request) : null;
  const event = inputOf(runId, data.input);
  for (const one of [request, event]) if (one?.type === 'PlanRequested') driven.header = one as PlanRequested & EngineInput;
  return step(request ? evolve(driven.state, request) : driven.state, event, data.now, strategyOf);
}

/** What followed from a step is on the log or will be published: a state that gives other outputs is not the state of this run. */
function departureOf({ data }: StepRecorded, decision: Decision | null): string | null {
  const idsOf = (outputs: readonly { readonly id: string }[]): string => outputs.map(({ id }) => id).join(', ') || 'nothing';
  const [was, is] = [idsOf(data.outputs), idsOf(decision?.outputs ?? [])];
  return was === is ? null : `step ${data.version} gave ${was} when it was recorded and gives ${is} with this version`;
}

function keep(driven: Driven, record: StepRecorded, decision: Decision | null): void {
  const { input, now } = record.data;
  driven.applied.push({ eventId: input.id, outputs: [...(decision?.outputs ?? []), record as Event] });
  if (!decision) return;
  // Between two steps a state lies in a store as JSON.
  driven.state = JSON.parse(JSON.stringify(decision.next)) as RunState;
  driven.entries.push(...decision.entries.map((entry) => ({ at: now, entry })));
  for (const name of decision.disarm) {
    driven.armed.delete(name);
    driven.disarmed.add(name);
  }
  for (const timer of decision.arm) {
    driven.disarmed.delete(timer.name);
    driven.armed.set(timer.name, timer);
  }
  for (const id of decision.cancels) driven.cancels.add(id);
}

function gapsIn(versions: ReadonlySet<number>): readonly number[] {
  const last = Math.max(0, ...versions);
  return Array.from({ length: last }, (_, n) => n + 1).filter((version) => !versions.has(version));
}

/** The word for lists that the engine's steps give. */
const statusOf = ({ phase, ending }: RunState): string => (phase === 'done' ? (ending?.outcome ?? 'done') : phase);

/** An ended run whose last steps are gone, as its terminal event says it. */
function endedState(before: RunState, header: PlanRequested | null, { data }: RunCompleted): RunState {
  const known = header && before.phase === 'unborn' ? evolve(before, header as PlanRequested & EngineInput) : before;
  const answer =
    data.answer === null
      ? null
      : { text: data.answer, sources: data.sources, insight: data.insight, cutShort: data.cutShort, epoch: known.epoch };
  return {
    ...known,
    phase: 'done',
    goal: data.question,
    caller: data.caller,
    history: data.history,
    spent: data.usage,
    startedAt: data.startedAt,
    completedAt: data.completedAt,
    ending: { outcome: data.outcome, rule: data.rule, reason: data.reason, reasonCode: data.reasonCode },
    answer,
    failure: data.failure,
  };
}

function endEntry({ data }: RunCompleted): RestoredRun<RunState>['entries'][number]['entry'] {
  const { outcome, rule, reason, reasonCode, answer, cutShort, sources, usage, rounds, failure } = data;
  return { kind: 'run.completed', outcome, rule, reason, reasonCode, answer, cutShort, sources, usage, rounds, failure };
}
