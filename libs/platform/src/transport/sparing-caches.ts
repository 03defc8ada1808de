import { Failure } from '@conclave/contracts';
import type { Caches } from '@conclave/ports';
import type { Metrics } from '../metrics/metrics.js';
import { overriding } from '../process/overriding.js';

/**
 * Caches that leave out what is too large to be kept, and count it: a copy for later is never worth the work it was made of.
 * Such a write gives false, as one that a ban refuses does.
 */
export const sparingCaches = (caches: Caches, metrics: Pick<Metrics, 'count'>): Caches =>
  overriding(caches, {
    write: async (entry) => {
      try {
        return await caches.write(entry);
      } catch (error) {
        if (!(error instanceof Failure && error.code === 'CACHE_VALUE_TOO_LARGE')) throw error;
        metrics.count('cache_values_too_large_total', {});
        return false;
      }
    },
  });
