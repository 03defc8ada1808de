import { describe, expect, it } from '@jest/globals';
import { defer } from './event-log.js';
import { settle } from './testing/manual-clock.js';
import { Gates, PoolBench } from './testing/pool-bench.js';
import { sampleInput, sampleName } from './testing/sample-events.js';

describe('a record that no process can have begun before', () => {
  const offer = async (bench: PoolBench, name = 'a'): Promise<void> => {
    bench.hand({ ...(await bench.record(sampleInput(name))), fresh: true });
    await settle();
  };
  const ofOther = (bench: PoolBench) => bench.deliveries.ledger('other').begin({ group: 'group', record: 'knowledge.ingest/0/0' });

  it('is handled without a request to the ledger, however often its handler asks to be called later', async () => {
    const gates = new Gates();
    let calls = 0;
    const bench = new PoolBench(async ({ event }) => {
      calls += 1;
      if (calls < 3) return defer(10);
      await gates.wait(sampleName(event));
      return [];
    });
    bench.deliveries.down = true;
    await offer(bench);
    await bench.clock.advance(100);
    expect([calls, gates.waiting, bench.deliveries.open]).toEqual([3, ['a'], 0]);
    await gates.open('a');
    expect(bench.done).toEqual(['0']);
  });

  it('is counted from its first failure on: no process is blamed, and the attempts are added up', async () => {
    const attempts: number[] = [];
    const bench = new PoolBench(async ({ attempt }) => {
      attempts.push(attempt);
      throw new Error('never works');
    });
    await offer(bench);
    expect(bench.deliveries.open).toBe(1);
    expect(await ofOther(bench)).toEqual({ attempts: 2, deaths: 0, suspects: 0 });
    await bench.deliveries.ledger('other').released({ group: 'group', record: 'knowledge.ingest/0/0' });
    await bench.clock.advance(120_000);
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    expect(bench.dead).toHaveLength(1);
    expect(bench.deliveries.open).toBe(0);
  });

  it('waits if the ledger does not receive its failure, and is not tried again in the meantime', async () => {
    let calls = 0;
    const bench = new PoolBench(async () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return [];
    });
    bench.deliveries.down = true;
    await offer(bench);
    expect([calls, bench.pauses]).toEqual([1, [true]]);
    bench.deliveries.down = false;
    await bench.clock.advance(60_000);
    expect([calls, bench.done, bench.deliveries.open]).toEqual([2, ['0'], 0]);
  });
});
