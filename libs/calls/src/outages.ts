import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from '@conclave/contracts';

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/**
 * Repeats an idempotent write while our own store is away: a step of the journal that this living process leaves open would keep
 * everybody waiting. Throws every other failure at once, and what it failed with once `closing` aborts: then the lease ends too. A write that
 * begins after that is tried once, which is why no library for retries serves here: those do not begin under an aborted signal.
 */
export async function retryDuringOutage<T>(write: () => Promise<T>, closing: AbortSignal): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || closing.aborted) throw error;
    }
    await delay(waitMs, undefined, { signal: closing, ref: false }).catch((error: unknown) => {
      if (!closing.aborted) throw error;
    });
  }
}
