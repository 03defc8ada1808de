import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { apiVersion, environmentProvider, shippedClasses } from '@conclave/contracts';
import { openAuditKey, openCatalogue, taskGroup, type Loaded, type Observers, type TemplateCatalogue } from '@conclave/platform';
import { openRemoteFiles, openTrial, topicsOf, type OpenedPorts } from '@conclave/host';
import { ProviderAccess } from '@conclave/calls/provider-access';
import {
  createGatewayApp,
  gatewayMetrics,
  settingOffers,
  type ConsumerHealth,
  type GatewayOptions,
  type PassageSearch,
} from '@conclave/service-gateway';
import { declaredCapabilities, describeRun, expertPrompts, strategies, strategyOf } from '@conclave/strategies';
import type { Doors } from './doors.js';

export interface GatewayAppOptions {
  readonly loaded: Loaded;
  readonly ports: OpenedPorts;
  readonly observers: Observers;
  readonly processId: string;
  readonly doors: Pick<Doors, 'keys' | 'access'>;
  /** Consumers of this process, for readiness. */
  readonly consumers?: () => readonly ConsumerHealth[];
}

/** Templates and models by the names clients use, with the shipped prompts or their replacements from the settings. */
export const openTemplates = ({
  loaded: { configuration },
  ports,
  observers: { logger },
}: Omit<GatewayAppOptions, 'doors' | 'processId'>): Promise<TemplateCatalogue> =>
  openCatalogue({
    configuration,
    models: ports.models,
    expertPrompts,
    strategies: strategies(),
    capabilities: declaredCapabilities(),
    canSearch: ports.canSearch,
    canRecall: ports.canRecall,
    offers: settingOffers(ports.state, logger),
    onWarning: (warning) => logger.warn(warning),
    onOffersFailed: (error) => logger.warn('The settings could not be read; templates stay as they are.', { error }),
  });

/** The gateway over opened ports, not listening yet. */
export async function openGatewayApp(options: GatewayAppOptions, catalogue: TemplateCatalogue): Promise<INestApplication> {
  const { loaded, observers, processId, doors, consumers } = options;
  const { metrics, probe } = observers;
  const ports = probe.ports?.(options.ports, 'gateway') ?? options.ports;
  const {
    max_body_bytes: maxBodyBytes,
    max_document_bytes: maxDocumentBytes,
    max_tenant_upload_bytes: maxTenantUploadBytes,
    max_attachments: maxAttachments,
    max_attachment_bytes: maxAttachmentBytes,
    max_embedding_texts: maxEmbeddingTexts,
    request_timeout_s: requestTimeoutS,
    max_open_runs: openRuns,
    max_direct_calls: directCalls,
    max_event_streams: eventStreams,
    heartbeat_s: heartbeat,
    max_issued_keys: maxIssuedKeys,
    revoked_keys_days: revokedKeysDays,
    keys_without_store_s: keysWithoutStoreS,
    keep_alive_json: keepAliveJson,
    max_queue_wait_s: queueWait,
    reserve_tokens: reserveTokens,
    session_idle_s: sessionIdleS,
    session_s: sessionS,
  } = loaded.configuration.gateway;
  const logger = observers.logger.child({ service: 'gateway' });
  const app = await createGatewayApp({
    catalogue,
    log: ports.log,
    state: ports.state,
    stream: ports.stream,
    models: ports.models,
    providers: new ProviderAccess({ state: ports.state, models: ports.models, metrics, logger: observers.logger, processId }),
    blobs: ports.blobs,
    documents: ports.documents ?? null,
    remoteFiles: await openRemoteFiles({ allowHosts: loaded.configuration.search.allow_hosts }),
    webhooks: {
      tenants: Object.fromEntries(Object.entries(loaded.configuration.webhooks).map(([name, { tenants }]) => [name, tenants ?? null])),
      sender: ports.webhooks ?? null,
    },
    vectors: ports.vectors ?? null,
    embedder: ports.embedder ?? null,
    ...contentsOf(ports),
    ...passagesOf(ports),
    graph: ports.graph,
    skillFolder: loaded.configuration.skills ?? null,
    openTrial,
    configuredProviders: [...Object.keys(loaded.configuration.providers), environmentProvider],
    version: apiVersion,
    processId,
    groups: groupsOf(loaded),
    // Beside the programs, where the build puts it.
    consoleFolder: join(import.meta.dirname, 'console'),
    topics: topicsOf(loaded).map(({ name }) => name),
    limits: {
      maxBodyBytes,
      requestTimeoutMs: requestTimeoutS * 1_000,
      maxDocumentBytes,
      maxTenantUploadBytes,
      maxAttachments,
      maxAttachmentBytes,
      maxEmbeddingTexts,
      maxIssuedKeys,
      revokedKeysMs: revokedKeysDays * 86_400_000,
      keysWithoutStoreMs: keysWithoutStoreS * 1_000,
      openRuns,
      directCalls,
      eventStreams,
      reserveTokens,
      sessionIdleMs: sessionIdleS * 1_000,
      sessionMs: sessionS * 1_000,
      maxQueueWaitMs: queueWait * 1000,
      firstHeartbeatMs: Math.min(heartbeat, 10) * 1000,
      heartbeatMs: heartbeat * 1000,
      keepAliveJson,
    },
    keys: doors.keys,
    access: doors.access,
    logger,
    metrics: gatewayMetrics(metrics),
    describeRun: (state) =>
      describeRun(state, strategyOf, (run, error) => logger.error('A run is shown in part: its state cannot be read.', { run, error })),
    ...(consumers ? { consumers } : {}),
    // Imported on the first request, so that the start is faster.
    openApi: async () => (await import('@conclave/contracts/print')).openApiText(apiVersion),
    asyncApi: async () => (await import('@conclave/contracts/print')).asyncApiText(apiVersion),
    logMs: Math.max(...topicsOf(loaded).map(({ retentionMs }) => retentionMs)),
    auditKey: () => openAuditKey(loaded.environment.CONCLAVE_AUDIT_KEY_FILE ?? join(loaded.home, 'audit.key')),
    recordPrompts: loaded.configuration.store_prompts === 'full',
    repetitionLimit: loaded.configuration.repetition_limit,
    problems: () => observers.readiness.problems(),
    probe,
    tracer: observers.tracer ?? null,
  });
  if (probe.requests) app.use(probe.requests(ports.stream));
  return app;
}

/** Consumer groups of a whole system. */
const groupsOf = ({ configuration }: Loaded): readonly string[] => [
  ...['planner', 'merger', 'experts', 'learning', 'graph-ingest'],
  ...(Object.keys(configuration.webhooks).length > 0 ? ['webhooks'] : []),
  ...[...new Set([...shippedClasses, ...Object.keys(configuration.task_classes)])].map(taskGroup),
];

const contentsOf = ({ search }: Pick<OpenedPorts, 'search'>): Pick<GatewayOptions, 'contents'> =>
  search?.contents ? { contents: () => search.contents!() } : {};

/** The search of the workers, for queries that somebody tries out. The first query imports it, so that the start is faster. */
function passagesOf({ vectors, embedder }: Pick<OpenedPorts, 'vectors' | 'embedder'>): { readonly passages?: PassageSearch } {
  if (!vectors || !embedder) return {};
  return {
    passages: async ({ tenant, collection, ...wanted }, signal) => {
      const { searchCollections } = await import('@conclave/service-experts');
      const { chunks, unknownKeys } = await searchCollections(vectors, embedder, tenant, { ...wanted, collections: [collection] }, signal);
      return { passages: chunks, unknownKeys };
    },
  };
}
