import { openRedisState } from '@conclave/adapter-redis';
import { holdProcessLease, openShutdown, serve } from '@conclave/platform';
import type { Models } from '@conclave/ports';
import { committeeServices, observersLikeInProduction, services } from '../committee/services.js';
import { SteppedLog } from './stepped-log.js';

/** The services of the committee over a real Redis and a log that hands out one record at a time. */
export interface SteppedServices {
  readonly redis: Awaited<ReturnType<typeof openRedisState>>;
  readonly log: SteppedLog;
  close(): Promise<void>;
}

export async function startStepped(options: {
  readonly redisUrl: string;
  readonly keyPrefix: string;
  readonly models: Models;
}): Promise<SteppedServices> {
  const observers = observersLikeInProduction();
  const shutdown = openShutdown(observers.logger);
  try {
    const processId = 'counted';
    const redis = await openRedisState({ url: options.redisUrl, processId, keyPrefix: options.keyPrefix });
    shutdown.add('stores', () => redis.close());
    const { store: state, stream, blobs } = redis;
    const log = new SteppedLog({ ledger: state.deliveries, blobs });
    await state.identity.start('counted');
    const classes = committeeServices.flatMap((service) => services[service].classes);
    const lease = await holdProcessLease(state.leases, { id: processId, service: 'standalone', classes }, observers.logger);
    shutdown.add('lease', () => lease.end());
    const ports = { log, state, stream, blobs, models: options.models, search: null, graph: null, close: async () => undefined };
    for (const service of committeeServices) {
      const { module, classes: served } = services[service];
      const running = await serve({ service, module: module(), ports, observers, process: { id: processId, classes: served } });
      shutdown.add(service, () => running.close());
    }
    return { redis, log, close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
