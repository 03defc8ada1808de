import { randomUUID } from 'node:crypto';
import { Failure, topicsFor } from '@conclave/contracts';
import { defaultTtl, type Blobs, type Recovery, type RunStream, type StateStore, type StoreMark, type StoreTtl } from '@conclave/ports';
import { RedisBlobs } from './blobs.js';
import { RedisBreakers } from './breakers.js';
import { RedisCaches } from './caches.js';
import type { CommitHooks } from './commit.js';
import { Connection, type ConnectionSettings } from './connection.js';
import { RedisDeliveries } from './deliveries.js';
import { RedisHints } from './hints.js';
import { RedisJournal } from './journal.js';
import { Keys } from './keys.js';
import { RedisLeases } from './leases.js';
import { RedisOnce } from './once.js';
import { RedisRecovery } from './recovery.js';
import { RedisRunStream } from './run-stream.js';
import { RedisRuns } from './runs.js';
import { probe, readClock, readFormat, readIdentity, startIdentity, storeFormat } from './scripts/store.js';
import { RedisScores } from './scores.js';
import { RedisSettings } from './settings.js';
import { RedisTimers } from './timers.js';
import { RedisUsageLedger } from './usage-ledger.js';
import { redisWarnings } from './warnings.js';

export interface RedisStateOptions extends Pick<ConnectionSettings, 'url' | 'tls'> {
  /** New with every start of a process: it owns the deliveries it begins. */
  readonly processId: string;
  /** Stands before every key and channel; default `conclave:`. */
  readonly keyPrefix?: string;
  /** How long what is over is kept, in milliseconds; `blobMs` defaults to the longest retention of a topic. */
  readonly ttl?: Partial<StoreTtl & { readonly blobMs: number }>;
  /** Milliseconds an unanswered command waits before it fails; default 5,000. */
  readonly commandTimeoutMs?: number;
  readonly hooks?: CommitHooks;
  /** Tests: a step that met a newer version is written over it as it is, instead of being computed again. Default true. */
  readonly comparesVersions?: boolean;
  /** Tests: commands run on whatever store is there, also an empty or older one. Default true. */
  readonly watchesIdentity?: boolean;
}

export interface RedisState {
  readonly store: StateStore;
  readonly stream: RunStream;
  readonly blobs: Blobs;
  /** For whoever rebuilds the store; it works on whatever store is there. */
  readonly recovery: Recovery;
  /** The same as `store.close`. */
  close(): Promise<void>;
}

const longestRetentionMs = Math.max(...topicsFor().map(({ retentionMs }) => retentionMs));

/**
 * Opens state, run streams and blobs on one Redis primary. Throws STORE_UNAVAILABLE when it cannot be reached or does not let us in,
 * STORE_OLDER and STORE_NEWER for what another version wrote; nothing is changed then.
 */
export async function openRedisState(options: RedisStateOptions): Promise<RedisState> {
  const keys = new Keys(options.keyPrefix ?? 'conclave:');
  const ttl = { ...defaultTtl, blobMs: longestRetentionMs, ...options.ttl };
  const connection = new Connection({ ...options, commandTimeoutMs: options.commandTimeoutMs ?? 5_000 }, keys);
  const hints = new RedisHints(connection, keys);
  const close = async (): Promise<void> => {
    hints.close();
    connection.close();
  };
  const now = (): Promise<number> => connection.run(readClock, [], []);
  try {
    await checkFormat(connection);
  } catch (error) {
    await close();
    throw error;
  }
  const store: StateStore = {
    runs: new RedisRuns(connection, keys, ttl, { ...options.hooks, comparesVersions: options.comparesVersions ?? true }, options.processId),
    journal: new RedisJournal(connection, keys, ttl),
    timers: new RedisTimers(connection, keys, hints),
    leases: new RedisLeases(connection, keys),
    hints,
    deliveries: new RedisDeliveries(connection, keys, ttl, options.processId),
    settings: new RedisSettings(connection, keys),
    caches: new RedisCaches(connection, keys),
    scores: new RedisScores(connection, keys, ttl),
    once: new RedisOnce(connection, keys),
    usage: new RedisUsageLedger(connection, keys, ttl),
    breakers: new RedisBreakers(connection, keys),
    identity: identityOf(connection, options.watchesIdentity ?? true),
    durable: async () => undefined,
    now,
    warnings: () => redisWarnings(connection),
    health: () => healthOf(connection, keys),
    close,
  };
  return {
    store,
    stream: new RedisRunStream(connection, keys, ttl),
    blobs: new RedisBlobs(connection, keys, ttl.blobMs),
    recovery: new RedisRecovery(connection, keys, ttl, () => connection.runUnguarded(readClock, [], [])),
    close,
  };
}

async function checkFormat(connection: Connection): Promise<void> {
  const format = (await connection.runUnguarded(readFormat, [], [])) ?? storeFormat;
  if (format === storeFormat) return;
  throw new Failure(format < storeFormat ? 'STORE_OLDER' : 'STORE_NEWER', `Its format is ${format}, this program reads ${storeFormat}.`);
}

/** Whoever has read or started the identity works on that store alone from then on; generation 0 is a store to be rebuilt, which nobody works on. */
function identityOf(connection: Connection, watched: boolean): StateStore['identity'] {
  const remember = (mark: StoreMark | null): void => (watched ? connection.remember(mark) : undefined);
  const remembered = ([storeId, generation]: [string | null, string | null]): StoreMark | null => {
    const mark = storeId === null ? null : { storeId, generation: Number(generation) };
    if (mark && mark.generation > 0) remember(mark);
    return mark;
  };
  return {
    read: async () => remembered(await connection.runUnguarded(readIdentity, [], [])),
    async start(storeId) {
      const [id, generation] = await connection.runUnguarded(startIdentity, [], [storeId, randomUUID(), storeFormat]);
      const mark = { storeId: id, generation: Number(generation) };
      remember(mark);
      return mark;
    },
  };
}

async function healthOf(connection: Connection, keys: Keys): Promise<string | null> {
  try {
    await connection.run(probe, [keys.health], []);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
