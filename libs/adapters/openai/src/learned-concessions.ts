import type { Concession } from './concessions.js';

/** How long what a server refused is left out without asking again: an account may be verified, a server updated. */
export const learnedMs = 10 * 60_000;

interface Refused {
  /** Calls in which the server refused it. */
  readonly calls: number;
  readonly at: number;
}

/**
 * What the models of one provider do not support. One refusal changes the call that met it; only when a second call meets the same
 * one is it left out of calls from the start, and for ten minutes at most.
 */
export class LearnedConcessions {
  private readonly refused = new Map<string, Refused>();

  constructor(
    private readonly onLearned: (model: string, concession: Concession) => void,
    private readonly now: () => number = Date.now,
  ) {}

  /** What a new call to this model leaves out from the start. */
  of(model: string): Set<Concession> {
    const left = new Set<Concession>();
    for (const [key, { calls, at }] of this.refused) {
      if (this.now() - at >= learnedMs) this.refused.delete(key);
      else if (calls > 1 && key.startsWith(`${model}\n`)) left.add(key.slice(model.length + 1) as Concession);
    }
    return left;
  }

  /** A call went through without this, after the server had refused it. */
  confirm(model: string, concession: Concession): void {
    const key = `${model}\n${concession}`;
    const before = this.refused.get(key);
    const calls = (before && this.now() - before.at < learnedMs ? before.calls : 0) + 1;
    this.refused.set(key, { calls, at: this.now() });
    if (calls === 2) this.onLearned(model, concession);
  }
}
