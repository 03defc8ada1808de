import {
  describeBlobs,
  describePublished,
  describeRecovery,
  describeRunStream,
  describeSealKeys,
  describeStateStore,
  newName,
  type StoreHarness,
} from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { openRedisState, type RedisState } from '../open.js';
import { newPrefix } from './redis-server.js';

/** A server, or the nodes of a cluster. */
export interface ServersUnderTest {
  readonly url: string;
  /** Address of each server that holds keys. */
  readonly urls: readonly string[];
  readonly cluster?: boolean;
}

/** Removes every key of a prefix. */
async function removeKeys({ urls }: ServersUnderTest, prefix: string): Promise<void> {
  for (const url of urls) {
    const redis = new Redis(url);
    let cursor = '0';
    do {
      const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000);
      await Promise.all(found.map((key) => redis.del(key)));
      cursor = next;
    } while (cursor !== '0');
    redis.disconnect();
  }
}

/** Stores on real servers, each under its own prefix. */
const harnessOn = (servers: () => ServersUnderTest) => ({
  async open(ttl: Parameters<StoreHarness['open']>[0] = {}) {
    const keyPrefix = newPrefix();
    const opened: RedisState[] = [];
    const process = async () => {
      const processId = newName('process');
      const { url, cluster = false } = servers();
      const state = await openRedisState({ url, cluster, processId, keyPrefix, ttl });
      opened.push(state);
      return {
        processId,
        store: state.store,
        stream: state.stream,
        recovery: state.recovery,
        blobs: state.blobs,
        sealKeys: state.sealKeys,
      };
    };
    return {
      ...(await process()),
      another: process,
      clockIsReal: true,
      async dispose() {
        await Promise.all(opened.splice(0).map((state) => state.close()));
        await removeKeys(servers(), keyPrefix);
      },
    };
  },
});

/** Runs the contract suites of all ports that Redis implements. */
export function describePortsOn(name: string, servers: () => ServersUnderTest): void {
  const harness = harnessOn(servers);
  describeStateStore(name, harness);
  describePublished(name, harness);
  describeRunStream(name, harness);
  describeRecovery(name, harness);
  describeSealKeys(name, async () => {
    const under = await harness.open();
    const { sealKeys } = under;
    return { keys: sealKeys, another: async () => (await under.another()).sealKeys, dispose: () => under.dispose() };
  });
  describeBlobs(name, async () => {
    const keyPrefix = newPrefix();
    const opened: RedisState[] = [];
    const open = async () => {
      const { url, cluster = false } = servers();
      const state = await openRedisState({ url, cluster, processId: newName('process'), keyPrefix });
      opened.push(state);
      return state.blobs;
    };
    return {
      blobs: await open(),
      another: open,
      async corrupt({ sha256 }) {
        for (const url of servers().urls) {
          const redis = new Redis(url);
          const [key] = await redis.keys(`${keyPrefix}*blob:${sha256}`);
          if (key !== undefined) await redis.setrange(key, 0, 'changed');
          redis.disconnect();
        }
      },
      async dispose() {
        await Promise.all(opened.map((state) => state.close()));
        await removeKeys(servers(), keyPrefix);
      },
    };
  });
}
