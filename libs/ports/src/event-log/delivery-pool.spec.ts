import { describe, expect, it } from '@jest/globals';
import { Failure, type Event } from '@conclave/contracts';
import { defer, nothingLeft } from './event-log.js';
import { settle } from './testing/manual-clock.js';
import { Gates, PoolBench, type Handle } from './testing/pool-bench.js';
import { sampleInput, sampleName, sampleOutput } from './testing/sample-events.js';

const answering: Handle = async ({ event }) => [sampleOutput(sampleName(event))];
const begun = (bench: PoolBench, processId: string, offset = '0') =>
  bench.deliveries.ledger(processId).begin({ group: 'group', record: `knowledge.ingest/0/${offset}` });

describe('the delivery pool', () => {
  it('publishes what the handler returns before the record counts as done', async () => {
    const order: string[] = [];
    const bench = new PoolBench(answering);
    bench.pool.offer(await bench.record(sampleInput('a')), () => void order.push(`done after ${bench.published.map(sampleName).join()}`));
    await settle();
    expect(order).toEqual(['done after a']);
    expect(bench.points).toEqual(['after-poll', 'before-publish', 'after-publish', 'after-commit']);
    expect(bench.deliveries.open).toBe(0);
  });

  it('says after-commit when the adapter says that the position is durable', async () => {
    const bench = new PoolBench(answering);
    let commit = () => {};
    bench.pool.offer(await bench.record(sampleInput('a')), () => new Promise<void>((resolve) => (commit = resolve)));
    await settle();
    expect(bench.points).not.toContain('after-commit');
    commit();
    await settle();
    expect(bench.points).toContain('after-commit');
  });

  it('runs no more handlers at once than allowed', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), []), { concurrency: 2 });
    await bench.offer(sampleInput('a'), sampleInput('b'), sampleInput('c'));
    expect(gates.waiting).toEqual(['a', 'b']);
    expect(bench.pool.load()).toEqual({ running: 2, held: 3, waitingSince: bench.clock.now() });
    await gates.open('a');
    expect(gates.waiting).toEqual(['b', 'c']);
  });

  it('handles records of one key one after another and lets others continue', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), []));
    await bench.offer(sampleInput('1', 'run'), sampleInput('2', 'run'), sampleInput('other'));
    expect(gates.waiting).toEqual(['1', 'other']);
    await gates.open('1');
    expect(gates.waiting).toEqual(['other', '2']);
  });

  it('does not order records without a key', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), []));
    for (const name of ['a', 'b']) bench.hand({ ...(await bench.record(sampleInput(name, 'run'))), key: null });
    await settle();
    expect(gates.waiting).toEqual(['a', 'b']);
  });

  it('keeps the order of a key while its first record waits for a retry', async () => {
    const handled: string[] = [];
    const bench = new PoolBench(async ({ event, attempt }) => {
      handled.push(`${sampleName(event)}#${attempt}`);
      if (sampleName(event) === '1' && attempt < 3) throw new Error('not yet');
      return [];
    });
    await bench.offer(sampleInput('1', 'run'), sampleInput('2', 'run'), sampleInput('other'));
    expect(handled).toEqual(['1#1', 'other#1']);
    await bench.clock.advance(60_000);
    expect(handled).toEqual(['1#1', 'other#1', '1#2', '1#3', '2#1']);
    expect(bench.observed.map(({ outcome }) => outcome)).toEqual(['retry', 'done', 'retry', 'done', 'done']);
  });

  it('waits longer before each retry', async () => {
    const at: number[] = [];
    const bench = new PoolBench(
      async () => {
        at.push(bench.clock.now());
        throw new Error('never');
      },
      { retry: { attempts: 4, backoffMs: 100, maxBackoffMs: 300 }, random: () => 0.999_999 },
    );
    await bench.offer(sampleInput('a'));
    await bench.clock.advance(10_000);
    expect(at.map((time) => time - at[0]!)).toEqual([0, 100, 300, 600]);
  });

  it('tries again when the failure asks for it, not before its own wait and not after its longest one', async () => {
    const at: number[] = [];
    const asked = [150, 10, 60_000];
    const bench = new PoolBench(
      async ({ attempt }) => {
        at.push(bench.clock.now());
        throw new Failure('WEBHOOK_FAILED', undefined, { retryAfterMs: asked[attempt - 1]! });
      },
      { retry: { attempts: 4, backoffMs: 100, maxBackoffMs: 300 }, random: () => 0.999_999 },
    );
    await bench.offer(sampleInput('a'));
    await bench.clock.advance(10_000);
    expect(at.map((time) => time - at[0]!)).toEqual([0, 150, 350, 650]);
  });

  it('dead-letters a record at once if its failure is final', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Failure('WEBHOOK_FAILED', 'Too many wait.', { final: true })));
    await bench.offer(sampleInput('a'));
    await settle();
    expect(bench.dead.map(({ headers }) => [headers['dead-reason'], headers['dead-attempts']])).toEqual([['failed', '1']]);
    expect(bench.done).toEqual(['0']);
  });

  it('holds as many records as its subscription says, including those that wait for another attempt', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Error('never')), { held: 2 });
    await bench.offer(sampleInput('a'));
    expect(bench.pool.hasRoom()).toBe(true);
    await bench.offer(sampleInput('b'));
    expect([bench.pool.hasRoom(), bench.pool.load().running]).toEqual([false, 0]);
  });

  it('dead-letters a record after its last attempt with its bytes, headers, reason and attempts, and publishes its replacement', async () => {
    const bench = new PoolBench(
      async () => {
        throw new TypeError('undefined is not a function');
      },
      { retry: { attempts: 3 }, onDead: (event, reason) => [sampleOutput(`${sampleName(event!)} ${reason}`)] },
    );
    const record = await bench.record(sampleInput('a'));
    bench.hand(record);
    await bench.clock.advance(60_000);
    expect(bench.dead).toHaveLength(1);
    expect(bench.dead[0]!.raw!.equals(record.raw!)).toBe(true);
    expect(bench.dead[0]!.headers).toMatchObject({
      ...record.headers,
      'dead-topic': 'knowledge.ingest',
      'dead-partition': '0',
      'dead-offset': '0',
      'dead-group': 'group',
      'dead-reason': 'failed',
      'dead-attempts': '3',
    });
    expect(bench.published.map(sampleName)).toEqual(['a failed']);
    expect(bench.done).toEqual(['0']);
    expect(bench.observed.at(-1)).toMatchObject({ outcome: 'dead', type: 'KnowledgeProposed', error: expect.any(TypeError) });
  });

  it('counts attempts of earlier processes', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Error('never')), { retry: { attempts: 3 } });
    const earlier = bench.deliveries.ledger('earlier');
    for (let n = 0; n < 2; n += 1) {
      await begun(bench, 'earlier');
      await earlier.failed({ group: 'group', record: 'knowledge.ingest/0/0' });
    }
    await bench.offer(sampleInput('a'));
    expect(bench.dead[0]!.headers['dead-attempts']).toBe('3');
  });

  it.each<[string, { raw?: Buffer | null; headers?: Record<string, string> }]>([
    ['a value that is not JSON', { raw: Buffer.from('{"half":') }],
    ['no value', { raw: null }],
    ['an unknown type', { headers: { ce_type: 'NobodyKnows' } }],
    ['data of another shape', { raw: Buffer.from('{"kind":7}') }],
    ['a reference to nowhere', { headers: { ce_dataref: 'x' }, raw: Buffer.from('"x"') }],
  ])('dead-letters a record with %s at once and runs no handler', async (_what, broken) => {
    const seen: (Event | null)[] = [];
    const bench = new PoolBench(async () => Promise.reject(new Error('must not run')), { onDead: (event) => (seen.push(event), []) });
    const good = await bench.record(sampleInput('a'));
    bench.hand({ ...good, ...broken, headers: { ...good.headers, ...broken.headers } });
    await settle();
    expect(bench.dead.map(({ headers }) => [headers['dead-reason'], headers['dead-attempts']])).toEqual([['undecodable', '1']]);
    expect(seen).toEqual([null]);
    expect(bench.done).toEqual(['0']);
  });

  it.each(['ce_specversion', 'ce_id', 'ce_type', 'ce_source', 'ce_time', 'ce_runid'])(
    'dead-letters a record without the header %s at once',
    async (name) => {
      const bench = new PoolBench(answering);
      const good = await bench.record(sampleInput('a'));
      bench.hand({ ...good, headers: Object.fromEntries(Object.entries(good.headers).filter(([key]) => key !== name)) });
      await settle();
      expect(bench.dead.map(({ headers }) => headers['dead-reason'])).toEqual(['undecodable']);
    },
  );

  it('dead-letters a record that killed its process three times without running it', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Error('must not run')), {
      onDead: (event, reason) => [sampleOutput(`${sampleName(event!)} ${reason}`)],
    });
    for (const process of ['p1', 'p2', 'p3']) {
      await begun(bench, process);
      bench.deliveries.died(process);
    }
    await bench.clock.advance(10_000);
    await bench.offer(sampleInput('a'));
    expect(bench.dead.map(({ headers }) => [headers['dead-reason'], headers['dead-attempts']])).toEqual([['killed_process', '3']]);
    expect(bench.published.map(sampleName)).toEqual(['a killed_process']);
    expect(bench.done).toEqual(['0']);
  });

  it('waits without a slot until it is known whether earlier owners died, and never dead-letters on suspicion', async () => {
    const bench = new PoolBench(answering, { concurrency: 1 });
    for (const process of ['p1', 'p2', 'p3']) await begun(bench, process);
    bench.deliveries.died('p1');
    bench.deliveries.died('p2');
    await bench.offer(sampleInput('a'), sampleInput('b'));
    expect(bench.published.map(sampleName)).toEqual(['b']);
    await bench.clock.advance(30_000);
    expect(bench.dead).toEqual([]);
    expect(bench.published.map(sampleName)).toEqual(['b']);
    await bench.deliveries.ledger('p3').done({ group: 'group', record: 'knowledge.ingest/0/0' });
    await bench.clock.advance(2000);
    expect(bench.published.map(sampleName)).toEqual(['b', 'a']);
  });

  it('dead-letters a record once the last suspect turns out to be dead', async () => {
    const bench = new PoolBench(answering);
    for (const process of ['p1', 'p2', 'p3']) {
      await begun(bench, process);
      bench.deliveries.died(process);
    }
    await bench.offer(sampleInput('a'));
    expect(bench.dead).toEqual([]);
    await bench.clock.advance(12_000);
    expect(bench.dead.map(({ headers }) => headers['dead-reason'])).toEqual(['killed_process']);
  });

  it('calls a deferred record again without using an attempt or a slot', async () => {
    const attempts: number[] = [];
    const bench = new PoolBench(
      async ({ event, attempt }) => {
        if (sampleName(event) === 'b') return [];
        attempts.push(attempt);
        return attempts.length < 9 ? defer(100) : [];
      },
      { concurrency: 1 },
    );
    await bench.offer(sampleInput('a'), sampleInput('b'));
    expect(bench.done).toEqual(['1']);
    expect(bench.pool.load()).toEqual({ running: 0, held: 1 });
    await bench.clock.advance(900);
    expect(attempts).toEqual(Array.from({ length: 9 }, () => 1));
    expect(bench.done).toEqual(['1', '0']);
  });

  it('finishes a record for which nothing is left to do', async () => {
    const bench = new PoolBench(async () => defer(nothingLeft));
    await bench.offer(sampleInput('a'));
    expect(bench.done).toEqual(['0']);
    expect(bench.published).toEqual([]);
  });

  it('reports outputs once they are on the log and before the record is done', async () => {
    const told: unknown[] = [];
    const bench = new PoolBench(async ({ event }) => [sampleOutput(sampleName(event))], {
      published: (outputs) =>
        told.push({ outputs: outputs.map(sampleName), onLog: bench.published.map(sampleName), done: [...bench.done] }),
    });
    bench.logError = new Failure('LOG_UNAVAILABLE');
    await bench.offer(sampleInput('a'));
    expect(told).toEqual([]);
    bench.logError = null;
    await bench.clock.advance(10_000);
    expect(told).toEqual([{ outputs: ['a'], onLog: ['a'], done: [] }]);
    expect(bench.done).toEqual(['0']);
  });

  it('treats a handler that returns nothing as failing', async () => {
    const bench = new PoolBench((async () => undefined) as unknown as Handle, { retry: { attempts: 1 } });
    await bench.offer(sampleInput('a'));
    expect(bench.dead.map(({ headers }) => headers['dead-reason'])).toEqual(['failed']);
  });

  it('blames the handler for outputs that have no JSON form', async () => {
    const bench = new PoolBench(answering, { retry: { attempts: 1 } });
    bench.logError = new Failure('EVENT_UNDECODABLE', 'circular');
    bench.hand(await bench.record(sampleInput('a')));
    await settle();
    bench.logError = null;
    await bench.clock.advance(10_000);
    expect(bench.dead.map(({ headers }) => headers['dead-reason'])).toEqual(['failed']);
  });

  it('gives up a failing onDead after as many attempts as a record has, and notifies the observer', async () => {
    const bench = new PoolBench(async () => Promise.reject(new Error('never')), {
      retry: { attempts: 2 },
      onDead: () => Promise.reject(new Error('nor this')),
    });
    await bench.offer(sampleInput('a'));
    await bench.clock.advance(60_000);
    expect(bench.dead).toHaveLength(1);
    expect(bench.done).toEqual(['0']);
    expect(bench.observed.at(-1)).toMatchObject({ outcome: 'dead', error: expect.objectContaining({ message: 'nor this' }) });
  });

  it('asks the adapter to stop when it is full and notifies it when half of it is free', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), []), { maxHeld: 4 });
    await bench.offer(sampleInput('a'), sampleInput('b'), sampleInput('c'));
    expect(bench.pool.hasRoom()).toBe(true);
    await bench.offer(sampleInput('d'));
    expect(bench.pool.hasRoom()).toBe(false);
    await gates.open('a');
    expect(bench.rooms).toBe(0);
    await gates.open('b');
    expect(bench.rooms).toBe(1);
    expect(bench.pool.hasRoom()).toBe(true);
  });
});
