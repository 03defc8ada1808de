import type { Clock } from '../clock.js';

/** A clock for tests: time passes only in `advance`, and the test sets the random value. */
export class ManualClock implements Clock {
  private time: number;
  private order = 0;
  private readonly calls = new Map<number, { at: number; call: () => void }>();

  constructor(
    start = 1_700_000_000_000,
    private readonly chance: () => number = () => 0.5,
  ) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  random(): number {
    return this.chance();
  }

  after(ms: number, call: () => void): () => void {
    const id = this.order++;
    this.calls.set(id, { at: this.time + ms, call });
    return () => this.calls.delete(id);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.calls.size;
  }

  /** Lets all work without timers settle, then advances timer by timer until `ms` have passed. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await settle();
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      this.calls.delete(next.id);
      this.time = Math.max(this.time, next.at);
      next.call();
      await settle();
    }
    this.time = end;
  }

  private nextUntil(end: number): { id: number; at: number; call: () => void } | undefined {
    let first: { id: number; at: number; call: () => void } | undefined;
    for (const [id, { at, call }] of this.calls) {
      if (at <= end && (!first || at < first.at)) first = { id, at, call };
    }
    return first;
  }
}

/** Resolves when promises that wait for no timer have run. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
