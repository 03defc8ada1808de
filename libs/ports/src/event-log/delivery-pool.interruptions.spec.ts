import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { Gates, PoolBench, type Handle } from './testing/pool-bench.js';
import { sampleInput, sampleName, sampleOutput } from './testing/sample-events.js';

const answering: Handle = async ({ event }) => [sampleOutput(sampleName(event))];
const outage = () => new Failure('STORE_UNAVAILABLE');
const begun = (bench: PoolBench, processId: string, offset = '0') =>
  bench.deliveries.ledger(processId).begin({ group: 'group', record: `knowledge.ingest/0/${offset}` });

describe('the delivery pool in an outage of our own stores', () => {
  const stages: readonly [string, (bench: PoolBench, down: boolean) => void][] = [
    ['the ledger', (bench, down) => (bench.deliveries.down = down)],
    ['the log', (bench, down) => (bench.logError = down ? new Failure('LOG_UNAVAILABLE') : null)],
    ['the log, with an unknown error,', (bench, down) => (bench.logError = down ? new Error('socket closed') : null)],
  ];

  it.each(stages)('pauses while %s does not answer, blames no record, and continues afterwards', async (_which, set) => {
    const bench = new PoolBench(answering, { retry: { attempts: 1 } });
    set(bench, true);
    await bench.offer(sampleInput('a'), sampleInput('b'), sampleInput('c'));
    await bench.clock.advance(120_000);
    expect(bench.pauses).toEqual([true]);
    expect(bench.pool.paused()).not.toBeNull();
    expect(bench.done).toEqual([]);
    set(bench, false);
    await bench.clock.advance(10_000);
    expect(bench.pauses).toEqual([true, false]);
    expect(bench.dead).toEqual([]);
    expect([...bench.done].sort()).toEqual(['0', '1', '2']);
    expect(bench.pool.paused()).toBeNull();
    expect(bench.deliveries.open).toBe(0);
  });

  it('runs one handler per probe, with growing waits, while the handler meets the outage', async () => {
    const at: number[] = [];
    let down = true;
    const bench = new PoolBench(async ({ attempt }) => {
      at.push(bench.clock.now());
      expect(attempt).toBe(1);
      if (down) throw outage();
      return [];
    });
    await bench.offer(sampleInput('a'), sampleInput('b'));
    await bench.clock.advance(60_000);
    const waits = at.slice(2).map((time, index) => time - at[index + 1]!);
    expect(waits.length).toBeGreaterThan(5);
    expect(waits.length).toBeLessThan(30);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
    expect(waits[1]!).toBeGreaterThan(waits[0]!);
    down = false;
    await bench.clock.advance(10_000);
    expect([...bench.done].sort()).toEqual(['0', '1']);
  });

  it('does not wait for the end of a long task before it lets the others continue', async () => {
    const gates = new Gates();
    let down = true;
    const bench = new PoolBench(async ({ event }) => {
      if (down) throw outage();
      if (sampleName(event) === 'long') await gates.wait('long');
      return [];
    });
    await bench.offer(sampleInput('long'), sampleInput('b'));
    down = false;
    await bench.clock.advance(5000);
    expect(bench.done).toEqual(['1']);
    expect(gates.waiting).toEqual(['long']);
  });

  it('does not run a handler again whose outputs are published if only the ledger failed', async () => {
    let runs = 0;
    const bench = new PoolBench(async ({ event }) => {
      runs += 1;
      bench.deliveries.down = true;
      return [sampleOutput(sampleName(event))];
    });
    await bench.offer(sampleInput('a'));
    expect(bench.done).toEqual([]);
    bench.deliveries.down = false;
    await bench.clock.advance(1000);
    expect(bench.done).toEqual(['0']);
    expect(runs).toBe(1);
    expect(bench.published).toHaveLength(1);
  });

  it('does not skip a record whose dead letter cannot be written', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Error('never')), { retry: { attempts: 1 } });
    bench.logError = new Failure('LOG_UNAVAILABLE');
    await bench.offer(sampleInput('a'));
    await bench.clock.advance(60_000);
    expect(bench.done).toEqual([]);
    bench.logError = null;
    await bench.clock.advance(10_000);
    expect(bench.dead).toHaveLength(1);
    expect(bench.done).toEqual(['0']);
  });
});

