import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Sqlite } from '@conclave/adapter-sqlite';
import { canRevive, Failure, type Mode } from '@conclave/contracts';
import {
  checkAudit,
  checkRetention,
  deliveryHooks,
  forgetsAtEnd,
  overriding,
  sparingCaches,
  tracedLog,
  timedGraph,
  tracedRuns,
  type Loaded,
  type Ports,
  type Probe,
} from '@conclave/platform';
import type { DocumentReader, KnowledgeGraph, PoolChange, Search } from '@conclave/ports';
import { kafkaConnection, keptMsOf, openRedis, retentionIn, sealsOf, topicsOf, type Keep } from './cluster.js';
import { openCapabilities, openGraphServer } from './open-capabilities.js';
import type { OpenPortsOptions } from './opening.js';
import { openBlobs } from './open-blobs.js';
import { openModels } from './open-models.js';

export interface OpenedPorts extends Ports {
  readonly mode: Mode;
  /** True if no model server is configured or found, so that the built-in demo model answers. */
  readonly demoOnly: boolean;
  /** Whether `research` can search anything, in any process. */
  readonly canSearch: boolean;
  /** Whether workers can read the knowledge graph, in any process. */
  readonly canRecall: boolean;
  /** A question that shows the loop on the sample documents; null if those are not searched. */
  readonly sampleQuestion: string | null;
  /** Sentences about missing guarantees of the stores. */
  readonly warnings: readonly string[];
}

/**
 * Opens the configured adapters: Kafka and Redis if `stores` names them, otherwise one SQLite file. Each is imported on demand, so that a
 * process loads only what it uses.
 */
