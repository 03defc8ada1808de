import { Failure, leastBodyMs } from '@conclave/contracts';
import { defaultTtl, type Blobs, type Recovery, type RunStream, type SealKeys, type StateStore, type StoreTtl } from '@conclave/ports';
import { RedisAllowances } from './allowances.js';
import { RedisBlobs } from './blobs.js';
import { RedisBreakers } from './breakers.js';
import { RedisCaches } from './caches.js';
import type { CommitHooks } from './commit.js';
import type { ConnectionSettings } from './client.js';
import { RedisConnection } from './connection.js';
import { RedisDeliveries } from './deliveries.js';
import { RedisHints } from './hints.js';
import { RedisJournal } from './journal.js';
import { Keys } from './keys.js';
import { RedisLeases } from './leases.js';
import { RedisOnce } from './once.js';
import { Published } from './published.js';
import { RedisRecovery } from './recovery.js';
import { RedisRunStream } from './run-stream.js';
import { RedisRuns } from './runs.js';
import { identityOf } from './store-identity.js';
import { probe, readClock, readFormat, storeFormat } from './scripts/store.js';
import { RedisSealKeys } from './seal-keys.js';
import { RedisScores } from './scores.js';
import { RedisSettingStore } from './settings.js';
import { RedisTimers } from './timers.js';
import { RedisUsageLedger } from './usage-ledger.js';
import { redisWarnings } from './warnings.js';

export interface RedisStateOptions extends Pick<ConnectionSettings, 'url' | 'tls' | 'cluster' | 'sentinel' | 'replicas'> {
  /** Must be new with every start of a process; owner of the deliveries it begins. */
  readonly processId: string;
  /** Prefix of every key and channel; default `conclave:`. */
  readonly keyPrefix?: string;
  /** Retention after the end, in milliseconds; `blobMs` defaults to the longest retention of a topic. */
  readonly ttl?: Partial<StoreTtl & { readonly blobMs: number }>;
  /** Total size limit of stored bodies in bytes; default 1 GiB. */
  readonly blobQuotaBytes?: number;
  /** Milliseconds before an unanswered command fails; default 5,000. */
  readonly commandTimeoutMs?: number;
  readonly hooks?: CommitHooks;
  /** Tests: false writes a step over a newer version without computing it again. Default true. */
  readonly comparesVersions?: boolean;
  /** Tests: false lets commands run on any store, even an empty or older one. Default true. */
  readonly watchesIdentity?: boolean;
}

export interface RedisState {
  readonly store: StateStore;
  readonly stream: RunStream;
  readonly blobs: Blobs;
  /** Keys that encrypt the records of runs on the log. */
  readonly sealKeys: SealKeys;
  /** Rebuilds the store; works on any store, without the identity check. */
  readonly recovery: Recovery;
  /** Memory that the server uses, and its limit (0: none), in bytes; in a cluster, of the fullest node. Throws STORE_UNAVAILABLE. */
  memory(): Promise<{ readonly usedBytes: number; readonly maxBytes: number }>;
  /** The same as `store.close`. */
  close(): Promise<void>;
}

/** Upper bound of the time from the request of a run to its last record, in milliseconds. */
const longestRunMs = 30 * 24 * 60 * 60 * 1000;
const defaultBlobQuota = 1024 ** 3;

/**
 * Opens state, run streams and blobs on one Redis primary, at an address or named by sentinels, or on a Redis Cluster. Throws STORE_UNAVAILABLE
 * when it cannot be reached or refuses the login, STORE_OLDER and STORE_NEWER for a store written by another version; then nothing is changed.
 */
