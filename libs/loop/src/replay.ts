import { specOf, type StepRecorded } from '@conclave/contracts';
import { step } from './engine.js';
import { evolve, type EngineInput } from './evolve.js';
import type { Decision } from './moves.js';
import { unborn, type RunState } from './state.js';
import type { Strategy } from './strategy.js';

export type RecordedStep = StepRecorded['data'];
type RecordedInput = RecordedStep['input'];

/** What a step decided, as the audit record of it says it. */
export interface StepTrace {
  readonly rule: string | null;
  readonly sentence: string | null;
  readonly outputs: readonly { readonly id: string; readonly type: string }[];
  readonly stateHash: string;
}

/**
 * What came of replaying a run; `steps` of them were equal. Everything but `same` says at which version of the state it
 * ended: `different` what was recorded there and what comes out now (`now` is null where today's code takes no step at all),
 * `refused` why today's code cannot take the input, `missing` which versions have no record although later ones have (`gaps`, both ends included),
 * `conflicting` that two records of one step contradict each other.
 */
export type Replayed =
  | { readonly kind: 'same'; readonly steps: number; readonly ended: boolean }
  | {
      readonly kind: 'different';
      readonly steps: number;
      readonly version: number;
      readonly input: { readonly id: string; readonly type: string };
      readonly differs: readonly ('rule' | 'outputs' | 'state')[];
      readonly recorded: StepTrace;
      readonly now: StepTrace | null;
    }
  | {
      readonly kind: 'refused';
      readonly steps: number;
      readonly version: number;
      readonly input: { readonly id: string; readonly type: string };
      readonly sentence: string;
    }
  | { readonly kind: 'missing'; readonly steps: number; readonly version: number; readonly gaps: readonly (readonly [number, number])[] }
  | { readonly kind: 'conflicting'; readonly steps: number; readonly version: number };

export interface ReplayOptions {
  readonly strategyOf: (id: string) => Strategy;
  /** The hash that the recording used; a pure layer has none. */
  readonly stateHash: (state: RunState) => string;
  /** Told what today's code decides in each step that it takes, the one that differs included, in the order of the versions. */
  readonly onStep?: (version: number, decision: Decision) => void;
}

/**
 * Drives the recorded steps of one run through today's `step`, in the order of their version and with the recorded clock.
 * Steps may be taken in any order and repeatedly, as a log gives them; those that wait for an earlier one are kept, the rest is not.
 */
export class Replay {
  private state: RunState | null = null;
  private readonly waiting = new Map<number, RecordedStep | 'conflicting'>();
  /** What tells apart two records of an applied step, by version - 1. */
  private readonly applied: string[] = [];
  private stopped: Exclude<Replayed, { kind: 'same' | 'missing' }> | null = null;

  constructor(
    private readonly runId: string,
    private readonly options: ReplayOptions,
  ) {}

  take(recorded: RecordedStep): void {
    const { version } = recorded;
    if (this.stopped && this.stopped.version <= version) return this.compare(recorded, this.stopped.version);
    const applied = this.applied[version - 1];
    if (applied !== undefined) {
      if (applied !== markOf(recorded)) this.stopped = conflictAt(version);
      return;
    }
    const waiting = this.waiting.get(version);
    if (waiting === undefined) this.waiting.set(version, recorded);
    else if (waiting !== 'conflicting' && markOf(waiting) !== markOf(recorded)) this.waiting.set(version, 'conflicting');
    this.advance();
  }

  /** What holds for the steps taken so far. */
  result(): Replayed {
    if (this.stopped) return this.stopped;
    const steps = this.applied.length;
    if (this.waiting.size === 0) return { kind: 'same', steps, ended: this.state?.phase === 'done' };
    const gaps: [number, number][] = [];
    let expected = steps + 1;
    for (const version of [...this.waiting.keys()].sort((a, b) => a - b)) {
      if (version > expected) gaps.push([expected, version - 1]);
      expected = version + 1;
    }
    return { kind: 'missing', steps, version: steps + 1, gaps };
  }

