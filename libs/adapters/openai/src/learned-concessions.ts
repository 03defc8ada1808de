import type { Concession } from './concession.js';

/** Milliseconds before a refused parameter is tried again: the account may be verified or the server updated by then. */
export const learnedMs = 10 * 60_000;

interface Refused {
  /** Number of calls in which the server refused it. */
  readonly calls: number;
  readonly at: number;
}

/**
 * What the models of one provider do not support. A refusal first changes only its own call; after a second call meets the same refusal,
 * new calls leave it out from the start, for at most ten minutes.
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

  /** A call succeeded without this, after the server had refused it. */
  confirm(model: string, concession: Concession): void {
    const key = `${model}\n${concession}`;
    const before = this.refused.get(key);
    const calls = (before && this.now() - before.at < learnedMs ? before.calls : 0) + 1;
    this.refused.set(key, { calls, at: this.now() });
    if (calls === 2) this.onLearned(model, concession);
  }
}
