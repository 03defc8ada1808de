import { factEntries, type Event, type FactOf, type PlanRequested, type RunCompleted, type StepRecorded } from '@conclave/contracts';
import { evolve, inputOf, NotBegun, statusOf, step, type Decision, type RunState, type Strategies } from '@conclave/loop';
import type { RestoredRun } from '@conclave/ports';
import { lostRequest } from './lost-request.js';

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
  readonly strategyOf: Strategies;
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
 * again and is taken then, later than it was: ids are semantic, so whatever had followed from it is decided again under the same ids.
 * Where it is the first step, the run begins from its header with the first input that is there.
 */
export function rebuildRun(records: RunRecords, options: RebuildOptions): RebuiltRun {
  const { runId, completed, unreadable } = records;
  const driven = drive(records, options);
  const versions = new Set(records.steps.map(({ data }) => data.version));
  const lost = unreadable.filter((version) => !versions.has(version));
  const gaps = gapsIn(versions).filter((version) => !lost.includes(version));
  const { header } = driven;
  const version = Math.max(0, ...versions, ...unreadable, completed ? 1 : 0);
  // Whatever can be driven, an ended run stays ended: its end is on the log.
  const end = completed && (driven.state?.endedAt ?? null) === null ? endOf(completed, driven.state?.epoch ?? 0) : null;
  const state = end ? endedState(runId, driven.state, header, completed!, end, options) : driven.state;
  const endedAt = state?.endedAt ?? null;
  const terminal = endedAt !== null;
  const fault = terminal ? null : (driven.fault ?? (lost.length > 0 ? `step ${lost.join(', ')} of it cannot be read any more` : null));
  const { due } = state ?? { due: { arm: 0, at: null } };
  const isArmed = due.at !== null && !terminal;
  return {
    run: {
      runId,
      header,
      retryKey: header?.data.retryKey ?? null,
      version,
      // A run whose steps cannot be driven is ended; until then it stands at its beginning.
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
      // What it is about follows from a step that is missing. That input comes again, and with it everything that followed: a task goes out
      // under its id and is answered from the journal. An input that counted as applied would then be thrown away.
      if (!whole && error instanceof NotBegun) continue;
      driven.fault = `step ${version} cannot be taken today: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (driven.fault !== null) return driven;
  }
  return driven;
}

function takeStep(runId: string, driven: Driven, { data }: StepRecorded, { strategyOf }: RebuildOptions): Decision | null {
  const request = data.request ? inputOf(runId, data.request) : null;
  const event = inputOf(runId, data.input);
  for (const one of [request, event]) if (one?.type === 'PlanRequested') driven.header ??= one;
  return step(driven.state, event, data.now, strategyOf, event.type === 'PlanRequested' ? null : driven.header);
}

/** What followed from a step is on the log or will be published: a state that gives other outputs is not the state of this run. */
function departureOf({ data }: StepRecorded, decision: Decision | null): string | null {
  const idsOf = (outputs: readonly { readonly id: string }[]): string => outputs.map(({ id }) => id).join(', ') || 'nothing';
  const [was, is] = [idsOf(data.outputs), idsOf(decision?.outputs ?? [])];
  return was === is ? null : `step ${data.version} gave ${was} when it was recorded and gives ${is} with this version`;
}

function keep(driven: Driven, record: StepRecorded, decision: Decision | null): void {
  const { input, now, hash } = record.data;
  driven.applied.push({ eventId: input.id, outputs: [...(decision?.outputs ?? []), record as Event] });
  if (!decision) return;
  // Between two steps a state lies in a store as JSON. The chain of hashes goes on from what is recorded.
  driven.state = JSON.parse(JSON.stringify({ ...decision.next, hash })) as RunState;
  driven.entries.push(...decision.entries.map((entry) => ({ at: now, entry })));
  for (const id of decision.cancels) driven.cancels.add(id);
}

function gapsIn(versions: ReadonlySet<number>): readonly number[] {
  const last = Math.max(0, ...versions);
  return Array.from({ length: last }, (_, n) => n + 1).filter((version) => !versions.has(version));
}

/** A run as its request makes it, before anything follows. */
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

/** An ended run whose last steps are gone, as its terminal event says it. */
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

/** What the end of a run tells of its request. */
const withEnd = (lost: PlanRequested, { question, caller, template }: RunCompleted['data']): PlanRequested => ({
  ...lost,
  data: { ...lost.data, goal: question, caller, template: { ...lost.data.template, ...template } as PlanRequested['data']['template'] },
});
