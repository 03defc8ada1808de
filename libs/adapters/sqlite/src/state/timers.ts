import type { Clock, DueTimer, Timers, TimerToArm } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';

interface TimerRow {
  readonly run_id: string;
  readonly name: string;
  readonly arm: number;
  readonly due_at: number;
}

/** Waiters for timers, each with the time at which it wakes up by itself. */
export type TimerWaiters = Map<() => void, number>;

/** Longest delay of a Node timer. */
const longestWaitMs = 2 ** 31 - 1;

export class SqliteTimers implements Timers {
  constructor(
    private readonly database: Store,
    private readonly clock: Clock,
    private readonly waiting: TimerWaiters,
  ) {}

  async due(limit: number): Promise<readonly DueTimer[]> {
    const rows = this.database.read((sql) =>
      sql.all<TimerRow>('SELECT * FROM timer WHERE due_at <= ? ORDER BY due_at, run_id, name LIMIT ?', this.clock.now(), limit),
    );
    return rows.map(timerOf);
  }

  remove(timer: DueTimer): Promise<void> {
    return this.database.order(({ sql }) => {
      sql.run('DELETE FROM timer WHERE run_id = ? AND name = ? AND arm = ?', timer.runId, timer.name, timer.arm);
    });
  }

  wait(maxWaitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const now = this.clock.now();
    const next = this.database.read((sql) => sql.get<{ due: number | null }>('SELECT MIN(due_at) AS due FROM timer'))?.due;
    const until = Math.min(now + maxWaitMs, next ?? Infinity);
    if (until <= now) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const cancel = this.clock.after(Math.min(until - now, longestWaitMs), wake);
      signal.addEventListener('abort', wake);
      this.waiting.set(wake, until);
    });
  }

  /** Arms and disarms inside a running write; waiters for a later time are woken after the commit. */
  change(tick: Tick, runId: string, disarm: readonly string[], arm: readonly TimerToArm[]): void {
    const { sql } = tick;
    for (const name of disarm) sql.run('DELETE FROM timer WHERE run_id = ? AND name = ?', runId, name);
    for (const timer of arm)
      sql.run('INSERT OR REPLACE INTO timer (run_id, name, arm, due_at) VALUES (?, ?, ?, ?)', runId, timer.name, timer.arm, timer.dueAt);
    if (arm.length === 0) return;
    const earliest = Math.min(...arm.map(({ dueAt }) => dueAt));
    tick.afterCommit(() => {
      for (const [wake, until] of [...this.waiting]) if (earliest < until) wake();
    });
  }
}

const timerOf = (row: TimerRow): DueTimer => ({
  runId: row.run_id,
  name: row.name,
  arm: row.arm,
  dueAt: row.due_at,
});
