import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { acceptance, counting, newRunId, nthInput, until, type Tally } from '@conclave/ports/suites';
import { TcpProxy } from '@conclave/test-support';
import { startWatchedRedis, type WatchedRedis } from '@conclave/test-support/real-servers';
import { Redis } from 'ioredis';
import type { Sentinels } from './client.js';
import { newPrefix, startPrivateRedis } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState } from './open.js';

// Sentinels wait before they replace a primary, and the machine may be busy.
jest.setTimeout(180_000);
const patienceMs = 60_000;

/** An address without a sentinel. */
const nobody = '127.0.0.1:1';

const opened: RedisState[] = [];
const open = async (options: Parameters<typeof openRedisState>[0]): Promise<RedisState> => {
  const state = await openRedisState(options);
  opened.push(state);
  return state;
};
const commit = ({ store }: RedisState, runId: string, n: number) =>
  store.runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n)));
const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'done',
    (error: unknown) => (error as { code: string }).code,
  );
/** Repeats until it succeeds; an error other than an outage is thrown. */
const done = (attempt: () => Promise<unknown>) =>
  until(
    'the store to go on',
    async () => {
      const code = await codeOf(attempt());
      expect(['done', 'STORE_UNAVAILABLE']).toContain(code);
      return code === 'done';
    },
    patienceMs,
  );

/** Subscribes, and waits later until a hint arrives again. */
async function hintsOf({ store: { hints } }: RedisState): Promise<{ arrive(): Promise<void> }> {
  const heard = new Set<string>();
  await hints.subscribe('stream', (payload) => void heard.add(payload));
  return {
    arrive: () =>
      until(
        'hints to arrive again',
        async () => {
          await hints.publish('stream', 'again');
          return heard.has('again');
        },
        patienceMs,
      ),
  };
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((state) => state.close()));
});

