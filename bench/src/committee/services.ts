import type { StoreCounter } from '@conclave/adapter-sqlite';
import { openPorts, openTracer, type OpenedPorts, type AppName } from '@conclave/host';
import {
  claimStores,
  holdProcessLease,
  loadConfiguration,
  noProbe,
  openLogger,
  openMetrics,
  openReadiness,
  openShutdown,
  serve,
  type Observers,
  type Shutdown,
  type Variables,
} from '@conclave/platform';
import { ExpertsModule } from '@conclave/service-experts';
import { GraphIngestModule } from '@conclave/service-graph-ingest';
import { MergerModule, runFolding } from '@conclave/service-merger';
import { PlannerModule } from '@conclave/service-planner';
import { instantModels, type InstantModels } from './instant-models.js';

const storePrompts = 'full';
/** Module and task classes of each service, as the apps wire them. */
export const services = {
  planner: { module: () => PlannerModule.register({ storePrompts }), classes: [] },
  experts: { module: () => ExpertsModule.register({ storePrompts }), classes: ['expert', 'evidence'] },
  merger: { module: () => MergerModule.register({ storePrompts }), classes: ['judge'] },
  'graph-ingest': { module: () => GraphIngestModule.register(), classes: [] },
} as const;

export type CommitteeService = keyof typeof services;
export const committeeServices = Object.keys(services) as readonly CommitteeService[];

export interface RunningServices {
  readonly ports: OpenedPorts;
  readonly models: InstantModels;
  /** What an acknowledged write survives, according to the configuration. */
  readonly durability: 'process' | 'power';
  close(): Promise<void>;
}

/** Observers as in production: counts every metric and formats every log line of level info, then discards the lines. */
export function observersLikeInProduction(): Observers {
  const metrics = openMetrics();
  return {
    logger: openLogger({ level: 'info', sinks: [{ write: (line) => void JSON.stringify(line), close: () => undefined }] }),
    metrics,
    probe: noProbe,
    readiness: openReadiness(),
  };
}

/**
 * Starts services of the committee in this process, on the stores in `variables`, with models that answer at once.
 * `only` empty: opens only the stores, to start runs. `storeCounter` observes the embedded store.
 */
export async function startServices(
  variables: Variables,
  cwd: string,
  as: AppName,
  only: readonly CommitteeService[],
  storeCounter?: StoreCounter,
): Promise<RunningServices> {
  const loaded = loadConfiguration(variables, cwd);
  const watched = observersLikeInProduction();
  const processId = `bench-${as}-${process.pid}`;
  const shutdown: Shutdown = openShutdown(watched.logger);
  const tracer = await openTracer(loaded, as, watched.logger);
  if (tracer) shutdown.add('traces', () => tracer.close());
  const observers: Observers = { ...watched, tracer };
  const models = instantModels();
  try {
    const opened = await openPorts({
      loaded,
      observers,
      service: as,
      processId,
      folding: runFolding,
      ...(storeCounter ? { storeCounter } : {}),
    });
    shutdown.add('stores', () => opened.close());
    const ports: OpenedPorts = { ...opened, models };
    await claimStores(ports.log, ports.state);
    const classes = only.flatMap((service) => services[service].classes);
    const lease = await holdProcessLease(ports.state.leases, { id: processId, service: as, classes }, observers.logger);
    shutdown.add('lease', () => lease.end());
    for (const service of only) {
      const { module, classes: served } = services[service];
      const running = await serve({
        service,
        module: module(),
        ports,
        observers,
        process: { id: processId, classes: served },
        graceMs: 5_000,
      });
      shutdown.add(service, () => running.close());
    }
    return { ports, models, durability: loaded.configuration.durability, close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
