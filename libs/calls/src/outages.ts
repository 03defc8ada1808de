import { isOutage } from '@conclave/contracts';

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/**
 * Repeats an idempotent write while our own store is unavailable: a journal step left open by this living process would block every other
 * process. Throws any other failure at once, and the last outage once `closing` aborts: the lease then ends too. A write that begins after
 * that is tried once; libraries for retries do not start under an aborted signal, so none is used here.
 */
export async function retryDuringOutage<T>(write: () => Promise<T>, closing: AbortSignal): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || closing.aborted) throw error;
    }
    await pause(waitMs, closing);
  }
}

/**
 * Resolves early when the process closes; the next failure is then the last one. Uses the global timers, because the simulation's clock
 * moves only those.
 */
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
