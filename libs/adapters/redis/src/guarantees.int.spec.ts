import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { KeyLimits } from '@conclave/contracts';
import { acceptance, counting, ending, newRunId, nthInput, planning, timer, type Tally } from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { durable, newPrefix, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { bucketCount } from './keys.js';
import { openRedisState, type RedisState, type RedisStateOptions } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

describe('Redis state on a server', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let keyPrefix: string;
  const opened: RedisState[] = [];
  const open = async (more: Partial<RedisStateOptions> = {}): Promise<RedisState> => {
    const state = await openRedisState({ url: server.url, processId: 'p1', keyPrefix, ...more });
    opened.push(state);
    return state;
  };
  beforeAll(async () => {
    server = await startPrivateRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.dispose();
  });
  beforeEach(() => {
    keyPrefix = newPrefix();
  });
  afterEach(() => Promise.all(opened.splice(0).map((state) => state.close())));

  const useEverything = async ({ store, stream }: RedisState, runId: string): Promise<void> => {
    const task = `${runId}/0/t1`;
    await store.runs.accept(acceptance(runId, { retryKey: runId }));
    await store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), { entries: [planning(0)], cancels: [task] }));
    await stream.append(runId, [{ kind: 'chunk', taskId: task, attempt: 1, offset: 0, text: 'blue' }]);
    await store.journal.begin({ runId, step: `${task}/call/0`, nonce: 'n', owner: 'p1' });
    await store.journal.finish({ runId, step: `${task}/call/0`, attempt: 1 }, { ok: true, reply: 'blue' }, { usage: oneCall, at: noon });
    await store.runs.nextCommandSeq(runId);
    await store.runs.attach(runId, 'client');
  };
  const oneCall = { calls: 1, prompt: 10, completion: 5, reasoning: 0, cost: 0.5, estimated: false };
  const noon = Date.UTC(2026, 10, 15, 12);
  const timesLeft = async (runId: string): Promise<Record<string, number>> => {
    const keys = await redis.keys(`${keyPrefix}{*}:run:${runId}:*`);
    return Object.fromEntries(await Promise.all(keys.map(async (key) => [key.split(`${runId}:`)[1]!, await redis.pttl(key)] as const)));
  };
  /** The full key of a name, in any bucket. */
  const whole = async (name: string): Promise<string> =>
    (await redis.keys(`${keyPrefix}*`)).find((key) => key.endsWith(`}:${name}`)) ?? `no key ends in ${name}`;

  it('has all keys under its prefix, and those of a run and its child runs under one of 32 hash tags', async () => {
    const runId = newRunId();
    await redis.flushall();
    const state = await open();
    await useEverything(state, runId);
    await state.store.runs.cancel(`${runId}~1/0/t1`);
    const keys = await redis.keys('*');
    expect(keys.filter((key) => !key.startsWith(`${keyPrefix}{`))).toEqual([]);
    const parts = keys.map((key) => /\{(\d+)\}:(.*)$/.exec(key)!);
    const ofRuns = parts.filter(([, , name]) => name!.startsWith('run:'));
    expect(new Set(ofRuns.map(([, tag]) => tag)).size).toBe(1);
    expect(Number(ofRuns[0]![1])).toBeLessThan(bucketCount);
    // Keys written together with a run are in its bucket.
    const tag = ofRuns[0]![1];
    const beside = parts.flatMap(([, of, name]) => (of === tag && !name!.startsWith('run:') ? [name!] : []));
    const accounts = ['usage:["acme"]:2026-11-15', 'usage:["acme","key-1"]:2026-11-15', 'usage:items:["acme"]:2026-11-15'];
    const together = ['runs:open', 'attached:by', 'attached:by:p1', ...accounts];
    expect(beside).toEqual(expect.arrayContaining(together));
    const others = parts.flatMap(([, , name]) => (name!.startsWith('run:') ? [] : [name!]));
    expect(others.sort()).toEqual([...together, 'places', `retry:${runId}`, 'tenant:acme'].sort());
  });

  it('expires no keys of an open run, and all keys of an ended one: the stream soon, the rest after the retention', async () => {
    const state = await open({ ttl: { retentionMs: 100_000, streamMs: 10_000 } });
    const runId = newRunId();
    await useEverything(state, runId);
    const names = ['applied', 'attached', 'cancelled', 'commands', 'journal', 'run', 'started', 'stream', 'stream:tasks', 'usage'];
    expect(await timesLeft(runId)).toEqual(Object.fromEntries(names.map((name) => [name, -1])));

    await state.store.runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2), ending));
    const left = await timesLeft(runId);
    for (const name of names) {
      const whole = name.startsWith('stream') ? 10_000 : 100_000;
      expect(left[name]).toBeGreaterThan(whole - 5_000);
      expect(left[name]).toBeLessThanOrEqual(whole);
    }
  });

  it('measures the retention of applied ids from their last use', async () => {
    const runId = newRunId();
    const state = await open({ ttl: { retentionMs: 100_000 } });
    const commit = () => state.store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), ending));
    await commit();
    await redis.pexpire(await whole(`run:${runId}:applied`), 1_000);
    expect(await commit()).toMatchObject({ repeated: true });
    expect((await timesLeft(runId)).applied).toBeGreaterThan(90_000);
  });

  it('leaves an expired run out of lists and frees its place', async () => {
    const { store } = await open();
    const [gone, kept] = [newRunId(), newRunId()];
    await store.runs.accept(acceptance(gone));
    await store.runs.accept(acceptance(kept));
    await redis.del(await whole(`run:${gone}:run`));
    // As if accepted long ago: runs being accepted now keep their place.
    await redis.zadd(await whole('tenant:acme'), 1, gone);
    expect((await store.runs.list({ tenant: 'acme', limit: 1 })).map(({ runId }) => runId)).toEqual([kept]);
    expect((await store.runs.list({ tenant: 'acme', limit: 2 })).map(({ runId }) => runId)).toEqual([kept]);
    expect(await redis.zscore(await whole('tenant:acme'), gone)).toBeNull();
  });

  it('throws COMMIT_CONFLICT when other writers are always faster, and computes each attempt with the same time', async () => {
    const runId = newRunId();
    const rival = await open({ processId: 'rival' });
    let n = 1;
    const state = await open({
      hooks: {
        async beforeWrite() {
          n += 1;
          await rival.store.runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n)));
        },
      },
    });
    const seen: { now: number; version: number }[] = [];
    const slow = state.store.runs.commit<Tally>(nthInput(runId, 1), (current, at) => {
      seen.push(at);
      return counting(nthInput(runId, 1))(current, at);
    });
    await expect(slow).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect(new Set(seen.map(({ now }) => now)).size).toBe(1);
    expect(seen.map(({ version }) => version)).toEqual(seen.map((_, index) => index));
    expect(await state.store.runs.read(runId)).toMatchObject({ version: n - 1 });
  });

  it('loses an update of another writer only when a test disables the comparison of versions', async () => {
    const rival = await open({ processId: 'rival' });
    for (const [comparesVersions, count] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const runId = newRunId();
      let met = false;
      const beforeWrite = async (): Promise<void> => {
        if (met) return;
        met = true;
        await rival.store.runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2)));
      };
      const state = await open({ hooks: { beforeWrite }, comparesVersions });
      await state.store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)));
      expect(await rival.store.runs.read(runId)).toMatchObject({ version: 2, state: { count } });
    }
  });

  /** Number of scripts that the server has run. */
  const scripts = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

  it('reads the spending of an account together for requests that arrive together', async () => {
    const { store } = await open();
    const account = { id: 'key-1', actor: 'key-1', limits: KeyLimits.parse({ tokens_per_day: 1_000_000 }) };
    const reserve = () =>
      store.allowances.reserve({
        ...{ tenant: 'acme', runId: newRunId(), kind: 'same', leaseMs: 40_000, accounts: [account] },
        ...{ guess: { tokens: 10, cost: 0 }, least: { tokens: 10, cost: 0 } },
      });
    const before = await scripts();
    const replies = await Promise.all(Array.from({ length: 20 }, reserve));
    expect(new Set(replies.map(({ kind }) => kind))).toEqual(new Set(['granted']));
    // Each request asks twice, and the day and the month are read from each bucket: once, or again for a request that came a little later.
    expect((await scripts()) - before).toBeLessThan(20 * bucketCount);
  });

  it('asks all buckets in one packet', async () => {
    const { store } = await open();
    const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
    // The first time the server learns the script.
    await store.timers.due(10);
    const before = await reads();
    for (let n = 0; n < 10; n += 1) await store.timers.due(10);
    expect((await reads()) - before).toBeLessThan(20);
  });

  it('queries each bucket once for a whole wait', async () => {
    const { store } = await open();
    const now = await store.now();
    await store.runs.commit<Tally>(nthInput(newRunId(), 1), counting(nthInput(newRunId(), 1), { arm: [timer('far', now + 60_000)] }));
    await store.timers.wait(1, new AbortController().signal);
    const before = await scripts();
    await store.timers.wait(600, new AbortController().signal);
    expect((await scripts()) - before).toBe(bucketCount);
  });

  it('does not restart its waits on hints that change nothing', async () => {
    const { store } = await open();
    const start = performance.now();
    const waiting = store.timers.wait(300, new AbortController().signal);
    const late = (await store.now()) + 60_000;
    for (let n = 1; n <= 5; n += 1) {
      const event = nthInput(newRunId(), n);
      await store.runs.commit<Tally>(event, counting(event, { arm: [timer(`far ${n}`, late - n)] }));
    }
    await waiting;
    expect(performance.now() - start).toBeGreaterThan(250);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('expires everything in caches, of counted events and of claims, but neither scores nor settings', async () => {
    const { store } = await open({ ttl: { retentionMs: 100_000 } });
    const entry = { tenant: 'acme', key: 'k', value: 1, ttlMs: 50_000, tags: ['a', 'b'] };
    await store.caches.write(entry);
    await store.caches.write({ ...entry, key: 'short', ttlMs: 10_000 });
    await store.caches.claim({ tenant: 'acme', key: 'k', owner: 'o', ttlMs: 50_000 });
    await store.caches.removeTagged('acme', 'bad', 50_000);
    await store.once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: 50_000 });
    await store.scores.add({ eventId: 'e', tenant: 'acme', updates: [{ category: 'c', model: 'm', positive: 1, negative: 0 }] });
    await store.settings.write('prompts', 0, 'one');
    const keys = (await redis.keys(`${keyPrefix}*`)).sort();
    const left = await Promise.all(keys.map(async (key) => [key.split('}:')[1]!, await redis.pttl(key)] as const));
    const lasting = ['scores:"acme"', 'setting-history:prompts', 'setting:prompts', 'settings'];
    expect(left.flatMap(([key, ms]) => (ms === -1 ? [key] : [])).sort()).toEqual(lasting);
    const expiring = new Map(left.filter(([, ms]) => ms !== -1));
    expect([...expiring.keys()].map((key) => key.replace(/removal:.*/, 'removal')).sort()).toEqual([
      'cache-ban:["acme","bad"]',
      'cache-claim:["acme","k"]',
      'cache-removal',
      'cache-tag:["acme","a"]',
      'cache-tag:["acme","b"]',
      'cache:["acme","k"]',
      'cache:["acme","short"]',
      'once:["acme","n"]',
      'score-event:["acme","e"]',
    ]);
    // The set of a tag lives as long as its longest-lived entry.
    expect(expiring.get('cache-tag:["acme","a"]')).toBeGreaterThan(40_000);
    expect(expiring.get('score-event:["acme","e"]')).toBeGreaterThan(90_000);
    expect(Math.max(...expiring.values())).toBeLessThanOrEqual(100_000);
  });

  it('keeps the totals of an account for thirteen months', async () => {
    const { store } = await open({ ttl: { retentionMs: 100_000 } });
    const caller = { tenant: 'acme', actor: 'key-1' };
    const runId = newRunId();
    await store.usage.add({ runId, step: `${runId}/direct/call/0`, attempt: 1, usage: oneCall, at: noon, caller });
    const day = 24 * 60 * 60 * 1000;
    expect(await redis.pttl(await whole('usage:["acme"]:2026-11-15'))).toBeGreaterThan(399 * day);
    expect((await timesLeft(runId))['usage']).toBeLessThanOrEqual(100_000);
  });

  it.each([
    ['older', 'STORE_OLDER', (identity: string) => redis.hdel(identity, 'format')],
    ['newer', 'STORE_NEWER', (identity: string) => redis.hset(identity, 'format', '3')],
  ] as const)('is refused and left unchanged when an %s version wrote it', async (_version, code, change) => {
    await (await open()).store.identity.start('store');
    const identity = `${keyPrefix}{0}:identity`;
    await change(identity);
    const before = await redis.hgetall(identity);
    await expect(open()).rejects.toMatchObject({ code });
    expect(await redis.hgetall(identity)).toEqual(before);
  });

  it('is refused when it was written by a version without buckets', async () => {
    await redis.hset(`${keyPrefix}identity`, { storeId: 'store', generation: '7', format: '1' });
    await expect(open()).rejects.toMatchObject({ code: 'STORE_OLDER' });
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([`${keyPrefix}identity`]);
  });

  it('is invalid when one bucket has lost its mark, and an interrupted start is completed by the next one', async () => {
    const state = await open();
    await state.store.identity.start('store');
    const other = `${keyPrefix}{7}:identity`;
    await redis.hdel(`${keyPrefix}{0}:identity`, 'everywhere');
    await redis.del(other);
    const next = (await open({ processId: 'p2' })).store.identity;
    expect(await next.read()).toEqual({ storeId: 'store', generation: 1 });
    expect(await next.start('ignored')).toEqual({ storeId: 'store', generation: 2 });
    expect(await redis.hget(other, 'storeId')).toBe('store');
    await redis.del(other);
    expect(await next.read()).toEqual({ storeId: 'store', generation: 0 });
    await expect(state.store.runs.openCount()).rejects.toMatchObject({ code: 'STORE_REPLACED' });
  });

  it('lists a run and finds it by its retry key once it is published after an interrupted acceptance', async () => {
    const { store } = await open();
    const [runId, retryKey] = [newRunId(), newRunId()];
    const { header } = acceptance(runId);
    await store.runs.accept({ header: { ...header, data: { ...header.data, retryKey } }, retryKey, openLimit: 10 });
    await redis.del(await whole('tenant:acme'), await whole(`retry:${retryKey}`));
    expect((await store.runs.unpublished(0, 10)).map((found) => found.runId)).toEqual([runId]);
    expect(await store.runs.findRetry(retryKey)).toBe(runId);
    expect((await store.runs.list({ tenant: 'acme', limit: 1 })).map((found) => found.runId)).toEqual([runId]);
  });

  it('has the current format after it was started and after it was rebuilt', async () => {
    const { store, recovery } = await open();
    await store.identity.start('store');
    await open();
    await recovery.begin('store');
    await open();
    await recovery.end({ storeId: 'store', generation: 1_000 });
    expect(await redis.hget(`${keyPrefix}{31}:identity`, 'format')).toBe('2');
  });

  it('drops expired entries from the set of a tag that is written repeatedly', async () => {
    const { store } = await open();
    const write = (n: number, ttlMs: number) => store.caches.write({ tenant: 'acme', key: `k${n}`, value: n, ttlMs, tags: ['hot'] });
    await Promise.all(Array.from({ length: 50 }, (_, n) => write(n, 100)));
    const over = (await store.now()) + 100;
    while ((await store.now()) < over) await write(50, 60_000);
    await write(51, 60_000);
    expect(await redis.zcard(await whole('cache-tag:["acme","hot"]'))).toBe(2);
  });

  it('measures the retention of a counted event from its last use', async () => {
    const { store } = await open({ ttl: { retentionMs: 100_000 } });
    const change = { eventId: 'e', tenant: 'acme', updates: [] };
    await store.scores.add(change);
    await redis.pexpire(await whole('score-event:["acme","e"]'), 1_000);
    expect(await store.scores.add(change)).toBe(false);
    expect(await redis.pttl(await whole('score-event:["acme","e"]'))).toBeGreaterThan(90_000);
  });

  it('keeps blobs at least as long as the longest topic', async () => {
    const { blobs } = await open();
    const { sha256 } = await blobs.put(Buffer.from('body'));
    expect(await redis.pttl(`${keyPrefix}blob:${sha256}`)).toBeGreaterThan(29 * 24 * 60 * 60 * 1000);
  });
});