export async function openPorts(options: OpenPortsOptions): Promise<OpenedPorts> {
  const { loaded } = options;
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  const closeAll = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one.close();
  };
  try {
    const { models, demoOnly } = await openModels(loaded, {
      discover: true,
      onConceded: (model, what) =>
        options.observers.logger.warn('a model server refuses a parameter; calls leave it out for ten minutes', { model, what }),
      ...(options.localServers ? { ports: options.localServers } : {}),
    });
    keep(models);
    const { sampleCorpusFolder, sampleQuestion } = await import('@conclave/adapter-demo');
    const folder = loaded.configuration.search.corpus ?? (demoOnly && !loaded.configuration.search.searxng ? sampleCorpusFolder() : null);
    const sampled = folder !== null && loaded.configuration.search.corpus === undefined;
    const canSearch = folder !== null || loaded.configuration.search.searxng !== undefined;
    const { probe } = options.observers;
    const whole = loaded.configuration.stores.kafka ? await openDistributed(options, keep) : await openEmbedded(options, keep);
    const probed = probe.stores?.(whole, { service: options.service, mode: whole.mode }) ?? whole;
    const stores = withTracedLog(withTracedRuns(withSparingCaches(probed, options)), options);
    const search = canSearchHere(options, folder) ? await openSearch(loaded, folder, stores.sqlite, keep) : null;
    const opening = await openGraph(options, stores.sqlite, keep);
    const graph = opening && timedGraph(opening, options.observers.metrics);
    const capabilities = await openCapabilities(options, stores.sqlite, keep);
    const { sqlite: _sqlite, ...ports } = stores;
    return {
      ...ports,
      ...capabilities,
      models,
      search,
      graph,
      demoOnly,
      canSearch,
      canRecall: canRecall(loaded),
      sampleQuestion: sampled ? sampleQuestion() : null,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

type Stores = Pick<OpenedPorts, 'log' | 'state' | 'stream' | 'blobs' | 'mode' | 'warnings'> & { readonly sqlite: Sqlite | null };

const withSparingCaches = (stores: Stores, { observers: { metrics } }: OpenPortsOptions): Stores => ({
  ...stores,
  state: overriding(stores.state, { caches: sparingCaches(stores.state.caches, metrics) }),
});

const withTracedRuns = (stores: Stores): Stores => ({
  ...stores,
  state: overriding(stores.state, { runs: tracedRuns(stores.state.runs) }),
});

const withTracedLog = (stores: Stores, { observers: { tracer } }: OpenPortsOptions): Stores =>
  tracer ? { ...stores, log: tracedLog(stores.log, tracer) } : stores;

/** The changes that a test's probe makes to the delivery; empty without one. */
const poolChangeOf = (probe: Probe, ...of: Parameters<NonNullable<Probe['pool']>>): { readonly poolChange?: PoolChange } =>
  probe.pool ? { poolChange: probe.pool(...of) } : {};

/**
 * Whether this process opens the search: workers need it, and planners look up questions that seem trivial. If only workers have the folder
 * of documents, a planner skips the look-up.
 */
function canSearchHere({ service, loaded, observers }: OpenPortsOptions, folder: string | null): boolean {
  if (service === 'experts' || service === 'standalone') return true;
  if (service !== 'planner') return false;
  if (loaded.configuration.search.searxng || folder === null || existsSync(folder)) return true;
  observers.logger.warn('this process has no folder of documents: questions that seem trivial are not looked up in it', { folder });
  return false;
}

async function openEmbedded(options: OpenPortsOptions, keep: Keep): Promise<Stores> {
  const { loaded, observers, processId } = options;
  const { openSqlite } = await import('@conclave/adapter-sqlite');
  const sqlite: Sqlite = keep(
    openSqlite({
      home: loaded.home,
      processId,
      durability: loaded.configuration.durability,
      retention: retentionIn(loaded),
      hooks: deliveryHooks(observers),
      ...poolChangeOf(observers.probe, 'embedded', () => sqlite.durable()),
      logger: observers.logger,
      ...(options.storeCounter ? { counter: options.storeCounter } : {}),
      ...(options.folding ? { folding: options.folding } : {}),
    }),
  );
  const { log, state, stream } = sqlite;
  // Large records stay in the file: they are written in one transaction with what belongs to them.
  const blobs = await openBlobs(loaded, sqlite.blobs, keep);
  return { mode: 'embedded', log, state, stream, blobs, sqlite, warnings: [] };
}

async function openDistributed(options: OpenPortsOptions, keep: Keep): Promise<Stores> {
  const { loaded, observers, processId } = options;
  const { probe } = observers;
  const { kafka } = loaded.configuration.stores;
  if (!kafka) throw new Failure('CONFIGURATION_INVALID', 'stores.kafka is not set.');
  const opened = await openRedis(loaded, processId, keep, probe);
  const { ensureTopics, findTopics, openKafkaLog, planTopics, topicDifferences, topicRetentions } = await import('@conclave/adapter-kafka');
  const connection = kafkaConnection(loaded, observers.logger);
  const topics = topicsOf(loaded);
  await ensureTopics({ ...connection, partitions: kafka.partitions, replication: kafka.replication, topics });
  const planned = planTopics({ partitions: kafka.partitions, replication: kafka.replication, topics, topicPrefix: connection.topicPrefix });
  const differences = topicDifferences(planned, await findTopics({ ...connection, planned }));
  const retentions = await topicRetentions({ ...connection, topics: topics.filter(({ compacted }) => !compacted) });
  checkRetention(retentions.filter(canRevive), keptMsOf(loaded));
  checkAudit(retentions);
  const blobs = await openBlobs(loaded, opened.blobs, keep);
  const log = keep(
    await openKafkaLog({
      ...connection,
      blobs,
      ledger: opened.store.deliveries,
      seals: sealsOf(loaded, opened.sealKeys),
      hooks: deliveryHooks(observers),
      ...poolChangeOf(probe, 'distributed', () => opened.store.durable()),
      ...probe.adapters?.log,
      sessionTimeoutMs: kafka.session_timeout_ms,
    }),
  );
  return {
    mode: 'distributed',
    log,
    state: opened.store,
    stream: opened.stream,
    blobs,
    sqlite: null,
    warnings: [...(await opened.store.warnings()), ...differences, ...unforgotten(loaded)],
  };
}

/** A warning if `store_prompts: none` cannot forget ended runs, because their records are not sealed. */
const unforgotten = ({ configuration, environment }: Loaded): readonly string[] =>
  configuration.store_prompts === 'none' && !forgetsAtEnd({ configuration, environment })
    ? [
        '`store_prompts: none` without a key in CONCLAVE_SEAL_KEY_FILE: questions and answers on Kafka can be read until their retention ends.',
      ]
    : [];

/** Every process can read a graph server; a graph file belongs to one process. */
const canRecall = ({ configuration: { stores } }: Loaded): boolean => stores.neo4j !== undefined || stores.kafka === undefined;

async function openSearch({ configuration }: Loaded, folder: string | null, sqlite: Sqlite | null, keep: Keep): Promise<Search | null> {
  if (configuration.search.searxng) {
    const { openSearxng } = await import('@conclave/adapter-searxng');
    return keep(openSearxng({ url: configuration.search.searxng }));
  }
  if (!folder) return null;
  const reader = keep(laterReader());
  if (sqlite) return sqlite.corpus(folder, reader);
  const { CorpusSearch } = await import('@conclave/adapter-sqlite');
  return keep(await CorpusSearch.open({ folder, index: ':memory:', reader }));
}

/** A reader that opens with its first document, because a folder of plain texts needs none. */
function laterReader(): DocumentReader {
  let opened: Promise<DocumentReader> | null = null;
  return {
    read: async (request) => {
      opened ??= import('@conclave/adapter-documents').then(({ openDocumentReader }) => openDocumentReader());
      return (await opened).read(request);
    },
    close: async () => (await opened)?.close(),
  };
}

async function openGraph(
  { loaded, service, processId, observers }: OpenPortsOptions,
  sqlite: Sqlite | null,
  keep: Keep,
): Promise<KnowledgeGraph | null> {
  const readsOnly = service === 'experts' || service === 'gateway' || service === 'planner';
  if (!readsOnly && service !== 'graph-ingest' && service !== 'standalone') return null;
  const { neo4j } = loaded.configuration.stores;
  if (neo4j) return keep(await openGraphServer(loaded));
  if (sqlite) return sqlite.graph;
  if (readsOnly) return null;
  const { openSqlite } = await import('@conclave/adapter-sqlite');
  // With Kafka and Redis but no graph server, the graph is a file. Only one process can own it, which is enough for this service.
  return keep(
    openSqlite({ home: join(loaded.home, 'graph'), processId, durability: loaded.configuration.durability, logger: observers.logger }),
  ).graph;
}