export async function openRedisState(options: RedisStateOptions): Promise<RedisState> {
  const keys = new Keys(options.keyPrefix ?? 'conclave:');
  const ttl = { ...defaultTtl, blobMs: leastBodyMs, ...options.ttl };
  const connection = new RedisConnection({ ...options, commandTimeoutMs: options.commandTimeoutMs ?? 5_000 }, keys);
  const hints = new RedisHints(connection, keys);
  const leases = new RedisLeases(connection, keys);
  const published = new Published(connection, keys, () => leases.allReadForgotten);
  const close = async (): Promise<void> => {
    await published.close();
    hints.close();
    connection.close();
  };
  const now = async (): Promise<number> => {
    const known = connection.stands ? connection.clock.now() : null;
    if (known !== null) return known;
    const heard = await connection.run(keys.common, readClock, [], []);
    connection.clock.hear(heard);
    return heard;
  };
  try {
    await checkFormat(connection, keys);
  } catch (error) {
    await close();
    throw error;
  }
  const usage = new RedisUsageLedger(connection, keys, ttl);
  const store: StateStore = {
    runs: new RedisRuns(
      connection,
      keys,
      leases,
      ttl,
      { ...options.hooks, comparesVersions: options.comparesVersions ?? true },
      options.processId,
      now,
    ),
    journal: new RedisJournal(connection, keys, leases, ttl),
    timers: new RedisTimers(connection, keys, hints),
    leases,
    hints,
    deliveries: new RedisDeliveries(connection, keys, leases, ttl, options.processId),
    settings: new RedisSettingStore(connection, keys),
    caches: new RedisCaches(connection, keys),
    scores: new RedisScores(connection, keys, ttl),
    once: new RedisOnce(connection, keys),
    usage,
    breakers: new RedisBreakers(connection, keys),
    allowances: new RedisAllowances(connection, keys, usage),
    identity: identityOf(connection, keys, options.watchesIdentity ?? true),
    durable: async () => undefined,
    published: (outputs) => published.note(outputs),
    now,
    warnings: () => redisWarnings(connection, options.sentinel !== undefined),
    health: () => healthOf(connection, keys, options.cluster ?? false),
    close,
  };
  return {
    store,
    stream: new RedisRunStream(connection, keys, ttl),
    blobs: new RedisBlobs(connection, keys, ttl.blobMs, options.blobQuotaBytes ?? defaultBlobQuota),
    sealKeys: new RedisSealKeys(connection, keys, ttl.blobMs + longestRunMs),
    memory: () => memoryOf(connection),
    recovery: new RedisRecovery(connection, keys, ttl, () => connection.runUnguarded(keys.common, readClock, [], [])),
    close,
  };
}

async function memoryOf(connection: RedisConnection): Promise<{ readonly usedBytes: number; readonly maxBytes: number }> {
  const texts = await connection.send('info memory', async (redis) =>
    Promise.all(('nodes' in redis ? redis.nodes('master') : [redis]).map((server) => server.info('memory'))),
  );
  const number = (text: string, name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const all = texts.map((text) => ({ usedBytes: number(text, 'used_memory'), maxBytes: number(text, 'maxmemory') }));
  const share = ({ usedBytes, maxBytes }: (typeof all)[number]): number => (maxBytes === 0 ? 0 : usedBytes / maxBytes);
  return all.sort((a, b) => share(b) - share(a) || b.usedBytes - a.usedBytes)[0]!;
}

async function checkFormat(connection: RedisConnection, keys: Keys): Promise<void> {
  const former = await connection.send('look for an older store', (redis) => redis.exists(keys.formerIdentity));
  const format = (await connection.runUnguarded(keys.common, readFormat, [], [])) ?? (former > 0 ? 1 : storeFormat);
  if (format === storeFormat) return;
  throw new Failure(format < storeFormat ? 'STORE_OLDER' : 'STORE_NEWER', `Its format is ${format}; this program reads ${storeFormat}.`);
}

/** Checks health with a small write: on the single server, or in every bucket of a cluster. */
async function healthOf(connection: RedisConnection, keys: Keys, cluster: boolean): Promise<string | null> {
  const probed = cluster ? keys.buckets : [keys.common];
  try {
    await Promise.all(probed.map((at) => connection.run(at, probe, [at.health], [])));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
