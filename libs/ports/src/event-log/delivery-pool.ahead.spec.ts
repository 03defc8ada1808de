import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { defer } from './event-log.js';
import { Gates, PoolBench } from './testing/pool-bench.js';
import { sampleInput, sampleName, sampleOutput } from './testing/sample-events.js';

const aheadMs = 100;

/** A pool whose publish takes 100 ms, and a handler that ends when the test says so. */
function bench(options: ConstructorParameters<typeof PoolBench>[1] = {}) {
  const gates = new Gates();
  const pool = new PoolBench(
    async ({ event }) => {
      await gates.wait(sampleName(event));
      return [sampleOutput(sampleName(event))];
    },
    { aheadMs, ...options },
  );
  return { gates, pool };
}

const published = (pool: PoolBench) => pool.published.map(sampleName);

describe('while the outputs of a record are published', () => {
  it('the next one of its key is handled, and its own outputs follow', async () => {
    const { gates, pool } = bench();
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'), sampleInput('3', 'a'));
    expect(gates.started).toEqual(['1']);
    await gates.open('1');
    expect(gates.started).toEqual(['1', '2']);
    await gates.open('2');
    // The third waits until the second is published in its turn.
    expect([gates.started, published(pool), pool.done]).toEqual([['1', '2'], [], []]);
    await pool.clock.advance(aheadMs);
    expect([gates.started, published(pool), pool.done]).toEqual([['1', '2', '3'], ['1'], ['0']]);
    await gates.open('3');
    await pool.clock.advance(2 * aheadMs);
    expect([published(pool), pool.done, gates.started]).toEqual([
      ['1', '2', '3'],
      ['0', '1', '2'],
      ['1', '2', '3'],
    ]);
    expect(pool.pool.load()).toEqual({ running: 0, held: 0 });
  });

  it('no more handlers run than slots are there', async () => {
    const { gates, pool } = bench({ concurrency: 2 });
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'), sampleInput('3', 'b'));
    await gates.open('1');
    expect(gates.started).toEqual(['1', '3']);
  });

  it('a record that another process may have begun waits for its turn', async () => {
    const { gates, pool } = bench();
    await pool.offer(sampleInput('1', 'a'));
    pool.hand({ ...(await pool.record(sampleInput('2', 'a'))), fresh: false });
    await gates.open('1');
    expect(gates.started).toEqual(['1']);
    await pool.clock.advance(aheadMs);
    expect(gates.started).toEqual(['1', '2']);
  });

  it('an outage holds back the outputs of both, in their order, and no two handlers of the key run at once', async () => {
    const running = new Set<string>();
    let most = 0;
    const pool: PoolBench = new PoolBench(
      async ({ event }) => {
        const name = sampleName(event);
        running.add(name);
        most = Math.max(most, running.size);
        await new Promise<void>((resolve) => pool.clock.after(name === '2' ? 5_000 : 1, resolve));
        running.delete(name);
        return [sampleOutput(name)];
      },
      { aheadMs },
    );
    pool.logError = new Failure('LOG_UNAVAILABLE');
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'));
    await pool.clock.advance(1_000);
    expect([pool.pauses, published(pool)]).toEqual([[true], []]);
    pool.logError = null;
    await pool.clock.advance(60_000);
    expect([published(pool), pool.done, most, pool.dead]).toEqual([['1', '2'], ['0', '1'], 1, []]);
  });

  it.each([
    [
      'fails',
      (): never => {
        throw new Error('failed');
      },
    ],
    ['is deferred', () => defer(50)],
    [
      'meets an outage',
      (): never => {
        throw new Failure('STORE_UNAVAILABLE');
      },
    ],
  ])('a record that %s ahead of its turn is handled again in it', async (_what, first) => {
    const calls: string[] = [];
    const pool = new PoolBench(
      async ({ event }) => {
        const name = sampleName(event);
        calls.push(name);
        return name === '2' && calls.filter((one) => one === '2').length === 1 ? first() : [sampleOutput(name)];
      },
      { aheadMs },
    );
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'));
    await pool.clock.advance(60_000);
    expect([calls, published(pool), pool.done, pool.dead]).toEqual([['1', '2', '2'], ['1', '2'], ['0', '1'], []]);
    expect(pool.deliveries.open).toBe(0);
  });

  it('a lost record is not published, though it was handled', async () => {
    const { gates, pool } = bench();
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'));
    await gates.open('1');
    pool.pool.forget(({ offset }) => offset === '1');
    await gates.open('2');
    await pool.clock.advance(10 * aheadMs);
    expect([published(pool), pool.done]).toEqual([['1'], ['0']]);
    expect(pool.pool.load()).toEqual({ running: 0, held: 0 });
  });

  it('draining waits for the handler ahead, and gives its record back', async () => {
    const { gates, pool } = bench();
    await pool.offer(sampleInput('1', 'a'), sampleInput('2', 'a'));
    await gates.open('1');
    let back: readonly string[] | null = null;
    void pool.pool.drain(5_000).then((records) => (back = records.map(({ offset }) => offset)));
    await pool.clock.advance(1_000);
    expect([published(pool), pool.done, back]).toEqual([['1'], ['0'], null]);
    await gates.open('2');
    expect([published(pool), pool.done, back]).toEqual([['1'], ['0'], ['1']]);
  });
});
