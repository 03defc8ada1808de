import { factSentence, type RunFact, type PlanRequested } from '@conclave/contracts';
import {
  canonicalJson,
  inputOf,
  recordedFacts,
  step,
  type EngineInput,
  type HashedStep,
  type RecordedStep,
  type RunState,
  type StepResult,
  type Strategies,
} from '@conclave/loop';

/** Result of a step, as in its audit record. */
export interface StepTrace {
  /** The first fact that differs, as a sentence; null if this side has no fact there, or if no fact differs. */
  readonly fact: string | null;
  readonly facts: number;
  readonly outputs: readonly { readonly id: string; readonly type: string }[];
  readonly hash: string;
  readonly stateHash: string | null;
}

/**
 * Result of replaying a run; `steps` of them were equal. Every kind except `same` includes the state version at which the replay ended:
 * `different` what was recorded there and what results now (`now` is null if this version takes no step), `refused` why this version cannot
 * apply the input, `missing` which versions have no record although later ones do (`gaps`, both ends included), `conflicting` that two
 * records of one step contradict each other.
 */
export type Replayed =
  | { readonly kind: 'same'; readonly steps: number; readonly ended: boolean }
  | {
      readonly kind: 'different';
      readonly steps: number;
      readonly version: number;
      readonly input: { readonly id: string; readonly type: string };
      readonly differs: readonly ('facts' | 'outputs' | 'hash' | 'state')[];
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
  readonly strategyOf: Strategies;
  /** The hash function of the recording; a pure layer has none. */
  readonly stateHash: (state: RunState) => string;
  readonly chainHash: (before: string, step: HashedStep) => string;
  /** Called with the decision of this version for each step, including the one that differs, in version order. */
  readonly onStep?: (version: number, decision: StepResult) => void;
}

/**
 * Runs the recorded steps of one run through the `step` of this version, in order and with the recorded clock. Steps may arrive in any
 * order and repeatedly, as from a log; only steps that wait for an earlier one are kept.
 */
export class Replay {
  private state: RunState | null = null;
  private readonly waiting = new Map<number, RecordedStep | 'conflicting'>();
  /** Mark of each applied step, at index version - 1: two records of one step must have the same. */
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

  /** Result for the steps taken so far. */
  result(): Replayed {
    if (this.stopped) return this.stopped;
    const steps = this.applied.length;
    if (this.waiting.size === 0) return { kind: 'same', steps, ended: (this.state?.endedAt ?? null) !== null };
    const gaps: [number, number][] = [];
    let expected = steps + 1;
    for (const version of [...this.waiting.keys()].sort((a, b) => a - b)) {
      if (version > expected) gaps.push([expected, version - 1]);
      expected = version + 1;
    }
    return { kind: 'missing', steps, version: steps + 1, gaps };
  }

  /** Compares another record of the step at which the replay stopped. */
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
    const { strategyOf, stateHash, chainHash } = this.options;
    let decision: StepResult | null;
    let taken: EngineInput;
    let request: PlanRequested | null;
    try {
      request = recorded.request ? (inputOf(this.runId, recorded.request) as PlanRequested) : null;
      taken = inputOf(this.runId, recorded.input);
      decision = step(this.state, taken, now, strategyOf, request);
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', steps, version, input, sentence };
    }
    if (!decision) {
      const differs = ['facts', 'outputs', 'hash'] as const;
      const [first] = recorded.facts;
      return { kind: 'different', steps, version, input, differs, recorded: traceOf(recorded, first), now: null };
    }
    const facts = recordedFacts(decision.facts, { input: taken, request });
    const hash = chainHash(this.state?.hash ?? '', { ...recorded, facts });
    const next = { ...decision.next, hash };
    this.options.onStep?.(version, { ...decision, next });
    const is = {
      facts: facts.map((fact) => JSON.parse(JSON.stringify(fact)) as RecordedStep['facts'][number]),
      outputs: decision.outputs.map(({ id, type }) => ({ id, type })),
      hash,
      stateHash: next.endedAt === null ? null : stateHash(next),
    };
    this.state = kept(next);
    const differs = differences(recorded, is);
    if (differs.length === 0) return null;
    const at = firstDifference(recorded.facts, is.facts);
    return {
      kind: 'different',
      steps,
      version,
      input,
      differs,
      recorded: traceOf(recorded, recorded.facts[at]),
      now: traceOf(is, is.facts[at]),
    };
  }
}

type Given = Pick<RecordedStep, 'facts' | 'outputs' | 'hash' | 'stateHash'>;

const traceOf = ({ facts, outputs, hash, stateHash }: Given, fact: Given['facts'][number] | undefined): StepTrace => ({
  fact: fact ? sentenceOf(fact) : null,
  facts: facts.length,
  outputs: outputs.map(({ id, type }) => ({ id, type })),
  hash,
  stateHash,
});

/** The sentence of a recorded fact, or its JSON if this version has no sentence for it or the fact refers to its input. */
function sentenceOf(fact: Given['facts'][number]): string {
  try {
    return factSentence(fact as unknown as RunFact);
  } catch {
    return canonicalJson(fact);
  }
}

const firstDifference = (was: Given['facts'], is: Given['facts']): number =>
  Array.from({ length: Math.max(was.length, is.length) }).findIndex(
    (_, n) => canonicalJson(was[n] ?? null) !== canonicalJson(is[n] ?? null),
  );

/** Replays all recorded steps of one run at once. */
export function replay(runId: string, steps: Iterable<RecordedStep>, options: ReplayOptions): Replayed {
  const run = new Replay(runId, options);
  for (const recorded of steps) run.take(recorded);
  return run.result();
}

/**
 * The state after a step, as the next step finds it: read from JSON, as from the state store. An ended run has no next step, so its large
 * members are dropped and many runs fit in memory.
 */
const kept = (next: RunState): RunState =>
  next.endedAt === null
    ? (JSON.parse(JSON.stringify(next)) as RunState)
    : { ...next, tasks: {}, own: null, plan: null, history: [], memory: { ...next.memory, facts: [], tried: [] } };

const conflictAt = (version: number) => ({ kind: 'conflicting', steps: version - 1, version }) as const;

const markOf = ({ input, now, hash }: RecordedStep): string => `${input.id} ${now} ${hash}`;

function differences(was: Given, is: Given): ('facts' | 'outputs' | 'hash' | 'state')[] {
  const sameOutputs =
    was.outputs.length === is.outputs.length &&
    was.outputs.every(({ id, type }, index) => id === is.outputs[index]!.id && type === is.outputs[index]!.type);
  return [
    ...(firstDifference(was.facts, is.facts) === -1 ? [] : (['facts'] as const)),
    ...(sameOutputs ? [] : (['outputs'] as const)),
    ...(was.hash === is.hash ? [] : (['hash'] as const)),
    ...(was.stateHash === is.stateHash ? [] : (['state'] as const)),
  ];
}
