import { isOutage, type Failure } from '@conclave/contracts';
import type { Logger } from '../logging/logger.js';

/** How long a start waits for stores that are starting too. */
export const startPatienceMs = 60_000;

/** Tries again while our own stores do not answer; a replaced store is no matter of time. Throws the last failure when patience ends. */
export async function patiently<T>(act: () => Promise<T>, logger: Logger, patienceMs = startPatienceMs): Promise<T> {
  const end = performance.now() + patienceMs;
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    try {
      return await act();
    } catch (error) {
      if (!isOutage(error) || (error as Failure).code === 'STORE_REPLACED' || performance.now() > end) throw error;
      logger.warn('A store does not answer yet; trying again.', { error });
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
