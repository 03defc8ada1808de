import { afterAll, beforeAll, jest } from '@jest/globals';
import { describeBlobs, describeRecovery, describeRunStream, describeStateStore, newName } from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { harnessOn, removeKeys } from './__fixtures__/harness.js';
import { newPrefix, serverForTests } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState } from './open.js';

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
