import { join } from 'node:path';
import { sampleCorpusFolder, sampleQuestion } from '@conclave/adapter-demo';
import { openSearxng } from '@conclave/adapter-searxng';
import { CorpusSearch, openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import { Failure, shippedClasses, topicsFor, type TopicSpec } from '@conclave/contracts';
import { checkRetention, deliveryHooks, type Loaded, type Observers, type Ports, type TlsFiles } from '@conclave/platform';
import type { KnowledgeGraph, Search } from '@conclave/ports';
import { openModels, type ModelSearch } from './open-models.js';

export type ServiceName = 'gateway' | 'planner' | 'experts' | 'merger' | 'graph-ingest' | 'standalone';

export interface OpenPortsOptions {
  readonly loaded: Loaded;
  readonly observers: Observers;
  readonly service: ServiceName;
  readonly processId: string;
  /** Where local model servers are looked for; tests give closed ports. */
  readonly localServers?: ModelSearch['ports'];
}

export interface OpenedPorts extends Ports {
  readonly engine: 'embedded' | 'distributed';
  /** Nothing is configured and nothing was found: the built-in demo model answers. */
  readonly demoOnly: boolean;
  /** Whether `research` has anything to search, in whatever process. */
  readonly canSearch: boolean;
  /** A question that shows the loop on the sample documents; null where those are not searched. */
  readonly sampleQuestion: string | null;
  /** Sentences about lost guarantees of the stores. */
  readonly warnings: readonly string[];
}

/** Whether records of a topic can bring a run back; those of the audit and of the identity cannot. */
const canRevive = ({ name, retentionMs }: TopicSpec): boolean => name !== 'audit' && retentionMs >= 0;
/** How long journal, applied ids and tombstones are kept: as long as the longest of those topics. */
const keptMs = Math.max(
  ...topicsFor()
    .filter(canRevive)
    .map(({ retentionMs }) => retentionMs),
);

/** Adapters as the configuration says: Kafka and Redis where `stores` names them, one SQLite file otherwise. */
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
      discover: options.service !== 'graph-ingest',
      ...(options.localServers ? { ports: options.localServers } : {}),
    });
    keep(models);
    const folder = loaded.configuration.search.corpus ?? (demoOnly && !loaded.configuration.search.searxng ? sampleCorpusFolder() : null);
    const sampled = folder !== null && loaded.configuration.search.corpus === undefined;
    const canSearch = folder !== null || loaded.configuration.search.searxng !== undefined;
    const stores = loaded.configuration.stores.kafka ? await openDistributed(options, keep) : openEmbedded(options, keep);
    const search = searches(options.service) ? await openSearch(loaded, folder, stores.sqlite, keep) : null;
    const graph = await openGraph(options, stores.sqlite, keep);
    const { sqlite: _sqlite, ...ports } = stores;
    return { ...ports, models, search, graph, demoOnly, canSearch, sampleQuestion: sampled ? sampleQuestion() : null, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

type Keep = <T extends { close(): Promise<void> }>(one: T) => T;
type Stores = Pick<OpenedPorts, 'log' | 'state' | 'stream' | 'blobs' | 'engine' | 'warnings'> & { readonly sqlite: Sqlite | null };

const searches = (service: ServiceName): boolean => service === 'experts' || service === 'standalone';

function openEmbedded({ loaded, observers, processId }: OpenPortsOptions, keep: Keep): Stores {
  const sqlite = keep(
    openSqlite({
      home: loaded.home,
      processId,
      durability: loaded.configuration.durability,
      hooks: deliveryHooks(observers),
      logger: observers.logger,
    }),
  );
  const { log, state, stream, blobs } = sqlite;
  return { engine: 'embedded', log, state, stream, blobs, sqlite, warnings: [] };
}

async function openDistributed({ loaded, observers, processId }: OpenPortsOptions, keep: Keep): Promise<Stores> {
  const { kafka, redis } = loaded.configuration.stores;
  if (!kafka || !redis) throw new Failure('CONFIGURATION_INVALID', 'Kafka needs Redis beside it: set stores.redis.url or REDIS_URL.');
  // Loaded only where they are used: the embedded mode starts a second earlier without them.
  const [{ openRedisState }, { ensureTopics, openKafkaLog, topicRetentions }] = await Promise.all([
    import('@conclave/adapter-redis'),
    import('@conclave/adapter-kafka'),
  ]);
  const tls = tlsOptions(loaded.secrets.redis.tls);
  const opened = keep(
    await openRedisState({
      url: withLogin(redis.url, loaded.secrets.redis),
      ...(tls ? { tls: tls === true ? {} : tls } : {}),
      processId,
      keyPrefix: redis.key_prefix,
      ttl: { retentionMs: keptMs },
    }),
  );
  const { mechanism } = kafka.sasl;
  const { user = '', password = '' } = loaded.secrets.kafka;
  const connection = {
    brokers: kafka.brokers,
    clientId: kafka.client_id,
    ssl: tlsOptions(loaded.secrets.kafka.tls),
    ...(mechanism ? { sasl: { mechanism, username: user, password } as never } : {}),
    topicPrefix: kafka.topic_prefix,
    logger: observers.logger,
  };
  const classes = [...new Set([...shippedClasses, ...Object.keys(loaded.configuration.task_classes)])];
  const topics = topicsFor(classes);
  await ensureTopics({ ...connection, partitions: kafka.partitions, replication: kafka.replication, topics });
  checkRetention(await topicRetentions({ ...connection, topics: topics.filter(canRevive) }), keptMs);
  const log = keep(
    await openKafkaLog({
      ...connection,
      blobs: opened.blobs,
      ledger: opened.store.deliveries,
      hooks: deliveryHooks(observers),
      sessionTimeoutMs: kafka.session_timeout_ms,
    }),
  );
  return {
    engine: 'distributed',
    log,
    state: opened.store,
    stream: opened.stream,
    blobs: opened.blobs,
    sqlite: null,
    warnings: await opened.store.warnings(),
  };
}

async function openSearch({ configuration }: Loaded, folder: string | null, sqlite: Sqlite | null, keep: Keep): Promise<Search | null> {
  if (configuration.search.searxng) return keep(openSearxng({ url: configuration.search.searxng }));
  if (!folder) return null;
  return sqlite ? sqlite.corpus(folder) : keep(await CorpusSearch.open({ folder, index: ':memory:' }));
}

async function openGraph(
  { loaded, service, processId, observers }: OpenPortsOptions,
  sqlite: Sqlite | null,
  keep: Keep,
): Promise<KnowledgeGraph | null> {
  if (service !== 'graph-ingest' && service !== 'standalone') return null;
  const { neo4j, kafka } = loaded.configuration.stores;
  if (neo4j) {
    const { Neo4jGraph } = await import('@conclave/adapter-neo4j');
    const { user = '', password = '' } = loaded.secrets.neo4j;
    return keep(
      new Neo4jGraph({
        url: neo4j.url,
        user,
        password,
        ...(neo4j.database ? { database: neo4j.database } : {}),
        namespace: kafka?.topic_prefix ?? '',
      }),
    );
  }
  if (sqlite) return sqlite.graph;
  // A graph of its own file beside Kafka and Redis: one process can have it, which is what this service needs.
  return keep(
    openSqlite({ home: join(loaded.home, 'graph'), processId, durability: loaded.configuration.durability, logger: observers.logger }),
  ).graph;
}

const tlsOptions = (tls: boolean | TlsFiles): boolean | TlsFiles => tls;

/** The address with user and password from their variables. */
function withLogin(url: string, { user, password }: { readonly user?: string; readonly password?: string }): string {
  if (!password) return url;
  const address = new URL(url);
  address.username = encodeURIComponent(user ?? '');
  address.password = encodeURIComponent(password);
  return address.toString();
}
