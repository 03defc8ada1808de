import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@conclave/contracts';
import type { Loaded, Logger } from '@conclave/platform';
import type { EventLog, Folding, Recovery, StateStore } from '@conclave/ports';
import { kafkaConnection, keptMsOf, openRedis, retentionIn, sealsOf, topicsOf, type Keep } from './cluster.js';
import { openBlobs } from './open-blobs.js';

/** The event log for command-line use: opening it does not subscribe, create or delete anything, and does not search for models. */
export interface OpenedLog {
  readonly log: Pick<EventLog, 'read' | 'publish' | 'publishRaw' | 'identity'>;
  /** Status of a run, from the state store beside the log; null for an unknown run. */
  readonly runOf: (runId: string) => Promise<{ readonly status: string; readonly terminal: boolean } | null>;
  /** Requests and tombstones of runs, from the same store. */
  readonly runs: Pick<StateStore['runs'], 'header' | 'erased'>;
  /** Settings, keys and prompts that were changed while the system ran, from the same store. */
  readonly settings: StateStore['settings'];
  /** The state store beside the log, for a rebuild. */
  readonly state: Pick<StateStore, 'identity' | 'now'> & { readonly recovery: Recovery };
  /** How long the state store keeps ended runs, in milliseconds. */
  readonly retentionMs: number;
  /** Every topic of the configuration, without prefix. */
  readonly topics: readonly string[];
  /** The place that the log is read from, for people. */
  readonly where: string;
  close(): Promise<void>;
}

export interface OpenLogOptions {
  readonly loaded: Loaded;
  readonly logger: Logger;
  readonly processId: string;
  /** The same as in the server that wrote the data folder. */
  readonly folding?: Folding;
}

/** Description of the log for people: Kafka if `stores` names it, otherwise the data folder. */
export const logPlace = ({ configuration, home }: Loaded): string => {
  const { kafka } = configuration.stores;
  return kafka ? `Kafka at ${kafka.brokers.join(', ')}` : `the data folder ${home}`;
};

/**
 * Opens the Kafka log if `stores` names it (bodies above 64 KB are read from the store of bodies), otherwise that of the data folder; null
 * if there is no data folder yet. Throws Failure DATA_FOLDER_IN_USE while a server uses the folder, and the failures of the stores.
 */
export async function openLog({ loaded, logger, processId, folding }: OpenLogOptions): Promise<OpenedLog | null> {
  const opened: { close(): Promise<void> }[] = [];
  const keep: Keep = (one) => {
    opened.push(one);
    return one;
  };
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one.close();
  };
  const where = logPlace(loaded);
  const topics = topicsOf(loaded).map(({ name }) => name);
  try {
    if (loaded.configuration.stores.kafka) {
      const connection = kafkaConnection(loaded, logger);
      const redis = await openRedis(loaded, processId, keep);
      const { openKafkaLog } = await import('@conclave/adapter-kafka');
      const blobs = await openBlobs(loaded, redis.blobs, keep, { removes: false });
      const seals = sealsOf(loaded, redis.sealKeys);
      const log = keep(await openKafkaLog({ ...connection, blobs, ledger: redis.store.deliveries, seals }));
      const { identity, now, runs, settings } = redis.store;
      const state = { identity, now, recovery: redis.recovery };
      return { log, state, retentionMs: keptMsOf(loaded), topics, where, runOf: (runId) => runs.read(runId), runs, settings, close };
    }
    if (!existsSync(join(loaded.home, 'conclave.db'))) return null;
    const { openSqlite } = await import('@conclave/adapter-sqlite');
    const { durability } = loaded.configuration;
    const sqlite = keep(
      openSqlite({
        home: loaded.home,
        processId,
        durability,
        logger,
        prunes: false,
        retention: retentionIn(loaded),
        ...(folding ? { folding } : {}),
      }),
    );
    const { log, state: store, recovery } = sqlite;
    const state = { identity: store.identity, now: () => store.now(), recovery };
    return {
      log,
      state,
      retentionMs: keptMsOf(loaded),
      topics,
      where,
      runOf: (runId) => store.runs.read(runId),
      runs: store.runs,
      settings: store.settings,
      close,
    };
  } catch (error) {
    await close();
    if (error instanceof Failure && error.code === 'DATA_FOLDER_IN_USE')
      throw new Failure(
        'DATA_FOLDER_IN_USE',
        `${error.detail ?? ''} Its log can only be read while no server uses it: stop the server first.`,
        {
          cause: error,
        },
      );
    throw error;
  }
}
