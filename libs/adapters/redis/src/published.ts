import { isOutage, type Event } from '@conclave/contracts';
import { forgettable } from '@conclave/ports';
import { nonceLength } from './commit.js';
import type { RedisConnection } from './connection.js';
import type { Bucket, Keys } from './keys.js';
import { forgetPublished } from './scripts/published.js';

/** Milliseconds until the store is notified: the steps of a second share one request, and no run waits for it. */
const afterMs = 1_000;
/** Most runs that wait for a notification, and most in one script. The data of further runs stays until its retention ends. */
const mostWaiting = 10_000;
const mostAtOnce = 100;

interface Waiting {
  readonly events: Set<string>;
  /** Steps and their attempts. */
  readonly calls: Map<string, number>;
}

/**
 * Bodies that the store keeps so that a repeated record returns the same outputs as before. Once they are on the log they are not needed again, and
 * the store is told to forget them.
 */
export class Published {
  private waiting = new Map<string, Waiting>();
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  /** `isUnderstood`: whether every process that may read the store understands a forgotten body. */
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly isUnderstood: () => boolean,
  ) {}

  note(outputs: readonly Event[]): void {
    if (this.closed || !this.isUnderstood()) return;
    const { steps, calls } = forgettable(outputs);
    for (const { runId, eventId } of steps) this.of(runId)?.events.add(eventId);
    for (const { runId, step, attempt } of calls) this.of(runId)?.calls.set(step, attempt);
    if (this.waiting.size > 0) this.tellSoon();
  }

  private tellSoon(): void {
    if (!this.closed) this.timer ??= setTimeout(() => void this.tell(), afterMs).unref();
  }

  /** Sends the pending notifications, if the store answers. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    if (this.connection.stands) await this.tell();
  }

  private of(runId: string): Waiting | null {
    const known = this.waiting.get(runId);
    if (known) return known;
    if (this.waiting.size >= mostWaiting) return null;
    const fresh: Waiting = { events: new Set(), calls: new Map() };
    this.waiting.set(runId, fresh);
    return fresh;
  }

  /** Notifications that failed during an outage wait for the next time. */
  private async tell(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const byBucket = new Map<Bucket, [string, Waiting][]>();
    for (const one of this.waiting) {
      const { at } = this.keys.of(one[0]);
      byBucket.set(at, [...(byBucket.get(at) ?? []), one]);
    }
    this.waiting = new Map();
    await Promise.all(
      [...byBucket].flatMap(([at, all]) =>
        Array.from({ length: Math.ceil(all.length / mostAtOnce) }, (_, n) =>
          this.tellOf(at, all.slice(n * mostAtOnce, (n + 1) * mostAtOnce)),
        ),
      ),
    );
  }

  private async tellOf(at: Bucket, runs: readonly [string, Waiting][]): Promise<void> {
    const keys = runs.map(([runId]) => this.keys.of(runId)).flatMap(({ applied, journal }) => [applied, journal]);
    const told = runs.map(([, { events, calls }]) => [[...events], [...calls].map(([step, attempt]) => [step, String(attempt)])]);
    try {
      await this.connection.run(at, forgetPublished, keys, [JSON.stringify(told), nonceLength]);
    } catch (error) {
      // The outage is reported by the other work of the process.
      if (!isOutage(error)) throw error;
      for (const [runId, { events, calls }] of runs) {
        const again = this.of(runId);
        for (const event of events) again?.events.add(event);
        for (const [step, attempt] of calls) if (again?.calls.has(step) === false) again.calls.set(step, attempt);
      }
      this.tellSoon();
    }
  }
}
