import type { Replayed } from '@conclave/loop';
import type { MemberDifference, RequestDifference } from './differences.js';

export interface OutputDifference {
  readonly kind: 'output';
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly members: readonly MemberDifference[];
}

/** What today's code decides otherwise than was recorded. */
export type Difference =
  /** A step of the engine: its rule, outputs or state, or it cannot be taken. `output` is the first event it fills otherwise. */
  | {
      readonly kind: 'step';
      readonly result: Extract<Replayed, { kind: 'different' | 'refused' }>;
      readonly output: OutputDifference | null;
    }
  /** A step that decides the same, but an event it puts out says something else. */
  | OutputDifference
  /** Another request of a call; its prompt where a line is named. */
  | { readonly kind: 'request'; readonly step: string; readonly purpose: string; readonly request: RequestDifference }
  /** A call that was never made. `asks` is the end of its prompt. */
  | { readonly kind: 'unrecorded'; readonly step: string; readonly purpose: string; readonly name: string; readonly asks: string }
  /** A call that was made is not made any more. */
  | { readonly kind: 'unmade'; readonly step: string; readonly purpose: string; readonly name: string }
  /** A plan or a result says something else: the replies were read differently. `members` is empty where today there is none. */
  | { readonly kind: 'outcome'; readonly id: string; readonly type: string; readonly members: readonly MemberDifference[] }
  /** Today's code fails on it. */
  | { readonly kind: 'thrown'; readonly owner: string; readonly sentence: string };

/**
 * Where a decision stands in its run. Cause before effect: the prompt of a task comes after the engine's step that dispatched it, what was
 * read from the reply before the step that took the result.
 */
export interface Place {
  /** Version of the state at that time. */
  readonly version: number;
  /** 0 the step that led to this version, 1 calls made after it, 2 outcomes that the next step may take. */
  readonly phase: 0 | 1 | 2;
  /** Milliseconds since 1970 by the clock of the recording. */
  readonly at: number;
  /** Decides where the rest is equal, so that the order is the same every time. */
  readonly id: string;
}

export interface Decided {
  readonly place: Place;
  readonly kind: 'step' | 'call' | 'outcome';
  readonly difference: Difference | null;
  /** What today's code decided, as JSON-able data: it goes into the hash of the replay. */
  readonly mark: unknown;
}

export const inOrder = (a: Place, b: Place): number =>
  a.version - b.version || a.phase - b.phase || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** The clock of a recorded run: its steps and when they were taken. */
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

  /** Version after which work on `input` could begin, and the last one at which its outcome could still be on its way. */
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
