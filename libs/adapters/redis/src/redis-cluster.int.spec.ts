import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { acceptance, counting, newRunId, nthInput, until, type Tally } from '@conclave/ports/suites';
import { startReplicatedCluster } from '@conclave/test-support/real-servers';
import { Redis } from 'ioredis';
import { startPrivateCluster, type PrivateCluster } from './__fixtures__/redis-cluster.js';
import { newPrefix } from './__fixtures__/redis-server.js';
import { describePortsOn } from './__fixtures__/suites-on.js';
import { openRedisState } from './open.js';

// Real servers on a busy machine, and sums over all buckets.
jest.setTimeout(180_000);

let cluster: PrivateCluster;
beforeAll(async () => {
  cluster = await startPrivateCluster();
});
afterAll(() => cluster.dispose());

describePortsOn('Redis Cluster', () => ({ url: cluster.url, urls: cluster.nodes.map(({ url }) => url), cluster: true }));

describe('Redis Cluster', () => {
  it('has runs on every node, and its warnings and health cover all nodes', async () => {
    const keyPrefix = newPrefix();
    const state = await openRedisState({ url: cluster.url, cluster: true, processId: 'p1', keyPrefix });
    await state.store.identity.start('store');
    for (let n = 0; n < 60; n += 1) await state.store.runs.accept(acceptance(newRunId(), { openLimit: 100 }));
    expect(await state.store.runs.openCount()).toBe(60);
    for (const { url } of cluster.nodes) {
      const node = new Redis(url);
      expect((await node.keys(`${keyPrefix}*:run:*`)).length).toBeGreaterThan(5);
      node.disconnect();
    }
    expect(await state.store.warnings()).toEqual([]);
    expect(await state.store.health()).toBeNull();
    await state.close();
  });

  it('acknowledges writes that one replica of each node has, and does not open when two are required', async () => {
    const replicated = await startReplicatedCluster();
    const open = (replicas: number) =>
      openRedisState({ url: replicated.url, cluster: true, processId: 'p1', keyPrefix: newPrefix(), replicas });
    const state = await open(1);
    const runs = Array.from({ length: 60 }, newRunId);
    await Promise.all(runs.map((runId) => state.store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)))));
    await state.blobs.put(Buffer.from('large'));
    expect(await state.store.health()).toBeNull();
    await state.close();
    await expect(open(2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('stores.redis.replicas') });
    await replicated.dispose();
  });

  it('is refused, naming the missing setting, when it is configured as a single server', async () => {
    const opening = openRedisState({ url: cluster.url, processId: 'p1', keyPrefix: newPrefix() });
    await expect(opening).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID' });
    await expect(opening).rejects.toThrow('stores.redis.cluster');
  });

  it('fails with STORE_UNAVAILABLE while a node is away, and continues with all data when it is back', async () => {
    const state = await openRedisState({
      url: cluster.url,
      cluster: true,
      processId: 'p1',
      keyPrefix: newPrefix(),
      commandTimeoutMs: 1_000,
    });
    // With 12 runs, none was on the lost node once in 130 times.
    const runs = Array.from({ length: 60 }, newRunId);
    const commit = (runId: string, n: number) => state.store.runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n)));
    for (const runId of runs) await commit(runId, 1);
    const lost = cluster.nodes[2]!;
    await lost.kill();
    await until('the loss is noticed', async () => (await state.store.health()) !== null);
    const said = await Promise.all(
      runs.map((runId) =>
        commit(runId, 2).then(
          () => 'done',
          (error: unknown) => (error as { code: string }).code,
        ),
      ),
    );
    expect(said).toContain('STORE_UNAVAILABLE');
    expect(said.filter((one) => one !== 'done' && one !== 'STORE_UNAVAILABLE')).toEqual([]);
    await lost.start();
    await until('the store is back', async () => (await state.store.health()) === null, 20_000);
    for (const runId of runs) await commit(runId, 2);
    for (const runId of runs) expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
    await state.close();
  });
});
