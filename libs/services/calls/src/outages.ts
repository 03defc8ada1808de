import { setTimeout as wait } from 'node:timers/promises';
import { isOutage } from '@conclave/contracts';

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/** Repeats an idempotent write while our own store is away. Throws what it failed with once the signal aborts, and every other failure at once. */
export async function throughOutages<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || signal.aborted) throw error;
    }
    await wait(waitMs);
  }
}
