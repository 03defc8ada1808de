import { Injectable } from '@nestjs/common';
import { Failure, type ModelChoice } from '@conclave/contracts';

/** One of the models that may answer. */
export interface Candidate {
  readonly ref: string;
  /** Whether another model is called if this one fails; then this one need not be tried twice. */
  readonly hasOther: boolean;
}

/** Which of several models answers a direct call. Counts open calls, and takes turns, within this process. */
@Injectable()
export class ModelChoices {
  private readonly open = new Map<string, number>();
  /** Number of calls so far, by the list of models. */
  private readonly turns = new Map<string, number>();

  /**
   * Calls one model after the other until one answers. Another model is called only after a failure that is caused by the model or its server and
   * may be temporary, and only while `mayGoOn`. Throws the error of the last call.
   */
  async first<T>(choice: ModelChoice, ask: (candidate: Candidate) => Promise<T>, mayGoOn: () => boolean): Promise<T> {
    const refs = this.inOrder(choice);
    for (let at = 0; ; at += 1) {
      const ref = refs[at]!;
      const hasOther = at + 1 < refs.length;
      this.count(ref, 1);
      try {
        return await ask({ ref, hasOther });
      } catch (error) {
        if (!hasOther || !isOfProvider(error) || !mayGoOn()) throw error;
      } finally {
        this.count(ref, -1);
      }
    }
  }

  private inOrder({ models, use }: ModelChoice): readonly string[] {
    if (use === 'fallback' || models.length === 1) return models;
    const list = models.join(' ');
    const turn = this.turns.get(list) ?? 0;
    this.turns.set(list, turn + 1);
    const from = turn % models.length;
    const openOf = (ref: string): number => this.open.get(ref) ?? 0;
    return [...models.slice(from), ...models.slice(0, from)].sort((a, b) => openOf(a) - openOf(b));
  }

  private count(ref: string, by: 1 | -1): void {
    const now = (this.open.get(ref) ?? 0) + by;
    if (now === 0) this.open.delete(ref);
    else this.open.set(ref, now);
  }
}

/** Overloaded, away, too slow, or closed by its breaker: another model may succeed. */
const isOfProvider = (error: unknown): boolean =>
  error instanceof Failure && error.retriable && (error.code.startsWith('PROVIDER_') || error.code === 'CALL_TIMEOUT');

export const only = (ref: string): ModelChoice => ({ models: [ref], use: 'fallback' });
