import { Module, type DynamicModule } from '@nestjs/common';
import {
  BLOBS,
  DOCUMENTS,
  EMBEDDER,
  EVENT_LOG,
  GRAPH,
  MODELS,
  PAGES,
  RERANKINGS,
  RUN_STREAM,
  SEARCH,
  STATE,
  SYMBOLIC,
  TOOLS,
  VECTORS,
  WEBHOOKS,
  type Blobs,
  type DocumentReader,
  type Embedder,
  type EventLog,
  type KnowledgeGraph,
  type Models,
  type PageReader,
  type Rerankings,
  type RunStream,
  type Search,
  type StateStore,
  type Symbolic,
  type ToolServers,
  type Tracer,
  type Vectors,
  type WebhookSender,
} from '@conclave/ports';
import type { Logger } from './logging/logger.js';
import type { Metrics } from './metrics/metrics.js';
import type { Probe } from './process/probe.js';
import type { ReadinessChecks } from './process/readiness.js';
import { LOGGER, METRICS, PROBE, PROCESS, READINESS, type ProcessIdentity } from './tokens.js';

/** The opened ports of one process. */
export interface Ports {
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly blobs: Blobs;
  readonly models: Models;
  /** Null if nothing to search is configured. */
  readonly search: Search | null;
  /** Null if the service does not use it. */
  readonly graph: KnowledgeGraph | null;
  /** Used only by some services: null or absent in other processes. */
  readonly symbolic?: Symbolic | null;
  readonly tools?: ToolServers | null;
  readonly pages?: PageReader | null;
  readonly documents?: DocumentReader | null;
  readonly vectors?: Vectors | null;
  readonly embedder?: Embedder | null;
  readonly rerankings?: Rerankings;
  readonly webhooks?: WebhookSender | null;
  /** Closes all of them, in an order that loses no data. */
  close(): Promise<void>;
}

/** Provided by the platform to every service of a process. */
export interface Observers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly probe: Probe;
  readonly readiness: ReadinessChecks;
  /** Null or absent without tracing. */
  readonly tracer?: Tracer | null;
}

/** Makes every port and observer injectable in all modules of an application. */
@Module({})
export class PortsModule {
  static register(ports: Ports, observers: Observers, process: ProcessIdentity): DynamicModule {
    const values: readonly (readonly [symbol, unknown])[] = [
      [EVENT_LOG, ports.log],
      [STATE, ports.state],
      [RUN_STREAM, ports.stream],
      [BLOBS, ports.blobs],
      [MODELS, ports.models],
      [SEARCH, ports.search],
      [GRAPH, ports.graph],
      [SYMBOLIC, ports.symbolic ?? null],
      [TOOLS, ports.tools ?? null],
      [PAGES, ports.pages ?? null],
      [DOCUMENTS, ports.documents ?? null],
      [VECTORS, ports.vectors ?? null],
      [EMBEDDER, ports.embedder ?? null],
      [RERANKINGS, ports.rerankings ?? { research: null, collections: null }],
      [WEBHOOKS, ports.webhooks ?? null],
      [LOGGER, observers.logger],
      [METRICS, observers.metrics],
      [PROBE, observers.probe],
      [READINESS, observers.readiness],
      [PROCESS, process],
    ];
    return {
      module: PortsModule,
      global: true,
      providers: values.map(([provide, useValue]) => ({ provide, useValue })),
      exports: values.map(([provide]) => provide),
    };
  }
}
