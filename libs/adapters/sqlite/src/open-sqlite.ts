import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Retention } from '@conclave/contracts';
import {
  SuspectTurns,
  suspectsHeldMs,
  systemClock,
  type Blobs,
  type Clock,
  type DeliveryHooks,
  type EventLog,
  type Folding,
  type KnowledgeGraph,
  type PoolChange,
  type Recovery,
  type RunStream,
  type Search,
  type StateStore,
  type StoreTtl,
  type Vectors,
} from '@conclave/ports';
import { SqliteBlobs } from './blobs.js';
import { Database, type StoreLogger } from './database/database.js';
import type { StoreCounter } from './database/store-counter.js';
import { Groups, SqliteLog } from './event-log/sqlite-log.js';
import { LogTable } from './event-log/log-table.js';
import { SqliteGraph } from './graph/sqlite-graph.js';
import { embeddedTtl, prune } from './housekeeping.js';
import { CorpusSearch, type CorpusOptions } from './search/corpus-search.js';
import { SharedState, SqliteState } from './state/sqlite-state.js';
import { SqliteVectors } from './vectors/sqlite-vectors.js';

export interface SqliteOptions {
  /** Data folder, created when missing; `:memory:` keeps everything in the process. */
  readonly home: string;
  /** Id of this process in leases, journal and deliveries. */
  readonly processId: string;
  /** What an acknowledged write survives: the death of the process, or also a power failure. */
  readonly durability: 'process' | 'power';
  readonly clock?: Clock;
  readonly hooks?: DeliveryHooks;
  /** Called by every delivery pool of this log. */
  readonly poolChange?: PoolChange;
  readonly logger?: StoreLogger;
  readonly ttl?: Partial<StoreTtl>;
  /** How long the topics keep their records; the default times if absent. */
  readonly retention?: Retention;
  /** Whether old rows are deleted at the start and every hour; default true. Commands that only read set false. */
  readonly prunes?: boolean;
  readonly counter?: StoreCounter;
  /** Folds recorded steps of runs, so that not every state has to be written. Without it every state is written. */
  readonly folding?: Folding;
}

/** The ports of one process id. */
export interface SqliteConnection {
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  /** Rebuilds the state from the log. */
  readonly recovery: Recovery;
}

export interface Sqlite extends SqliteConnection {
  readonly blobs: Blobs;
  readonly graph: KnowledgeGraph;
  readonly vectors: Vectors;
  /** Full-text search over a folder of documents; its index is in the data folder. Closed with the rest. */
  corpus(folder: string, reader?: CorpusOptions['reader']): Promise<Search>;
  /** The same store under another process id, for services in one process and for tests. */
  connect(processId: string, hooks?: DeliveryHooks): SqliteConnection;
  /** Resolves when everything acknowledged so far is durable. */
  durable(): Promise<void>;
  /** Deletes expired rows; also runs at the start and every hour unless `prunes` is false. */
  prune(): Promise<void>;
  /** Drains the log, then closes everything. Safe to call twice. */
  close(): Promise<void>;
}

const pruneEveryMs = 60 * 60 * 1000;

/**
 * Opens the stores of embedded mode: event log, state, run streams, bodies and knowledge graph in one SQLite file.
 * Throws Failure DATA_FOLDER_IN_USE, DATA_FOLDER_NEWER, DATA_FOLDER_OLDER, STORE_FULL, STORE_UNAVAILABLE.
 */
export function openSqlite(options: SqliteOptions): Sqlite {
  const { home, clock = systemClock, logger, poolChange, counter } = options;
  const now = () => clock.now();
  const ttl = { ...embeddedTtl(options.retention), ...options.ttl };
  const database = Database.open({
    home,
    durability: options.durability,
    now,
    ...(logger ? { logger } : {}),
    ...(counter ? { counter } : {}),
  });
  const table = new LogTable(database, now);
  const groups = new Groups(database, table, clock);
  const shared = new SharedState(database, table, clock, ttl, options.folding ?? null);
  const blobs = new SqliteBlobs(database, now);
  const graph = new SqliteGraph(database);
  const vectors = new SqliteVectors(database);
  const turns = new SuspectTurns(clock, suspectsHeldMs);
  const logs: EventLog[] = [];
  const corpora: Search[] = [];

  const connect = (processId: string, hooks?: DeliveryHooks): SqliteConnection => {
    const state = new SqliteState(shared, processId);
    const log = new SqliteLog({
      store: database,
      table,
      groups,
      blobs,
      ledger: state.deliveries,
      deliveries: shared.deliveries,
      clock,
      turns,
      ...(hooks ? { hooks } : {}),
      ...(poolChange ? { poolChange } : {}),
    });
    logs.push(log);
    return { log, state, stream: state.stream, recovery: state.recovery };
  };

  const pruneNow = () => prune(database, clock.now(), ttl, options.retention).then(() => shared.forgetAll());
  const pruneQuietly = () =>
    void pruneNow().catch((error: unknown) => logger?.warn('Old rows could not be deleted; it is tried again in an hour.', { error }));
  const prunes = options.prunes ?? true;
  const pruning = prunes ? setInterval(pruneQuietly, pruneEveryMs).unref() : undefined;
  if (prunes) pruneQuietly();

  let closing: Promise<void> | null = null;
  const close = async () => {
    clearInterval(pruning);
    await Promise.all(logs.map((log) => log.close()));
    await Promise.all(corpora.map((corpus) => corpus.close()));
    await graph.close();
    await vectors.close();
    groups.close();
    shared.close();
    await database.close();
  };

  return {
    ...connect(options.processId, options.hooks),
    blobs,
    graph,
    vectors,
    connect,
    durable: () => database.durable(),
    prune: pruneNow,
    close: () => (closing ??= close()),
    async corpus(folder, reader) {
      const corpus = await CorpusSearch.open({ folder, index: indexPath(home, folder), ...(reader ? { reader } : {}) });
      corpora.push(corpus);
      return corpus;
    },
  };
}

/** One index per folder of documents. */
function indexPath(home: string, folder: string): string {
  if (home === ':memory:') return ':memory:';
  return join(home, `corpus-${createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 12)}.db`);
}
