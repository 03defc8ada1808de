import type { Clock } from '../event-log/clock.js';
import type { DueTimer, Timers, TimerToArm } from './state.js';

/** The longest timeout Node supports. */
const longestWaitMs = 2 ** 31 - 1;

export class MemoryTimers implements Timers {
  private readonly armedByName = new Map<string, DueTimer>();
  /** Waiters, each with the time at which it wakes up on its own. */
  private readonly waiting = new Map<() => void, number>();

  constructor(private readonly clock: Clock) {}

  /** Every armed timer, due or not. */
  armed(): readonly DueTimer[] {
    return [...this.armedByName.values()];
  }

  async due(limit: number): Promise<readonly DueTimer[]> {
    const now = this.clock.now();
    const keyOf = ({ runId, name }: DueTimer): string => `${runId} ${name}`;
    return [...this.armedByName.values()]
      .filter(({ dueAt }) => dueAt <= now)
      .sort((a, b) => a.dueAt - b.dueAt || (keyOf(a) < keyOf(b) ? -1 : 1))
      .slice(0, limit);
  }

  async remove({ runId, name, arm }: DueTimer): Promise<void> {
    if (this.armedByName.get(`${runId} ${name}`)?.arm === arm) this.armedByName.delete(`${runId} ${name}`);
  }

  async wait(maxWaitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const now = this.clock.now();
    const until = Math.min(now + maxWaitMs, ...[...this.armedByName.values()].map(({ dueAt }) => dueAt));
    if (until <= now) return;
    await new Promise<void>((resolve) => {
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

  /** Arms and disarms as part of a write; wakes waiters that would have slept longer. */
  change(runId: string, disarm: readonly string[], arm: readonly TimerToArm[]): void {
    for (const name of disarm) this.armedByName.delete(`${runId} ${name}`);
    for (const timer of arm) this.armedByName.set(`${runId} ${timer.name}`, { runId, ...timer });
    if (arm.length === 0) return;
    const earliest = Math.min(...arm.map(({ dueAt }) => dueAt));
    for (const [wake, until] of [...this.waiting]) if (earliest < until) wake();
  }
}
