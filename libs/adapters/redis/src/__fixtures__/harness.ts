import { Redis } from 'ioredis';
import { newName, type RecoverableStore, type RecoveryHarness, type StoreHarness } from '@conclave/ports/suites';
import { openRedisState, type RedisState } from '../open.js';
import { newPrefix } from './redis-server.js';

/** Removes every key of a prefix. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000);
    if (found.length > 0) await redis.del(...found);
    cursor = next;
  } while (cursor !== '0');
  redis.disconnect();
}

/** Stores on one real server, each under its own prefix. */
export const harnessOn = (url: () => string): StoreHarness & RecoveryHarness => ({
  async open(ttl = {}): Promise<RecoverableStore> {
    const keyPrefix = newPrefix();
    const opened: RedisState[] = [];
    const process = async () => {
      const processId = newName('process');
      const state = await openRedisState({ url: url(), processId, keyPrefix, ttl });
      opened.push(state);
      return { processId, store: state.store, stream: state.stream, recovery: state.recovery, blobs: state.blobs };
    };
    return {
      ...(await process()),
      another: process,
      clockIsReal: true,
      async dispose() {
        await Promise.all(opened.splice(0).map((state) => state.close()));
        await removeKeys(url(), keyPrefix);
      },
    };
  },
});
