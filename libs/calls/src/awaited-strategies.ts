import type { Event } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import { defer, type HandlerOutcome } from '@conclave/ports';
import { StrategyMissing } from '@conclave/strategies';
import type { WorkState } from './calls.js';

/** Milliseconds that a record waits for the strategy of its run: a restart of all processes with a new module may take that long. */
const patienceMs = 60_000;
const pollMs = 1_000;

/**
 * Lets records wait whose run needs a strategy that this process does not have. While processes are restarted one by one, some of them have a
 * module that others do not have yet; without this, each run that meets such a process would end.
 */
export class AwaitedStrategies {
  /** When this process first met a strategy that it does not have. */
  private since: number | null = null;
  private readonly told = new Set<string>();

  constructor(private readonly state: Pick<WorkState, 'now'>) {}

  /** Defers the record. Throws the error again if it says something else, or if the record has waited long enough. */
  async defer(error: unknown, event: Event, logger: Pick<Logger, 'warn'> | undefined): Promise<HandlerOutcome> {
    if (!(error instanceof StrategyMissing)) throw error;
    const now = await this.state.now();
    this.since ??= now;
    if (now - Math.max(event.time, this.since) >= patienceMs) throw error;
    if (!this.told.has(error.strategy)) {
      this.told.add(error.strategy);
      logger?.warn('A run waits for a strategy that this process does not have; it fails if the process is not restarted with it.', {
        waitsS: patienceMs / 1_000,
        error,
      });
    }
    return defer(pollMs);
  }
}
