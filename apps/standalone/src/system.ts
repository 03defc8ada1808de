import type { INestApplication } from '@nestjs/common';
import {
  awaitedTools,
  openPorts,
  newProcessId,
  openTracer,
  publishToolOffers,
  taskConcurrency,
  type OpenedPorts,
  type OpenPortsOptions,
} from '@conclave/host';
import { openGatewayApp, openTemplates, type Doors } from '@conclave/app-gateway';
import { shippedClasses } from '@conclave/contracts';
import {
  claimStores,
  holdProcessLease,
  openShutdown,
  serve,
  type Loaded,
  type Observers,
  type Served,
  type TemplateCatalogue,
} from '@conclave/platform';
import { ExpertsModule } from '@conclave/service-experts';
import { GraphIngestModule } from '@conclave/service-graph-ingest';
import { LearningModule } from '@conclave/service-learning';
import { MergerModule, runFolding } from '@conclave/service-merger';
import { PlannerModule } from '@conclave/service-planner';
import { webhookService } from '@conclave/service-webhooks';

export interface OpenSystemOptions {
  readonly loaded: Loaded;
  readonly observers: Observers;
  /** Keys and access rules. */
  readonly doors: Pick<Doors, 'keys' | 'access'>;
  /** Ports on which local model servers are searched; tests pass closed ports. */
  readonly localServers?: OpenPortsOptions['localServers'];
}

/** All services in this process on the embedded adapters; the gateway does not listen yet. */
export interface EmbeddedSystem {
  readonly gateway: INestApplication;
  readonly ports: OpenedPorts;
  readonly catalogue: TemplateCatalogue;
  /** Resolves when the templates include the tools of the configured servers, or the servers failed to answer. Never rejects. */
  readonly toolsListed: Promise<void>;
  /** Ends streams, finishes or hands back tasks, closes the stores. Returns the same promise to every caller. */
  close(): Promise<void>;
}

const graceMs = 5_000;

/** Throws DATA_FOLDER_IN_USE, STORE_REPLACED; errors of the stores pass through. Nothing stays open then. */
export async function openSystem({ loaded, observers: watched, doors, localServers }: OpenSystemOptions): Promise<EmbeddedSystem> {
  const { logger, readiness } = watched;
  const shutdown = openShutdown(logger);
  try {
    const tracer = await openTracer(loaded, 'standalone', logger);
    if (tracer) shutdown.add('traces', () => tracer.close());
    const observers = { ...watched, tracer };
    const own = Object.keys(loaded.configuration.task_classes);
    const classes = [...new Set([...shippedClasses, ...own])];
    const identity = { id: newProcessId('standalone'), classes };
    // Kafka and Redis belong to the services of a cluster: this process keeps log and state in its data folder.
    const { neo4j, chroma, blobs } = loaded.configuration.stores;
    const stores = { ...(neo4j ? { neo4j } : {}), ...(chroma ? { chroma } : {}), ...(blobs ? { blobs } : {}) };
    const ports = await openPorts({
      loaded: { ...loaded, configuration: { ...loaded.configuration, stores } },
      observers,
      service: 'standalone',
      processId: identity.id,
      folding: runFolding,
      ...(localServers ? { localServers } : {}),
    });
    shutdown.add('stores', () => ports.close());
    await claimStores(ports.log, ports.state);
    const lease = await holdProcessLease(ports.state.leases, { id: identity.id, service: 'standalone', classes }, logger);
    shutdown.add('lease', () => lease.end());
    readiness.add('lease', lease.health);

    const { store_prompts: storePrompts, repetition_limit: repetitionLimit, gateway: gatewaySettings } = loaded.configuration;
    const calls = { storePrompts, repetitionLimit };
    const concurrency = taskConcurrency(loaded);
    const { CONCLAVE_PERMIT_KEY: permitKey } = loaded.environment;
    const workers = classes.filter((name) => name !== 'judge');
    const parts = [
      ['planner', PlannerModule.register(calls), []],
      ['experts', ExpertsModule.register({ ...calls, permitKey, readPages: loaded.configuration.search.read_pages }), workers],
      ['merger', MergerModule.register({ ...calls, permitKey, parkMs: gatewaySettings.park_s * 1_000 }), ['judge']],
      ['learning', LearningModule.register(), []],
      ['graph-ingest', GraphIngestModule.register(calls), []],
    ] as const;
    const served: Served[] = [];
    for (const [service, module, served_classes] of parts) {
      const one = await serve({
        service,
        module,
        ports,
        observers,
        process: { id: identity.id, classes: served_classes },
        graceMs,
        concurrency,
      });
      served.push(one);
      shutdown.add(service, () => one.close());
    }
    const webhooks = webhookService(loaded);
    if (webhooks) {
      const one = await serve({ service: 'webhooks', ...webhooks, ports, observers, process: { id: identity.id, classes: [] }, graceMs });
      shutdown.add('webhooks', () => one.close());
    }
    const options = { loaded, ports, observers, doors, processId: identity.id };
    const catalogue = await openTemplates(options);
    const gateway = await openGatewayApp(options, catalogue);
    shutdown.add('gateway', () => gateway.close());
    // Last, so that starting tool servers does not delay start-up.
    const published = publishToolOffers({ configuration: loaded.configuration, ports, logger });
    shutdown.add('tool offers', () => published.close());
    const { asked } = published;
    const toolsListed = asked.then(() => catalogue.refresh());
    readiness.add('tools', awaitedTools({ ...loaded, state: ports.state, logger, refresh: catalogue.refresh, asked }));
    return { gateway, ports, catalogue, toolsListed, close: () => (readiness.stopping(), shutdown.run()) };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
