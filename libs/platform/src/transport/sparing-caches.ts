import { Failure } from '@conclave/contracts';
import type { Caches } from '@conclave/ports';
import type { Metrics } from '../metrics/metrics.js';
import { overriding } from '../process/overriding.js';

/**
 * Caches that skip and count values that are too large to store: a failure to cache must not fail the work. Such a write returns false, as
 * if a ban had refused it.
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
