import { isOutage } from '@conclave/contracts';

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/**
 * Repeats an idempotent write while our own store is away: a step of the journal that this living process leaves open would keep
 * everybody waiting. Throws every other failure at once, and what it failed with once `closing` aborts: then the lease ends too.
 */
export async function throughOutages<T>(write: () => Promise<T>, closing: AbortSignal): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || closing.aborted) throw error;
    }
    await pause(waitMs, closing);
  }
}

/** Ends early when the process closes; the next failure is the last one then. */
const pause = (ms: number, closing: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      closing.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms).unref();
    closing.addEventListener('abort', over);
  });