describe('the delivery pool when records are lost or the consumption ends', () => {
  it('lets the handler of a lost record continue, records nothing for it and uses no attempt', async () => {
    const signals: AbortSignal[] = [];
    const gates = new Gates();
    const bench = new PoolBench(async ({ event, signal }) => {
      signals.push(signal);
      await gates.wait(sampleName(event));
      return [sampleOutput(sampleName(event))];
    });
    await bench.offer(sampleInput('a'), sampleInput('b', 'a'), sampleInput('c'));
    bench.pool.forget(({ offset }) => offset !== '2');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    await gates.open('a');
    await gates.open('c');
    expect(bench.done).toEqual(['2']);
    expect(bench.pool.load()).toEqual({ running: 0, held: 0 });
    expect(await begun(bench, 'next')).toMatchObject({ attempts: 1, deaths: 0, suspects: 0 });
  });

  it('forgets records that wait for a retry or for the end of an outage', async () => {
    const bench = new PoolBench(async ({ event }) => Promise.reject(sampleName(event) === 'a' ? new Error('again') : outage()));
    await bench.offer(sampleInput('a'), sampleInput('b'));
    bench.pool.forget(() => true);
    await bench.clock.advance(60_000);
    expect(bench.pool.load()).toEqual({ running: 0, held: 0 });
    expect(bench.clock.pending).toBe(0);
    expect(bench.pauses).toEqual([true, false]);
    expect(bench.done).toEqual([]);
  });

  it('drains: waits for running handlers and gives back records that have not begun', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), [sampleOutput(sampleName(event))]), {
      concurrency: 1,
    });
    await bench.offer(sampleInput('a'), sampleInput('b'));
    const drained = bench.pool.drain(5000);
    await gates.open('a');
    expect((await drained).map(({ offset }) => offset)).toEqual(['1']);
    expect(bench.done).toEqual(['0']);
    expect(bench.published.map(sampleName)).toEqual(['a']);
    expect(bench.clock.pending).toBe(0);
  });

  it('aborts handlers after the grace and uses no attempt for them', async () => {
    const bench = new PoolBench(
      ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    await bench.offer(sampleInput('a'));
    const drained = bench.pool.drain(5000);
    await bench.clock.advance(4999);
    expect(bench.pool.load().running).toBe(1);
    await bench.clock.advance(1);
    expect((await drained).map(({ offset }) => offset)).toEqual(['0']);
    expect(bench.done).toEqual([]);
    expect(await begun(bench, 'next')).toMatchObject({ attempts: 1, suspects: 0 });
  });

  it('gives up a handler that does not react to the abort, and ignores its result', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async () => (await gates.wait('deaf'), []));
    await bench.offer(sampleInput('a'));
    const drained = bench.pool.drain(1000);
    await bench.clock.advance(3000);
    expect((await drained).map(({ offset }) => offset)).toEqual(['0']);
    expect(await begun(bench, 'next')).toMatchObject({ attempts: 1, suspects: 0 });
    await gates.open('deaf');
    expect(bench.done).toEqual([]);
  });

  it('drains in the middle of an outage and leaves no timer', async () => {
    const bench = new PoolBench(async () => Promise.reject(outage()));
    await bench.offer(sampleInput('a'), sampleInput('b'));
    expect(await bench.pool.drain(100)).toHaveLength(2);
    expect(bench.clock.pending).toBe(0);
  });

  it('drains even if the ledger has stopped answering', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async () => (await gates.wait('deaf'), []));
    await bench.offer(sampleInput('a'));
    bench.deliveries.hang();
    const drained = bench.pool.drain(1000);
    await bench.clock.advance(5000);
    expect((await drained).map(({ offset }) => offset)).toEqual(['0']);
  });

  it('can be drained twice', async () => {
    const bench = new PoolBench(answering);
    await bench.offer(sampleInput('a'));
    expect(await bench.pool.drain(10)).toEqual([]);
    expect(await bench.pool.drain(10)).toEqual([]);
  });
});
