import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { acceptance, counting, ending, newRunId, nthInput, planning, timer, type Tally } from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { newPrefix, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { openRedisState } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

/** Keys that stay permanently, independent of runs: each has a limited number of members, or members that people created. */
const lasting = [
  'identity',
  'leases',
  'leases:classes',
  'places',
  'blobs',
  'blobs:bytes',
  'settings',
  'setting:prompts',
  'setting-history:prompts',
];
const lastingKind = /^(class:|scores:)/;

describe('What is left in Redis', () => {
  let server: PrivateRedis;
  let redis: Redis;
  beforeAll(async () => {
    server = await startPrivateRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.dispose();
  });

  it('after runs have ended expires, or is one of a few indexes of bounded size', async () => {
    const keyPrefix = newPrefix();
    const state = await openRedisState({ url: server.url, processId: 'p1', keyPrefix });
    const { runs, journal, deliveries, leases, caches, scores, once, settings, usage, breakers, timers } = state.store;
    await state.store.identity.start('store');
    await leases.renewProcess({ id: 'p1', service: 'experts', classes: ['expert'], ttlMs: 60_000 });
    const spent = { calls: 1, prompt: 10, completion: 5, reasoning: 0, cost: 0, estimated: false };
    for (let run = 0; run < 8; run += 1) {
      const runId = newRunId();
      const task = `${runId}/0/t1`;
      await runs.accept(acceptance(runId, { retryKey: runId }));
      await runs.attach(runId, 'client');
      const [first, last] = [nthInput(runId, 1), nthInput(runId, 2)];
      await runs.commit<Tally>(
        first,
        counting(first, ({ now }) => ({ entries: [planning(0)], arm: [timer('due', now + 60_000)], cancels: [task] })),
      );
      await journal.begin({ runId, step: `${task}/call/0`, nonce: 'n', owner: 'p1', flags: [runId] });
      await journal.finish({ runId, step: `${task}/call/0`, attempt: 1 }, { ok: true, reply: 'blue' }, { usage: spent, at: Date.now() });
      await state.stream.append(runId, [{ kind: 'chunk', taskId: task, attempt: 1, offset: 0, text: 'blue' }]);
      await runs.nextCommandSeq(runId);
      await runs.cancel(runId);
      await deliveries.begin({ group: 'merger', record: `results.ready/0/${run}` });
      await leases.acquireSlot({ name: `provider ${run}`, limit: 2, holder: 'h', ttlMs: 6_000 });
      await state.blobs.put(Buffer.alloc(1_000, run));
      await runs.commit<Tally>(last, counting(last, { ...ending, disarm: ['due'] }));
      // Late messages about a run that has ended.
      await runs.cancel(task);
      await usage.add({
        runId,
        step: `${task}/call/1`,
        attempt: 1,
        usage: spent,
        at: Date.now(),
        caller: { tenant: 'acme', actor: 'key-1' },
      });
      await runs.attach(runId, 'late client');
    }
    await caches.write({ tenant: 'acme', key: 'k', value: 1, ttlMs: 50_000, tags: ['a'] });
    await caches.claim({ tenant: 'acme', key: 'k', owner: 'o', ttlMs: 50_000 });
    await once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: 50_000 });
    await scores.add({ eventId: 'e', tenant: 'acme', updates: [{ category: 'c', model: 'm', positive: 1, negative: 0 }] });
    await settings.write('prompts', 0, 'one');
    await breakers.swap({ provider: 'p', version: 0, next: { kind: 'closed', since: 0, failed: [true] }, nonce: 'n' });
    await state.store.health();
    await runs.park(60_000, 10);
    expect(await timers.due(10)).toEqual([]);

    const keys = (await redis.keys('*')).sort();
    const left = await Promise.all(
      keys.map(async (key) => [key.slice(keyPrefix.length).replace(/^\{\d+\}:/, ''), await redis.pttl(key)] as const),
    );
    const forEver = new Set(left.flatMap(([name, ms]) => (ms === -1 ? [name] : [])));
    expect([...forEver].filter((name) => !lasting.includes(name) && !lastingKind.test(name))).toEqual([]);
    expect([...forEver].length).toBeGreaterThan(8);
    // Places of ended runs are freed when another run needs one.
    expect(await runs.accept(acceptance(newRunId(), { openLimit: 1 }))).toEqual({ kind: 'accepted' });
    await state.close();
  });

  it('of bodies is limited by a quota of bytes, and the quota of expired bodies is returned', async () => {
    const keyPrefix = newPrefix();
    const open = (blobMs: number) =>
      openRedisState({ url: server.url, processId: 'p1', keyPrefix, blobQuotaBytes: 2_500, ttl: { blobMs } });
    const [brief, long] = [await open(50), await open(60_000)];
    const body = (n: number): Buffer => Buffer.alloc(1_000, n);
    await brief.blobs.put(body(1));
    await long.blobs.put(body(2));
    await long.blobs.put(body(2));
    const third = () =>
      long.blobs.put(body(3)).then(
        () => 'stored',
        (error: unknown) => (error as { code: string }).code,
      );
    const end = performance.now() + 5_000;
    const said: string[] = [];
    while (said.at(-1) !== 'stored' && performance.now() < end) said.push(await third());
    expect(said.at(-1)).toBe('stored');
    expect(await long.blobs.put(body(4)).catch((error: unknown) => (error as { code: string }).code)).toBe('STORE_FULL');
    expect(await redis.get(`${keyPrefix}{0}:blobs:bytes`)).toBe('2000');
    await Promise.all([brief.close(), long.close()]);
  });
});
