import pRetry from 'p-retry';
import { isOutage, type Failure } from '@conclave/contracts';
import type { Logger } from '../logging/logger.js';

/** Milliseconds for which a start waits for stores that are starting too. */
export const startPatienceMs = 60_000;

/** Retries while our own stores do not answer; a replaced store fails at once. Throws the last failure when the time is over. */
export const retryWhileStarting = <T>(act: () => Promise<T>, logger: Logger, patienceMs = startPatienceMs): Promise<T> => {
  const end = performance.now() + patienceMs;
  return pRetry(act, {
    retries: Infinity,
    minTimeout: 250,
    maxTimeout: 2_000,
    shouldRetry({ error }) {
      if (!isOutage(error) || (error as Failure).code === 'STORE_REPLACED' || performance.now() > end) return false;
      logger.warn('A store does not answer yet; trying again.', { error });
      return true;
    },
  });
};
