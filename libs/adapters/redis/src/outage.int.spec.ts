import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { acceptance, counting, newRunId, nthInput, planning, until, type Tally } from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { durable, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState, type RedisStateOptions } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

describe('Redis state', () => {
  let server: PrivateRedis;
  const opened: RedisState[] = [];
  const open = async (more: Partial<RedisStateOptions> = {}): Promise<RedisState> => {
    const state = await openRedisState({ url: server.url, processId: 'p1', ...more });
    opened.push(state);
    return state;
  };
  beforeEach(async () => {
    server = await startPrivateRedis();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((state) => state.close()));
    await server.dispose();
  });
  const commit = ({ store }: RedisState, runId: string, n: number) =>
    store.runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n), { entries: [planning(n)] }));

  it('loses nothing acknowledged when the server is killed under load, and continues when it is back', async () => {
    const state = await open({ commandTimeoutMs: 1_000 });
    const runs = Array.from({ length: 4 }, newRunId);
    const acknowledged = new Map(runs.map((runId) => [runId, new Set<string>()]));
    let writing = true;
    const writers = runs.map(async (runId) => {
      for (let n = 1; writing; n += 1) {
        await commit(state, runId, n).then(
          () => acknowledged.get(runId)!.add(nthInput(runId, n).id),
          (error: unknown) => expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' }),
        );
      }
    });
    const total = () => [...acknowledged.values()].reduce((sum, { size }) => sum + size, 0);
    await until('there is load', () => total() > 200);
    await server.kill();
    await server.start();
    const atReturn = total();
    await until('writers go on by themselves', () => total() > atReturn + 100);
    writing = false;
    await Promise.all(writers);

    for (const [runId, ids] of acknowledged) {
      const { state: kept, version } = (await state.store.runs.read<Tally>(runId))!;
      const seen = new Set(kept.seen);
      expect([...ids].filter((id) => !seen.has(id))).toEqual([]);
      expect(kept.seen).toHaveLength(seen.size);
      expect([kept.count, (await state.stream.read(runId, 0, 1)).last]).toEqual([version, version]);
    }
  });

  it('keeps journal, timers, settings, streams and blobs when the server is killed', async () => {
    const before = await open();
    const runId = newRunId();
    const step = `${runId}/0/t1/call/0`;
    await before.store.journal.begin({ runId, step, nonce: 'n', owner: 'p1' });
    await before.store.journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: 'paid' });
    await before.store.settings.write('templates', 0, ['one']);
    await before.stream.append(runId, [{ kind: 'chunk', taskId: `${runId}/0/t1`, attempt: 1, offset: 0, text: 'blue' }]);
    const ref = await before.blobs.put(Buffer.from('large'));
    const event = nthInput(runId, 1);
    await before.store.runs.commit<Tally>(
      event,
      counting(event, ({ now }) => ({ arm: [{ name: 'wall', arm: 1, dueAt: now - 1 }] })),
    );
    await server.kill();
    await server.start();
    const after = await open({ processId: 'p2' });
    expect(await after.store.journal.begin({ runId, step, nonce: 'm', owner: 'p2' })).toMatchObject({ kind: 'done', attempt: 1 });
    expect(await after.store.settings.read('templates')).toEqual({ version: 1, value: ['one'] });
    expect((await after.stream.read(runId, 0, 10)).entries).toMatchObject([{ id: 1, text: 'blue' }]);
    expect((await after.blobs.get(ref)).toString()).toBe('large');
    expect(await after.store.timers.due(10)).toMatchObject([{ runId, name: 'wall', arm: 1 }]);
  });

  it('fails with STORE_UNAVAILABLE in time while the server is away, immediately in a long outage, and executes none of it later', async () => {
    const state = await open({ commandTimeoutMs: 400 });
    const runId = newRunId();
    await commit(state, runId, 1);
    await server.kill();
    const timed = async () => {
      const start = performance.now();
      await expect(commit(state, runId, 2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true });
      return performance.now() - start;
    };
    expect(await timed()).toBeLessThan(2_000);
    expect(await state.store.health()).toContain('does not answer');
    // Without waiting for the time-out of 400 ms. On a busy machine one of them may still be late.
    expect(Math.min(await timed(), await timed(), await timed())).toBeLessThan(200);
    await server.start();
    await until('the store is back', async () => (await state.store.health()) === null);
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 1 });
    expect(await commit(state, runId, 2)).toMatchObject({ repeated: false, state: { count: 2 } });
  });

  it('does not accept a run later that it could not accept in time', async () => {
    const state = await open({ commandTimeoutMs: 300 });
    await server.kill();
    await until('the loss is noticed', async () => (await state.store.health()) !== null);
    const late = acceptance();
    await expect(state.store.runs.accept(late)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.start();
    await until('the store is back', async () => (await state.store.health()) === null);
    expect(await state.store.runs.header(late.header.runId)).toBeNull();
    expect(await state.store.runs.openCount()).toBe(0);
  });

  it('gives up a server that accepts commands without answering, and applies what it accepted once', async () => {
    const state = await open({ commandTimeoutMs: 400 });
    const runId = newRunId();
    await commit(state, runId, 1);
    server.signal('SIGSTOP');
    await expect(commit(state, runId, 2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    server.signal('SIGCONT');
    await until('the store is back', async () => (await state.store.health()) === null);
    await commit(state, runId, 2);
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
  });

  it('changes nothing on a store that came back empty: STORE_REPLACED, also for commands in flight', async () => {
    const state = await open();
    const runId = newRunId();
    await state.store.identity.start('store-1');
    await commit(state, runId, 1);
    await server.kill();
    const waiting = commit(state, runId, 2);
    rmSync(path.join(server.folder, 'appendonlydir'), { recursive: true });
    await server.start();
    await expect(waiting).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await expect(state.stream.read(runId, 0, 10)).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    expect(await state.store.health()).toContain('conclave recover');
    expect(await state.store.identity.read()).toBeNull();
    const redis = new Redis(server.url);
    expect(await redis.dbsize()).toBe(0);
    redis.disconnect();
  });

  it('works on a store that came back empty only when a test disables the identity check', async () => {
    const state = await open({ watchesIdentity: false });
    const runId = newRunId();
    await state.store.identity.start('store-1');
    await commit(state, runId, 1);
    await server.kill();
    rmSync(path.join(server.folder, 'appendonlydir'), { recursive: true });
    await server.start();
    await until('the store is back', async () => (await state.store.health()) === null);
    expect(await commit(state, runId, 2)).toMatchObject({ repeated: false, state: { count: 1 } });
  });

  it('changes nothing on an older copy of its store, and continues when other processes merely started since', async () => {
    const state = await open();
    await state.store.identity.start('store-1');
    await (await open({ processId: 'p2' })).store.identity.start('ignored');
    await expect(state.store.runs.openCount()).resolves.toBe(0);
    const folder = path.join(server.folder, 'appendonlydir');
    await server.kill();
    cpSync(folder, `${folder}.copy`, { recursive: true });
    await server.start();
    expect(await state.store.identity.start('ignored')).toEqual({ storeId: 'store-1', generation: 3 });
    await server.kill();
    rmSync(folder, { recursive: true });
    cpSync(`${folder}.copy`, folder, { recursive: true });
    await server.start();
    await expect(state.store.runs.openCount()).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    expect(await state.store.identity.read()).toEqual({ storeId: 'store-1', generation: 0 });
  });

  it('recognises an older copy by a lease renewed since, and works with a store whose leases others have renewed', async () => {
    const [state, other] = [await open(), await open({ processId: 'p2' })];
    await state.store.identity.start('store-1');
    const folder = path.join(server.folder, 'appendonlydir');
    await server.kill();
    cpSync(folder, `${folder}.copy`, { recursive: true });
    await server.start();
    const renew = (at: RedisState) => at.store.leases.renewProcess({ id: 'p1', service: 'merger', classes: [], ttlMs: 10_000 });
    await renew(other);
    await renew(state);
    await expect(state.store.runs.openCount()).resolves.toBe(0);
    await server.kill();
    rmSync(folder, { recursive: true });
    cpSync(`${folder}.copy`, folder, { recursive: true });
    await server.start();
    await expect(state.store.runs.openCount()).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    // A new process learns from the mark that the store is older, also after a restart; only a rebuilt store is accepted again.
    const newcomer = await open({ processId: 'p3' });
    expect(await newcomer.store.identity.read()).toEqual({ storeId: 'store-1', generation: 0 });
    await state.recovery.begin('store-1');
    await expect(renew(state)).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await state.recovery.end({ storeId: 'store-1', generation: 1_000 });
    await expect(renew(state)).resolves.toBeUndefined();
    await expect(newcomer.store.runs.openCount()).resolves.toBe(0);
  });

  it('fails with STORE_FULL when the memory is full, stores nothing of the step, and continues when there is room', async () => {
    const state = await open();
    const runId = newRunId();
    const redis = new Redis(server.url);
    await redis.config('SET', 'maxmemory', '1');
    await expect(commit(state, runId, 1)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await expect(state.blobs.put(Buffer.from('x'))).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(await state.store.health()).toContain('maxmemory');
    expect(await state.store.runs.read(runId)).toBeNull();
    await redis.config('SET', 'maxmemory', '0');
    redis.disconnect();
    expect(await commit(state, runId, 1)).toMatchObject({ repeated: false, state: { count: 1 } });
    expect((await state.stream.read(runId, 0, 10)).last).toBe(1);
  });

  it('fails with STORE_FULL when the server cannot write to its disk', async () => {
    await server.dispose();
    server = await startPrivateRedis(['--appendonly', 'no', '--save', '3600 1']);
    const state = await open();
    const redis = new Redis(server.url);
    rmSync(server.folder, { recursive: true });
    await redis.set('any', 'change');
    await redis.bgsave();
    await until('the snapshot failed', async () => (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'));
    redis.disconnect();
    await expect(commit(state, newRunId(), 1)).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(await state.store.health()).toContain('disk');
  });

  it('does not open without a server', async () => {
    await server.kill();
    await expect(open({ commandTimeoutMs: 300 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('has no warnings for a server that keeps what it acknowledges', async () => {
    expect(durable).toContain('always');
    expect(await (await open()).store.warnings()).toEqual([]);
  });

  it('warns of each guarantee that the settings of the server take away', async () => {
    const state = await open();
    const redis = new Redis(server.url);
    await redis.config('SET', 'appendfsync', 'everysec');
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await state.store.warnings()).toEqual([
      expect.stringContaining('appendfsync everysec'),
      expect.stringContaining('maxmemory-policy allkeys-lru'),
    ]);
    await redis.config('SET', 'appendonly', 'no');
    expect(await state.store.warnings()).toEqual([expect.stringContaining('appendonly no'), expect.stringContaining('maxmemory-policy')]);
    redis.disconnect();
  });

  it('works for a user who may not read the configuration, and warns that it cannot be checked', async () => {
    const redis = new Redis(server.url);
    await redis.call(
      'ACL',
      'SETUSER',
      'conclave',
      'on',
      '>secret',
      '~conclave:*',
      '&conclave:*',
      '+@all',
      '-@admin',
      '-@dangerous',
      '+info',
    );
    redis.disconnect();
    const state = await open({ url: server.url.replace('redis://', 'redis://conclave:secret@') });
    expect(await state.store.warnings()).toEqual([expect.stringContaining('cannot be checked')]);
    expect(await commit(state, newRunId(), 1)).toMatchObject({ repeated: false });
    await state.store.hints.subscribe('stream', () => undefined);
  });
});
