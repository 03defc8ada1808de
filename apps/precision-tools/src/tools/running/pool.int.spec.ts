import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { bundledThread } from '../__fixtures__/bundled-thread.js';
import { WorkerPool, type ThreadPoolOptions } from './pool.js';

jest.setTimeout(30_000);
const thread = bundledThread();
afterAll(() => thread.remove());

const pools: WorkerPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});
const open = (options: Partial<ThreadPoolOptions> = {}): WorkerPool => {
  const pool = new WorkerPool({
    workerFile: thread.file,
    threads: 2,
    heapMb: 64,
    waiting: { jobs: 50, ms: 20_000 },
    startMs: 20_000,
    log: () => {},
    ...options,
  });
  pools.push(pool);
  return pool;
};
const sum = (pool: WorkerPool): Promise<unknown> => pool.run('calculate', { expression: '6 * 7' }, 10_000);
/** Backtracks forever. */
const stuck = (pool: WorkerPool, ms = 100): Promise<unknown> =>
  pool.run('regex_extract', { pattern: '(a+)+$', text: `${'a'.repeat(40)}b`, flags: '' }, ms);

describe('a pool of threads', () => {
  it('answers again after endless jobs occupied every thread', async () => {
    const pool = open();
    const held = await Promise.allSettled(Array.from({ length: 5 }, () => stuck(pool)));
    expect(held).toEqual(Array.from({ length: 5 }, () => ({ status: 'rejected', reason: expect.objectContaining({ code: 'TIMEOUT' }) })));
    expect(await sum(pool)).toMatchObject({ result: '42' });
  });

  it('runs a waiting job on a free thread, not on a stuck one', async () => {
    const pool = open();
    await sum(pool);
    const slow = stuck(pool, 20_000).catch((error: unknown) => error);
    expect(await Promise.all(Array.from({ length: 10 }, () => sum(pool)))).toHaveLength(10);
    await pool.close();
    expect(await slow).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('gives an answer that arrived in time although this thread was held up past the limit', async () => {
    const pool = open();
    await sum(pool);
    const answer = pool.run('calculate', { expression: '6 * 7' }, 100);
    // After an immediate, the limit's timer is looked at before the reply.
    await new Promise((resolve) => setImmediate(resolve));
    for (const end = performance.now() + 400; performance.now() < end;);
    expect(await answer).toMatchObject({ result: '42' });
  });

  it('counts the time of a job while it has a processor, and gives up after ten times its limit without one', async () => {
    let usedMs = 0;
    const pool = open({ processorMs: () => usedMs });
    await sum(pool);
    const [starved, started] = [stuck(pool, 50).catch((error: unknown) => error), performance.now()];
    expect(await starved).toMatchObject({ code: 'BUSY', message: expect.stringContaining('too busy') });
    expect(performance.now() - started).toBeGreaterThan(490);
    const counted = setInterval(() => (usedMs += 100), 50);
    expect(await stuck(pool, 200).catch((error: unknown) => error)).toMatchObject({ code: 'TIMEOUT' });
    clearInterval(counted);
  });

  it('refuses a job that would wait too long, and one above the limit', async () => {
    const pool = open({ threads: 1, waiting: { jobs: 2, ms: 20 } });
    const refused = await Promise.allSettled(Array.from({ length: 4 }, () => stuck(pool)));
    // The thread is still starting when the first three are refused, for their number or their wait.
    expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
    expect(refused.at(-1)).toMatchObject({ reason: { code: 'BUSY', message: expect.stringContaining('Try again') } });
  });

  it('ends a thread that needs too much memory, and continues', async () => {
    const pool = open({ heapMb: 16 });
    const large = JSON.stringify(Array.from({ length: 200_000 }, (_, i) => ({ i })));
    await expect(pool.run('json_query', { json_str: large, path: 'length(@)' }, 20_000)).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    expect(await sum(pool)).toMatchObject({ result: '42' });
  });

  it('refuses running and later jobs after it was closed', async () => {
    const pool = open();
    const running = stuck(pool);
    const refused = expect(running).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await pool.close();
    await refused;
    await expect(sum(pool)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('starts no thread once it is closed, even if a reply is pending', async () => {
    const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = ports();
    const pool = open();
    await sum(pool);
    const refused = expect(sum(pool)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // Nothing is read here until the reply has arrived.
    for (const end = performance.now() + 300; performance.now() < end;);
    await pool.close();
    await refused;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ports()).toBe(before);
  });
});