describe('Redis state over TLS with credentials', () => {
  let folder: string;
  let server: PrivateRedis;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'conclave-tls-'));
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
    const files = [
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      path.join(folder, 'key.pem'),
      '-out',
      path.join(folder, 'cert.pem'),
    ];
    execFileSync('openssl', [...request, ...files], { stdio: 'ignore', timeout: 60_000 });
    const tls = [
      '--tls-cert-file',
      path.join(folder, 'cert.pem'),
      '--tls-key-file',
      path.join(folder, 'key.pem'),
      '--tls-auth-clients',
      'no',
    ];
    server = await startPrivateRedis([...durable, ...tls, '--requirepass', 's3cret'], (port) => [
      '--port',
      '0',
      '--tls-port',
      String(port),
    ]);
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });
  const address = (password: string) => `rediss://:${password}@127.0.0.1:${server.port}`;
  const trusted = () => ({ ca: readFileSync(path.join(folder, 'cert.pem')) });

  it('opens with the right password and a trusted certificate', async () => {
    const state = await openRedisState({ url: address('s3cret'), tls: trusted(), processId: 'p1' });
    expect(await state.store.health()).toBeNull();
    await state.store.hints.subscribe('stream', () => undefined);
    await state.close();
  });

  it('refuses a wrong password without revealing it', async () => {
    const refused: unknown = await openRedisState({
      url: address('wr0ng'),
      tls: trusted(),
      processId: 'p1',
      commandTimeoutMs: 1_000,
    }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(String(refused)).not.toContain('wr0ng');
  });

  it('refuses an untrusted certificate', async () => {
    const refused = openRedisState({ url: address('s3cret'), processId: 'p1', commandTimeoutMs: 1_000 });
    await expect(refused).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
