import type { RetryPolicy } from './event-log.js';

export const defaultRetry: RetryPolicy = { attempts: 5, backoffMs: 200, maxBackoffMs: 10_000, processDeaths: 3 };

/**
 * Milliseconds to wait after the n-th failed attempt (n from 1): doubled each time up to the bound, minus a random part of up to half, so
 * that records that failed together do not return together.
 */
export function backoff(
  { backoffMs, maxBackoffMs }: Pick<RetryPolicy, 'backoffMs' | 'maxBackoffMs'>,
  attempt: number,
  random: number,
): number {
  const full = Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full * (0.5 + random / 2));
}