  /** Another record of the very step that the replay stopped at. */
  private compare(recorded: RecordedStep, version: number): void {
    if (recorded.version === version && this.applied[version - 1] !== markOf(recorded)) this.stopped = conflictAt(version);
  }

  private advance(): void {
    while (!this.stopped) {
      const version = this.applied.length + 1;
      const next = this.waiting.get(version);
      if (!next) return;
      this.waiting.delete(version);
      if (next === 'conflicting') this.stopped = conflictAt(version);
      else {
        this.applied.push(markOf(next));
        this.stopped = this.drive(next, version - 1);
      }
    }
    this.waiting.clear();
  }

  private drive(recorded: RecordedStep, steps: number): typeof this.stopped {
    const { version, now } = recorded;
    const input = { id: recorded.input.id, type: recorded.input.type };
    const { strategyOf, stateHash } = this.options;
    let decision: Decision | null;
    try {
      const before = recorded.request ? evolve(this.state, inputOf(this.runId, recorded.request)) : this.state;
      decision = step(before, inputOf(this.runId, recorded.input), now, strategyOf);
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', steps, version, input, sentence };
    }
    if (decision) {
      this.options.onStep?.(version, decision);
      this.state = kept(decision.next);
    }
    const was: StepTrace = {
      rule: recorded.rule,
      sentence: recorded.ruleSentence,
      outputs: recorded.outputs,
      stateHash: recorded.stateHash,
    };
    const is: StepTrace | null = decision && {
      rule: decision.rule?.id ?? null,
      sentence: decision.rule?.sentence ?? null,
      outputs: decision.outputs.map(({ id, type }) => ({ id, type })),
      stateHash: stateHash(decision.next),
    };
    const differs = differences(was, is);
    return differs.length === 0 ? null : { kind: 'different', steps, version, input, differs, recorded: was, now: is };
  }
}

/** All recorded steps of one run at once. */
export function replay(runId: string, steps: Iterable<RecordedStep>, options: ReplayOptions): Replayed {
  const run = new Replay(runId, options);
  for (const recorded of steps) run.take(recorded);
  return run.result();
}

/** Between two steps a state lies in a store as JSON. Of a run that has ended only that is kept, so that many fit in memory. */
const kept = (next: RunState): RunState =>
  next.phase === 'done' ? { ...unborn(next.runId), phase: 'done' } : (JSON.parse(JSON.stringify(next)) as RunState);

const conflictAt = (version: number) => ({ kind: 'conflicting', steps: version - 1, version }) as const;

const markOf = ({ input, now, stateHash }: RecordedStep): string => `${input.id} ${now} ${stateHash}`;

function differences(was: StepTrace, is: StepTrace | null): ('rule' | 'outputs' | 'state')[] {
  if (is === null) return ['outputs', 'state'];
  const sameOutputs =
    was.outputs.length === is.outputs.length &&
    was.outputs.every(({ id, type }, index) => id === is.outputs[index]!.id && type === is.outputs[index]!.type);
  return [
    ...(was.rule === is.rule ? [] : (['rule'] as const)),
    ...(sameOutputs ? [] : (['outputs'] as const)),
    ...(was.stateHash === is.stateHash ? [] : (['state'] as const)),
  ];
}

const inputTypes: readonly string[] = ['PlanRequested', 'PlanCreated', 'ResultReady', 'TimerFired', 'CommandIssued'];

/** The event again, read as it would be from its topic today. Throws an Error that says why it cannot be. */
export function inputOf(runId: string, { id, type, time, data }: RecordedInput): EngineInput {
  const spec = specOf(type);
  if (!spec || !inputTypes.includes(type)) throw new Error(`The engine takes no ${type}.`);
  if (time === undefined) throw new Error(`The record does not say when ${id} was made: it is of the first version.`);
  const parsed = spec.schema.safeParse(data);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.message}`);
    throw new Error(`The data of ${id} does not fit today's ${type} (${faults.join('; ')}).`);
  }
  // Who sent it is not recorded, because no decision may depend on it.
  return { id, type, runId, topic: spec.topic, key: runId, source: spec.from[0]!, time, data: parsed.data } as EngineInput;
}
