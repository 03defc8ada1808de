import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { defer } from './event-log.js';
import { suspectAloneMs, suspectBlamedMs, suspectsApartMs, SuspectTurns } from './suspect-turns.js';
import { Gates, PoolBench, type Handle } from './testing/pool-bench.js';
import { ManualClock } from './testing/manual-clock.js';
import { sampleInput, sampleName, sampleOutput } from './testing/sample-events.js';

const keyOf = (offset: number) => ({ group: 'group', record: `knowledge.ingest/0/${offset}` });

/** The first `records` records of the bench have been open in this many processes that died. */
async function deadBefore(bench: PoolBench, records: number, deaths = 2): Promise<void> {
  for (let death = 1; death <= deaths; death += 1) {
    for (let offset = 0; offset < records; offset += 1) await bench.deliveries.ledger(`dead ${death}`).begin(keyOf(offset));
    bench.deliveries.died(`dead ${death}`);
  }
  await bench.clock.advance(10_000);
}

/** The handler of the first record waited in this many processes that died. */
async function waitedBefore(bench: PoolBench, deaths: number): Promise<void> {
  for (let death = 1; death <= deaths; death += 1) {
    await bench.deliveries.ledger(`waited ${death}`).begin(keyOf(0));
    await bench.deliveries.ledger(`waited ${death}`).failed(keyOf(0));
  }
}

function gated(options: ConstructorParameters<typeof PoolBench>[1] = {}) {
  const gates = new Gates();
  const handle: Handle = async ({ event }) => (await gates.wait(sampleName(event)), []);
  return { gates, bench: new PoolBench(handle, options) };
}

/** How many processes other than `heir` have begun each record without an end. */
const blamed = (bench: PoolBench, records: number) =>
  Promise.all(Array.from({ length: records }, (_, offset) => bench.deliveries.ledger('heir').unended(keyOf(offset))));

