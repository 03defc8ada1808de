import type { MemberDifference, RequestDifference } from './differences.js';
import type { Replayed } from './replay.js';

export interface OutputDifference {
  readonly kind: 'output';
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly members: readonly MemberDifference[];
}

/** A decision in which today's code differs from the recording. */
export type Difference =
  /** An engine step with another rule, output or state, or one that cannot be taken. `output` is the first event that differs. */
  | {
      readonly kind: 'step';
      readonly result: Extract<Replayed, { kind: 'different' | 'refused' }>;
      readonly output: OutputDifference | null;
    }
  /** A step with the same decision but different content in an output event. */
  | OutputDifference
  /** A call with another request; a line is named if the prompt differs. */
  | { readonly kind: 'request'; readonly step: string; readonly purpose: string; readonly request: RequestDifference }
  /** A call that was never recorded. `asks` is the end of its prompt. */
  | { readonly kind: 'unrecorded'; readonly step: string; readonly purpose: string; readonly name: string; readonly asks: string }
  /** A recorded call that is no longer made. */
  | { readonly kind: 'unmade'; readonly step: string; readonly purpose: string; readonly name: string }
  /** A plan or a result with different content: the replies were read differently. `members` is empty if there is none today. */
  | { readonly kind: 'outcome'; readonly id: string; readonly type: string; readonly members: readonly MemberDifference[] }
  /** Today's code fails here. */
  | { readonly kind: 'thrown'; readonly owner: string; readonly sentence: string };

/**
 * Position of a decision in its run. Cause before effect: the prompt of a task follows the engine step that dispatched it; the reading of a
 * reply precedes the step that took the result.
 */
export interface DecisionPlace {
  /** Version of the state at that time. */
  readonly version: number;
  /** 0 the step that led to this version, 1 calls made after it, 2 outcomes that the next step may take. */
  readonly phase: 0 | 1 | 2;
  /** Milliseconds since 1970 by the recording's clock. */
  readonly at: number;
  /** Tie-breaker, so that the order is always the same. */
  readonly id: string;
}

export interface Decided {
  readonly place: DecisionPlace;
  readonly kind: 'step' | 'call' | 'outcome';
  readonly difference: Difference | null;
  /** Today's decision as JSON data, included in the hash of the replay. */
  readonly mark: unknown;
}

export const inOrder = (a: DecisionPlace, b: DecisionPlace): number =>
  a.version - b.version || a.phase - b.phase || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Clock of a recorded run: its steps and their times. */
export class RunClock {
  private readonly steps: readonly { readonly version: number; readonly now: number }[];
  private readonly gaveOut = new Map<string, number>();
  private readonly tookIn = new Map<string, number>();

  constructor(
    steps: Iterable<{
      readonly version: number;
      readonly now: number;
      readonly input: { readonly id: string };
      readonly outputs: readonly { readonly id: string }[];
    }>,
  ) {
    const byVersion = new Map([...steps].map((step) => [step.version, step]));
    const ordered = [...byVersion.values()].sort((a, b) => a.version - b.version);
    for (const { version, input, outputs } of ordered) {
      this.tookIn.set(input.id, this.tookIn.get(input.id) ?? version);
      for (const { id } of outputs) this.gaveOut.set(id, this.gaveOut.get(id) ?? version);
    }
    this.steps = ordered.map(({ version, now }) => ({ version, now }));
  }

  nowOf(version: number): number {
    return this.steps.find((step) => step.version === version)?.now ?? 0;
  }

  /** Version after which work on `input` could begin, and the last one at which its outcome could still be pending. */
  bounds(input: string, outcome: string): readonly [from: number, to: number] {
    const from = this.gaveOut.get(input) ?? 0;
    return [from, Math.max(from, (this.tookIn.get(outcome) ?? Number.POSITIVE_INFINITY) - 1)];
  }

  /** Version of the state at a time, within bounds. */
  versionAt(at: number, [from, to]: readonly [number, number]): number {
    const version = this.steps.findLast(({ now }) => now <= at)?.version ?? 0;
    return Math.min(Math.max(version, from), to);
  }

  get lastVersion(): number {
    return this.steps.at(-1)?.version ?? 0;
  }
}