describe('Redis Sentinel', () => {
  let watched: WatchedRedis;
  beforeEach(async () => {
    watched = await startWatchedRedis();
  });
  afterEach(() => watched.dispose());

  const openAt = (sentinel: Partial<Sentinels> = {}, commandTimeoutMs = 1_000, replicas = 0) =>
    open({
      replicas,
      url: `redis://:${watched.password}@redis.invalid:6379`,
      sentinel: { master: watched.master, addresses: watched.sentinels, password: watched.sentinelPassword, ...sentinel },
      processId: 'p1',
      keyPrefix: newPrefix(),
      commandTimeoutMs,
    });
  const isReplaced = (former: string) => until('a replica to be promoted', async () => (await watched.primary()) !== former, patienceMs);

  it('names the primary and, after its death, the replica: the store continues with all its data', async () => {
    // The first one does not answer; the others are learned from the second.
    const state = await openAt({ addresses: [nobody, watched.sentinels[0]!] });
    await state.store.identity.start('store');
    const runs = Array.from({ length: 20 }, newRunId);
    for (const runId of runs) await state.store.runs.accept(acceptance(runId, { openLimit: 100 }));
    for (const runId of runs) await commit(state, runId, 1);
    const hints = await hintsOf(state);

    const former = await watched.primary();
    const replica = new Redis(watched.servers[1]!.url);
    const primary = new Redis(former);
    // Redis acknowledges a write before its replicas have it.
    expect(await primary.wait(1, 5_000)).toBe(1);
    primary.disconnect();
    await watched.servers[0]!.kill();
    expect(await codeOf(commit(state, runs[0]!, 2))).toBe('STORE_UNAVAILABLE');
    await isReplaced(former);
    for (const runId of runs) await done(() => commit(state, runId, 2));
    for (const runId of runs) expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
    expect(await state.store.runs.openCount()).toBe(runs.length);
    expect(await state.store.health()).toBeNull();
    expect(await replica.info('replication')).toMatch(/role:master/);
    replica.disconnect();
    await hints.arrive();

    // The former primary comes back as a replica, and its death loses nothing.
    await watched.servers[0]!.start();
    const back = new Redis(watched.servers[0]!.url);
    await until('it to follow', async () => /role:slave[^]*master_link_status:up/.test(await back.info('replication')), patienceMs);
    back.disconnect();
    await commit(state, runs[0]!, 3);
  });

  it('leaves a primary that hangs, and does not return to it when it resumes', async () => {
    const state = await openAt();
    const runId = newRunId();
    await commit(state, runId, 1);
    const hints = await hintsOf(state);
    const former = await watched.primary();
    await watched.servers[0]!.kill('SIGSTOP');
    await isReplaced(former);
    await done(() => commit(state, runId, 2));
    await hints.arrive();
    await watched.servers[0]!.kill('SIGCONT');
    const woken = new Redis(former);
    await until('it to become a replica', async () => (await woken.info('replication')).includes('role:slave'), patienceMs);
    woken.disconnect();
    await commit(state, runId, 3);
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 3, state: { count: 3 } });
  });

  it('is followed when it replaces a primary that still works', async () => {
    const state = await openAt();
    const runId = newRunId();
    await commit(state, runId, 1);
    const former = await watched.primary();
    const [host, port] = watched.sentinels[0]!.split(':');
    const sentinel = new Redis({ host: host!, port: Number(port), password: watched.sentinelPassword });
    await sentinel.call('SENTINEL', 'FAILOVER', watched.master);
    sentinel.disconnect();
    await isReplaced(former);
    await done(() => commit(state, runId, 2));
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
  });

  it('explains why there is no primary: sentinels that refuse the login, do not know the name, or do not answer', async () => {
    const cases: readonly [Partial<Sentinels>, RegExp][] = [
      [{ password: 'wrong' }, /WRONGPASS/],
      [{ master: 'other' }, /No such master/],
      [{ addresses: [nobody] }, /failed to connect to sentinel 127.0.0.1:1 /],
    ];
    for (const [sentinel, reason] of cases) {
      const opening = openAt(sentinel, 2_000);
      await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { message: expect.stringMatching(reason) } });
    }
  });

  it('acknowledges nothing that its replica does not have, when that is required', async () => {
    const state = await openAt({}, 5_000, 1);
    const runId = newRunId();
    await commit(state, runId, 1);
    await watched.servers[1]!.kill('SIGSTOP');
    const body = Buffer.from('large');
    const attempts = [commit(state, runId, 2), state.store.settings.write('templates', 0, ['one']), state.blobs.put(body)];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await state.store.health()).toContain('stores.redis.replicas');
    // A client that requires no replicas gets its acknowledgement.
    const careless = await openAt();
    await commit(careless, newRunId(), 1);
    await watched.servers[1]!.kill('SIGCONT');
    // The refused write was made at the primary only: repeated now, it is applied once.
    expect(await commit(state, runId, 2)).toMatchObject({ repeated: true, state: { count: 2 } });
    await state.blobs.put(body);
    expect(await state.store.health()).toBeNull();
    await Promise.all(Array.from({ length: 50 }, (_, n) => commit(state, newRunId(), n)));
  });

  it('causes a warning about a primary that accepts writes while it is cut off', async () => {
    const state = await openAt();
    expect(await state.store.warnings()).toEqual([expect.stringContaining('`min-replicas-to-write` is 0')]);
    const primary = new Redis(await watched.primary());
    await primary.config('SET', 'min-replicas-to-write', '1');
    primary.disconnect();
    expect(await state.store.warnings()).toEqual([]);
  });
});

describe('an address that moves to another primary', () => {
  it('is connected to again once the server behind it has become a replica', async () => {
    const [first, second] = [await startPrivateRedis(), await startPrivateRedis()];
    const target = { host: '127.0.0.1', port: first.port };
    const proxy = await TcpProxy.open({ target });
    const state = await open({ url: `redis://127.0.0.1:${proxy.port}`, processId: 'p1', keyPrefix: newPrefix(), commandTimeoutMs: 1_000 });
    const runId = newRunId();
    await commit(state, runId, 1);
    const [was, becomes] = [new Redis(first.url), new Redis(second.url)];
    await becomes.replicaof('127.0.0.1', first.port);
    await until('it to follow', async () => (await becomes.info('replication')).includes('master_link_status:up'), patienceMs);
    await was.wait(1, 5_000);
    await becomes.replicaof('NO', 'ONE');
    await was.replicaof('127.0.0.1', second.port);
    target.port = second.port;
    await done(() => commit(state, runId, 2));
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
    was.disconnect();
    becomes.disconnect();
    await state.close();
    await proxy.close();
    await Promise.all([first.dispose(), second.dispose()]);
  });
});