describe('the delivery pool with suspects', () => {
  it('runs one after the other, and other records beside them, also with one slot for each', async () => {
    const { gates, bench } = gated({ concurrency: 2 });
    await deadBefore(bench, 3);
    await bench.offer(...['s1', 's2', 's3', 'a', 'b'].map((name) => sampleInput(name)));
    expect(gates.waiting).toEqual(['a', 's1']);
    await gates.open('a');
    expect(gates.waiting).toEqual(['s1', 'b']);
    await gates.open('s1');
    expect(gates.waiting).toEqual(['b', 's2']);
    await gates.open('b');
    await gates.open('s2');
    await gates.open('s3');
    expect([...bench.done].sort()).toEqual(['0', '1', '2', '3', '4']);
    expect(bench.deliveries.open).toBe(0);
    expect(bench.clock.pending).toBe(0);
  });

  it('lets a death count only for the one that ran', async () => {
    const { bench } = gated();
    await deadBefore(bench, 3);
    await bench.offer(sampleInput('s1'), sampleInput('s2'), sampleInput('s3'));
    expect(await blamed(bench, 3)).toEqual([3, 2, 2]);
  });

  it('takes a record for a suspect only if the next death would bury it', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 3, 1);
    await bench.offer(sampleInput('a'), sampleInput('b'), sampleInput('c'));
    expect(gates.waiting).toEqual(['a', 'b', 'c']);
  });

  it('buries at once what died too often, while a suspect runs', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 2);
    await bench.deliveries.ledger('dead 3').begin(keyOf(1));
    bench.deliveries.died('dead 3');
    await bench.clock.advance(10_000);
    await bench.offer(sampleInput('suspect'), sampleInput('killer'));
    expect(gates.waiting).toEqual(['suspect']);
    expect(bench.dead.map(({ headers }) => [headers['dead-offset'], headers['dead-reason']])).toEqual([['1', 'killed_process']]);
  });

  it('tells those who watch the type, run and reason of what it buries unread', async () => {
    const { bench } = gated({ onDead: () => [] });
    await deadBefore(bench, 1, 3);
    await bench.offer(sampleInput('killer'));
    const { type, runId } = sampleInput('killer');
    expect(bench.observed).toEqual([
      expect.objectContaining({ outcome: 'dead', type, dead: { reason: 'killed_process', attempts: 3, runId } }),
    ]);
  });

  it('blames no suspect that only waits, and starts the next beside it after a pause in which none is blamed', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 3);
    await bench.offer(sampleInput('s1'), sampleInput('s2'), sampleInput('s3'));
    await bench.clock.advance(suspectBlamedMs - 1);
    expect([gates.waiting, await blamed(bench, 3)]).toEqual([['s1'], [3, 2, 2]]);
    await bench.clock.advance(1);
    expect([gates.waiting, await blamed(bench, 3)]).toEqual([['s1'], [2, 2, 2]]);
    await bench.clock.advance(suspectsApartMs - 1);
    expect(gates.waiting).toEqual(['s1']);
    await bench.clock.advance(1);
    expect([gates.waiting, await blamed(bench, 3)]).toEqual([
      ['s1', 's2'],
      [2, 3, 2],
    ]);
    // The end of the first is no reason to start a third beside the second.
    await gates.open('s1');
    expect(gates.waiting).toEqual(['s2']);
    await bench.clock.advance(suspectBlamedMs + suspectsApartMs);
    expect([gates.waiting, await blamed(bench, 3)]).toEqual([
      ['s2', 's3'],
      [0, 2, 3],
    ]);
    await gates.open('s2');
    await gates.open('s3');
    expect([bench.done, bench.deliveries.open, bench.clock.pending]).toEqual([['0', '1', '2'], 0, 0]);
  });

  it('blames it again for what follows its handler', async () => {
    const gates = new Gates();
    const bench = new PoolBench(async ({ event }) => (await gates.wait(sampleName(event)), [sampleOutput('found')]));
    await deadBefore(bench, 1);
    await bench.offer(sampleInput('s1'));
    await bench.clock.advance(suspectBlamedMs);
    expect(await blamed(bench, 1)).toEqual([2]);
    bench.logError = new Failure('LOG_UNAVAILABLE');
    await gates.open('s1');
    expect(await blamed(bench, 1)).toEqual([3]);
  });

  it('lets its turn go on while the ledger cannot take the blame away', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 2);
    await bench.offer(sampleInput('s1'), sampleInput('s2'));
    bench.deliveries.down = true;
    await bench.clock.advance(suspectBlamedMs);
    bench.deliveries.down = false;
    expect([gates.waiting, await blamed(bench, 2)]).toEqual([['s1'], [3, 2]]);
    await gates.open('s1');
    expect(gates.waiting).toEqual(['s2']);
  });

  it.each([
    [4, ['s1'], []],
    [5, [], ['killed_process']],
  ])('after %i more deaths while its handlers waited: %j is run, %j are the reasons of its letter', async (deaths, run, reasons) => {
    const { gates, bench } = gated();
    await deadBefore(bench, 1);
    await waitedBefore(bench, deaths);
    await bench.offer(sampleInput('s1'));
    expect([gates.waiting, bench.dead.map(({ headers }) => headers['dead-reason'])]).toEqual([run, reasons]);
  });

  it.each([
    [1, ['s1', 's2'], [2, 3]],
    [2, ['s1'], [2, 2]],
  ])('after two deaths and %i more while its handlers waited, it waits beside others: %j', async (deaths, run, blame) => {
    const { gates, bench } = gated();
    await deadBefore(bench, 2);
    await waitedBefore(bench, deaths);
    await bench.offer(sampleInput('s1'), sampleInput('s2'));
    await bench.clock.advance(suspectBlamedMs + suspectsApartMs);
    expect([gates.waiting, await blamed(bench, 2)]).toEqual([run, blame]);
    await bench.clock.advance(suspectAloneMs);
    expect(gates.waiting).toEqual(['s1', 's2']);
    await gates.open('s1');
    await gates.open('s2');
    expect([bench.done, bench.deliveries.open, bench.clock.pending]).toEqual([['0', '1'], 0, 0]);
  });

  it('starts the next after a while although the one before has not come as far as its handler', async () => {
    const clock = new ManualClock();
    const turns = new SuspectTurns(clock);
    turns.take();
    const granted: string[] = [];
    turns.wait(() => granted.push('s2'));
    await clock.advance(suspectAloneMs - 1);
    expect(granted).toEqual([]);
    await clock.advance(1);
    expect(granted).toEqual(['s2']);
  });

  it('holds all of them while the process is young, and nothing else', async () => {
    const clock = new ManualClock();
    const turns = new SuspectTurns(clock, 5000);
    const { gates, bench } = gated({ turns });
    await deadBefore(bench, 2);
    await bench.offer(sampleInput('s1'), sampleInput('s2'), sampleInput('a'));
    expect(gates.waiting).toEqual(['a']);
    // A process that dies now has begun none of them.
    expect(await blamed(bench, 2)).toEqual([2, 2]);
    await clock.advance(4999);
    await bench.clock.advance(0);
    expect(gates.waiting).toEqual(['a']);
    await clock.advance(1);
    await bench.clock.advance(0);
    expect(gates.waiting).toEqual(['a', 's1']);
    await gates.open('s1');
    expect(gates.waiting).toEqual(['a', 's2']);
  });

  it('holds none in a process that is no longer young', async () => {
    const clock = new ManualClock();
    const turns = new SuspectTurns(clock, 5000);
    await clock.advance(5000);
    const { gates, bench } = gated({ turns });
    await deadBefore(bench, 1);
    await bench.offer(sampleInput('s1'));
    expect(gates.waiting).toEqual(['s1']);
  });

  it('holds nothing for longer if the clock is set back, and waits for nobody when no suspect is left', async () => {
    const clock = new ManualClock();
    let back = 0;
    const set = { now: () => clock.now() - back, random: () => 0, after: (ms: number, call: () => void) => clock.after(ms, call) };
    const turns = new SuspectTurns(set, 5000);
    back = 3_600_000;
    const granted: string[] = [];
    turns.wait(() => granted.push('s1'));
    const leave = turns.wait(() => granted.push('s2'));
    leave();
    await clock.advance(5000);
    expect(granted).toEqual(['s1']);
    const other = new SuspectTurns(clock, 5000);
    const pending = clock.pending;
    other.wait(() => granted.push('never'))();
    expect(clock.pending).toBe(pending);
  });

  it('shares the turns with the other pools of the process', async () => {
    const turns = new SuspectTurns(new ManualClock());
    const [first, second] = [gated({ turns }), gated({ turns })];
    for (const { bench } of [first, second]) await deadBefore(bench, 1);
    await first.bench.offer(sampleInput('s1'));
    await second.bench.offer(sampleInput('s2'), sampleInput('a'));
    expect([first.gates.waiting, second.gates.waiting]).toEqual([['s1'], ['a']]);
    await first.gates.open('s1');
    expect(second.gates.waiting).toEqual(['a', 's2']);
  });

  it('keeps the order within a key: nothing overtakes a suspect that waits', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 2);
    await bench.offer(sampleInput('s1'));
    for (const name of ['s2', 'after']) bench.hand({ ...(await bench.record(sampleInput(name))), key: 'run' });
    await bench.clock.advance(0);
    expect(gates.waiting).toEqual(['s1']);
    await gates.open('s1');
    expect(gates.waiting).toEqual(['s2']);
    await gates.open('s2');
    expect(gates.waiting).toEqual(['after']);
  });

  it.each([
    ['asks to be called later', async () => defer(1000)],
    ['fails', () => Promise.reject(new Error('not now'))],
  ] as const)('passes the turn on when the suspect %s', async (_what, outcome) => {
    const started: string[] = [];
    const bench = new PoolBench(async ({ event }) => {
      started.push(sampleName(event));
      return started.length === 1 ? outcome() : [];
    });
    await deadBefore(bench, 2);
    await bench.offer(sampleInput('s1'), sampleInput('s2'));
    expect(started).toEqual(['s1', 's2']);
    await bench.clock.advance(2000);
    expect(started).toEqual(['s1', 's2', 's1']);
    expect(bench.deliveries.open).toBe(0);
  });

  it('keeps the turn during an outage, in which the ledger still lists the suspect', async () => {
    const turns = new SuspectTurns(new ManualClock());
    let away = true;
    const bench = new PoolBench(() => (away ? Promise.reject(new Failure('LOG_UNAVAILABLE')) : Promise.resolve([])), { turns });
    const other = gated({ turns });
    await deadBefore(bench, 1);
    await deadBefore(other.bench, 1);
    await bench.offer(sampleInput('s1'));
    await other.bench.offer(sampleInput('s2'));
    expect(other.gates.waiting).toEqual([]);
    away = false;
    await bench.clock.advance(5000);
    expect(bench.done).toEqual(['0']);
    await other.bench.clock.advance(0);
    expect(other.gates.waiting).toEqual(['s2']);
  });

  it('hands waiting suspects back when it is drained, without a trace in the ledger', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 3);
    await bench.offer(sampleInput('s1'), sampleInput('s2'), sampleInput('s3'));
    const drained = bench.pool.drain(1000);
    await gates.open('s1');
    expect((await drained).map(({ offset }) => offset)).toEqual(['1', '2']);
    expect(await blamed(bench, 3)).toEqual([0, 2, 2]);
    expect(gates.started).toEqual(['s1']);
  });

  it('gives the turn of a lost record to the next one, and none to a lost record that waits', async () => {
    const { gates, bench } = gated();
    await deadBefore(bench, 3);
    await bench.offer(sampleInput('s1'), sampleInput('s2'), sampleInput('s3'));
    bench.pool.forget(({ offset }) => offset !== '2');
    expect(gates.waiting).toEqual(['s1']);
    await gates.open('s1');
    expect(gates.started).toEqual(['s1', 's3']);
  });
});
