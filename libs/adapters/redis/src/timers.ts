import type { DueTimer, Timers, TimerToArm } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { RedisHints } from './hints.js';
import type { Keys } from './keys.js';
import { dueTimers, nextTimer, removeTimer } from './scripts/timers.js';

/** A run id never contains `|`; the name of a timer may. */
export const timerMember = (runId: string, name: string): string => `${runId}|${name}`;

/** The arm number and a blank: older versions read the task of the timer behind it. */
export const timerRecord = ({ arm }: TimerToArm): string => `${arm} `;

function timerFrom([member, dueAt, record]: [string, string, string]): DueTimer {
  const bar = member.indexOf('|');
  const arm = Number(record.slice(0, record.indexOf(' ')));
  return { runId: member.slice(0, bar), name: member.slice(bar + 1), arm, dueAt: Number(dueAt) };
}

export class RedisTimers implements Timers {
  private readonly waiters = new Set<(dueAt: number) => void>();
  private subscribed: Promise<unknown> | null = null;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly hints: RedisHints,
  ) {}

  async due(limit: number): Promise<readonly DueTimer[]> {
    const found = await this.connection.everywhere(dueTimers, ({ timers, timerData }) => [timers, timerData], [limit]);
    return found
      .flatMap((due) => due.map(timerFrom))
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit);
  }

  async remove({ runId, name, arm }: DueTimer): Promise<void> {
    const { at } = this.keys.of(runId);
    await this.connection.run(at, removeTimer, [at.timers, at.timerData], [timerMember(runId, name), arm]);
  }

  /** Sleeps until the earliest timer is due; a hint about an earlier one shortens the sleep. */
  async wait(maxWaitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const begun = performance.now();
    await this.subscribe();
    let wake = (): void => undefined;
    let shorten = (_dueAt: number): void => undefined;
    const waiter = (dueAt: number): void => shorten(dueAt);
    const early: number[] = [];
    shorten = (dueAt) => void early.push(dueAt);
    this.waiters.add(waiter);
    let timer: NodeJS.Timeout | undefined;
    try {
      const heads = await this.connection.everywhere(nextTimer, ({ timers }) => [timers], []);
      const readAt = performance.now();
      const [now] = heads[0]!;
      let until = begun + maxWaitMs;
      await new Promise<void>((resolve) => {
        wake = resolve;
        shorten = (dueAt) => {
          until = Math.min(until, readAt + (dueAt - now));
          clearTimeout(timer);
          timer = setTimeout(resolve, Math.max(0, until - performance.now()));
        };
        for (const dueAt of [Infinity, ...heads.flatMap(([, next]) => (next === null ? [] : [Number(next)])), ...early]) shorten(dueAt);
        signal.addEventListener('abort', wake, { once: true });
        if (signal.aborted) resolve();
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      this.waiters.delete(waiter);
    }
  }

  /** One subscription for all waiters of the process; after a failure the next waiter tries again. */
  private async subscribe(): Promise<void> {
    this.subscribed ??= this.hints.subscribe('timers', (dueAt) => this.waiters.forEach((waiter) => waiter(Number(dueAt))));
    try {
      await this.subscribed;
    } catch (error) {
      this.subscribed = null;
      throw error;
    }
  }
}
