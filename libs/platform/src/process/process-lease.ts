import { leaseRenewMs, leaseTtlMs, type Leases } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';
import type { HealthCheck } from './readiness.js';

export interface ProcessLease {
  /** Unhealthy once the lease could have expired without a renewal: other processes may then take over this process's calls. */
  readonly health: HealthCheck;
  /** Ends the lease at once, so that no process waits for one that has shut down properly. */
  end(): Promise<void>;
}

/**
 * Shows the other processes that this one is alive: the lease is renewed every 2 s and expires after 6 s. Throws STORE_UNAVAILABLE if the
 * lease cannot be taken.
 */
export async function holdProcessLease(
  leases: Leases,
  process: { readonly id: string; readonly service: string; readonly classes: readonly string[] },
  logger: Logger,
  renewMs: number = leaseRenewMs,
): Promise<ProcessLease> {
  const renew = (): Promise<void> => leases.renewProcess({ ...process, ttlMs: leaseTtlMs });
  await renew();
  let renewedAt = performance.now();
  let failing = false;
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = renew().then(
      () => {
        renewedAt = performance.now();
        failing = false;
      },
      (error: unknown) => {
        if (!failing) logger.warn('The lease of this process could not be renewed.', { error });
        failing = true;
      },
    );
  }, renewMs);
  return {
    health: () =>
      performance.now() - renewedAt > leaseTtlMs ? 'the lease of this process has expired because the state store did not answer.' : null,
    end: async () => {
      clearInterval(timer);
      await running;
      await leases
        .endProcess(process.id)
        .catch((error: unknown) => logger.warn('The lease of this process could not be ended; it expires automatically.', { error }));
    },
  };
}
