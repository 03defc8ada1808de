import { afterAll, beforeAll, jest } from '@jest/globals';
import {
  describeBlobs,
  describeRecovery,
  describeRunStream,
  describeStateStore,
  newName,
  type RecoverableStore,
  type RecoveryHarness,
  type StoreHarness,
} from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { newPrefix, serverForTests } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState } from './open.js';

/** Removes every key of a prefix. */
async function removeKeys(url: string, prefix: string): Promise<void> {
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
const harnessOn = (url: () => string): StoreHarness & RecoveryHarness => ({
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

// Real servers on a busy machine.
jest.setTimeout(30_000);

let server: Awaited<ReturnType<typeof serverForTests>>;
beforeAll(async () => {
  server = await serverForTests();
});
afterAll(() => server.dispose());

const harness = harnessOn(() => server.url);
describeStateStore('Redis', harness);
describeRunStream('Redis', harness);
describeRecovery('Redis', harness);

describeBlobs('Redis', async () => {
  const keyPrefix = newPrefix();
  const opened: RedisState[] = [];
  const open = async () => {
    const state = await openRedisState({ url: server.url, processId: newName('process'), keyPrefix });
    opened.push(state);
    return state.blobs;
  };
  return {
    blobs: await open(),
    another: open,
    async corrupt({ sha256 }) {
      const redis = new Redis(server.url);
      await redis.setrange(`${keyPrefix}blob:${sha256}`, 0, 'changed');
      redis.disconnect();
    },
    async dispose() {
      await Promise.all(opened.map((state) => state.close()));
      await removeKeys(server.url, keyPrefix);
    },
  };
});
