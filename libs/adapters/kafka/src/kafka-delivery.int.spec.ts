import { createHook } from 'node:async_hooks';
import { afterEach, describe, expect, it } from '@jest/globals';
import { blobThresholdBytes, type ReadRange } from '@conclave/ports';
import { inputTopic, outputTopic, sampleInput, sampleName, Stage } from '@conclave/ports/suites';
import { openWorld, type KafkaWorld, type WorldOptions } from './__fixtures__/world.js';

const inputs = (count: number, prefix = 'n') => Array.from({ length: count }, (_, n) => sampleInput(`${prefix}${n}`));
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a Kafka consumption', () => {
  let stage: Stage | null = null;
  afterEach(async () => {
    await stage?.end();
    stage = null;
  }, 60_000);

  async function open(options: Partial<WorldOptions> = {}): Promise<{ stage: Stage; world: KafkaWorld }> {
    const world = await openWorld({ topics: [inputTopic, outputTopic], partitions: 2, ...options });
    stage = new Stage(world, 20_000, 0, 500);
    return { stage, world };
  }

  it('never commits for a partition it has lost', async () => {
    const { stage, world } = await open();
    const [first, second] = [stage.gate(), stage.gate()];
    await stage.consume(async () => (await first.passed, []), { member: 'first', concurrency: 100 });
    await stage.log.publish(inputs(40));
    await stage.until('the first member has all', () => stage.seen.names.length === 40);
    const other = await world.start();
    await stage.consume(async () => (await second.passed, []), { member: 'second', log: other.log, concurrency: 100 });
    const ofSecond = () => new Set(stage.seen.deliveries.filter(({ member }) => member === 'second').map(({ name }) => name)).size;
    await stage.until('the second member has taken a partition over', () => ofSecond() > 0);
    first.open();
    await stage.until('the first member has committed what it kept', async () => (await stage.lag()) < 40);
    await wait(1500);
    expect(await stage.lag()).toBe(ofSecond());
    second.open();
    await stage.until('all are finished', async () => (await stage.lag()) === 0);
  }, 60_000);

  it('never moves the position back after it was considered dead and returned', async () => {
    const { stage, world } = await open({ partitions: 1 });
    const stuck = stage.gate();
    const last = stage.gate();
    const zombie = await world.start();
    const gateOf = (name: string) => (name === 'n3' ? stuck.passed : name.startsWith('n') ? undefined : last.passed);
    const handle = async (_delivery: unknown, name: string) => (await gateOf(name), []);
    await stage.consume(handle, { member: 'zombie', log: zombie.log, concurrency: 30 });
    await stage.log.publish(inputs(10));
    await stage.until('it hangs at the fourth', async () => stage.seen.names.length === 10 && (await stage.lag()) <= 7);
    zombie.proxy.poison({ halfOpen: true });
    const heir = await stage.consume(async () => [], { member: 'heir' });
    await stage.log.publish(inputs(10, 'later'));
    await stage.until('the heir has finished all', async () => stage.seen.names.length === 20 && (await stage.lag()) === 0, 40_000);
    await heir.close();
    zombie.proxy.poison({});
    zombie.proxy.cut();
    stuck.open();
    await stage.log.publish([sampleInput('last')]);
    await stage.until('it is back', () => stage.seen.names.includes('last'), 40_000);
    // It fetches at once, and learns only from its next heartbeat that it was removed from the group.
    await wait(4000);
    expect(await stage.lag()).toBe(1);
    last.open();
    await stage.until('it goes on from there', async () => (await stage.lag()) === 0);
  }, 120_000);

  it('starts few timers while there is nothing to do', async () => {
    const { stage } = await open();
    await stage.consume(async () => []);
    await stage.log.publish(inputs(5));
    await stage.until('all are finished', async () => stage.seen.names.length === 5 && (await stage.lag()) === 0);
    let timers = 0;
    const counting = createHook({ init: (_id, type) => void (timers += type === 'Timeout' ? 1 : 0) }).enable();
    await wait(2_000);
    counting.disable();
    // Fetches, heartbeats and clocks. A loop of one millisecond in one of the connections would start more than a thousand.
    expect(timers).toBeLessThan(300);
  });

  it('reports that it fetches nothing while the broker is away, is rebuilt, and continues', async () => {
    const { stage, world } = await open({ options: { silentAfterMs: 1000, rebalanceTimeoutMs: 6000 } });
    const consumption = await stage.consume(async () => []);
    const publisher = await world.start();
    world.first.proxy.refuse(true);
    await stage.until('it says so', () => consumption.health() !== null);
    expect(await stage.log.health()).not.toBeNull();
    await publisher.log.publish(inputs(5));
    await wait(9000);
    expect(stage.seen.deliveries).toEqual([]);
    world.first.proxy.refuse(false);
    await stage.until('what came meanwhile is handled', () => stage.seen.names.length === 5, 40_000);
    await stage.until('it is healthy again', () => consumption.health() === null);
    await stage.until('it has committed', async () => (await stage.lag(publisher.log)) === 0);
  }, 120_000);

  it('keeps finished records when its consumer is rebuilt', async () => {
    const { stage, world } = await open({ partitions: 1, options: { silentAfterMs: 1000, rebalanceTimeoutMs: 6000 } });
    const slow = stage.gate();
    const watcher = await world.start({ silentAfterMs: 60_000 });
    await stage.consume(async (_delivery, name) => (name === 'n1' ? (await slow.passed, []) : []));
    await stage.log.publish(inputs(4));
    await stage.until('all have begun', async () => stage.seen.names.length === 4 && (await stage.lag()) === 3);
    world.first.proxy.refuse(true);
    await wait(9000);
    slow.open();
    world.first.proxy.refuse(false);
    await stage.until('all is committed', async () => (await stage.lag(watcher.log)) === 0, 40_000);
    expect(stage.seen.deliveries.map(({ name }) => name).sort()).toEqual(['n0', 'n1', 'n2', 'n3']);
  }, 120_000);

  it('does not repeatedly fetch records that it has no room for', async () => {
    const { stage, world } = await open({ options: { maxHeld: 20 } });
    const stuck = stage.gate();
    const consumption = await stage.consume(async () => (await stuck.passed, []));
    const text = 'x'.repeat(blobThresholdBytes / 2);
    await stage.log.publish(inputs(60).map((event, n) => sampleInput(`n${n}`, event.runId, text)));
    await stage.until('it is full', () => consumption.load().held === 20);
    await wait(500);
    const before = world.first.proxy.delivered;
    await wait(2000);
    expect(world.first.proxy.delivered - before).toBeLessThan(100_000);
    expect(consumption.load().pausedPartitions).toBe(2);
    stuck.open();
    await stage.until('all are handled', async () => stage.seen.names.length === 60 && (await stage.lag()) === 0);
    expect(stage.seen.deliveries).toHaveLength(60);
  }, 60_000);

  it('keeps its guarantees over a slow connection that splits the data', async () => {
    const { stage, world } = await open();
    world.first.proxy.poison({ latencyMs: 2, sliceBytes: 700 });
    await stage.consume(async () => []);
    await stage.log.publish(inputs(30));
    await stage.until('all are handled', async () => stage.seen.names.length === 30 && (await stage.lag()) === 0, 40_000);
    expect((await stage.stored(inputTopic)).map(({ event }) => sampleName(event!))).toHaveLength(30);
  }, 90_000);

  it('reads the records of one key from its partition and fetches no other partition', async () => {
    const { stage, world } = await open({ partitions: 12 });
    const text = 'x'.repeat(blobThresholdBytes / 4);
    const runs = Array.from({ length: 60 }, (_, n) => `run${n}`);
    // Twice, as an at-least-once log may contain it.
    for (const round of ['a', 'b']) await stage.log.publish(runs.map((run) => sampleInput(`${run}-${round}`, run, text)));
    const reading = async (key?: string) => {
      const before = world.first.proxy.delivered;
      const found: { readonly runId: string; readonly partition: number }[] = [];
      for await (const { event, partition } of stage.log.read(inputTopic, key === undefined ? {} : { keys: [key] }))
        found.push({ runId: event!.runId, partition });
      return { found, bytes: world.first.proxy.delivered - before };
    };
    const whole = await reading();
    expect(whole.found).toHaveLength(120);
    const largest = Math.max(...Array.from({ length: 12 }, (_, n) => whole.found.filter(({ partition }) => partition === n).length));
    for (const run of ['run0', 'run7', 'run31']) {
      const { runId } = sampleInput(run);
      const { found, bytes } = await reading(runId);
      expect(found.filter((one) => one.runId === runId)).toHaveLength(2);
      expect(new Set(found.map(({ partition }) => partition)).size).toBe(1);
      expect(found.length).toBeLessThanOrEqual(largest);
      expect(bytes).toBeLessThan((whole.bytes * (largest + 2)) / 120);
    }
    // A key that was never written still maps to a partition.
    expect((await reading('run_never')).found.every(({ runId }) => runId !== 'run_never')).toBe(true);
  }, 60_000);

  it('reads the records of a time range and fetches no others', async () => {
    const { stage, world } = await open({ partitions: 4 });
    const text = 'x'.repeat(blobThresholdBytes / 4);
    const publish = async (round: string) => {
      // By the broker's clock, which is that of this machine.
      await stage.until('the next millisecond', async () => Date.now() > (await lastAppended()));
      await stage.log.publish(Array.from({ length: 40 }, (_, n) => sampleInput(`${round}-${n}`, `run-${round}-${n}`, text)));
    };
    const lastAppended = async () => Math.max(0, ...(await stage.stored(inputTopic)).map(({ appendedAt }) => appendedAt));
    for (const round of ['before', 'during', 'after']) await publish(round);
    const times = (await stage.stored(inputTopic))
      .filter(({ event }) => sampleName(event!).startsWith('during'))
      .map(({ appendedAt }) => appendedAt);
    const reading = async (range: ReadRange) => {
      const before = world.first.proxy.delivered;
      const names: string[] = [];
      for await (const { event } of stage.log.read(inputTopic, range)) names.push(sampleName(event!).split('-')[0]!);
      return { rounds: [...new Set(names)].sort(), found: names.length, bytes: world.first.proxy.delivered - before };
    };
    const whole = await reading({});
    expect(whole).toMatchObject({ rounds: ['after', 'before', 'during'], found: 120 });
    const [since, until] = [Math.min(...times), Math.max(...times)];
    expect(await reading({ since, until })).toMatchObject({ rounds: ['during'], found: 40 });
    const newest = await reading({ since: until + 1 });
    expect(newest).toMatchObject({ rounds: ['after'], found: 40 });
    expect(newest.bytes).toBeLessThan(whole.bytes / 2);
    expect(await reading({ since })).toMatchObject({ rounds: ['after', 'during'], found: 80 });
    expect(await reading({ until })).toMatchObject({ rounds: ['before', 'during'], found: 80 });
    expect(await reading({ since: until + 3_600_000 })).toMatchObject({ found: 0 });
    expect(await reading({ until: since - 3_600_000 })).toMatchObject({ found: 0 });
    const mine = await reading({ keys: ['run-during-3', 'run-after-3'].map((run) => sampleInput('x', run).runId), since, until });
    expect(mine.rounds).toEqual(['during']);
    expect(mine.found).toBeLessThan(40);
  }, 60_000);

  it('reports the committed positions: those of finished records, unless a test commits them at hand-over', async () => {
    for (const commitsAtHandOver of [false, true]) {
      const committed: string[] = [];
      const hooks = {
        committed: (_group: string, positions: readonly { readonly offset: string }[]) =>
          void committed.push(...positions.map(({ offset }) => offset)),
      };
      const { stage } = await open({ partitions: 1, options: { commitsAtHandOver, hooks } });
      const stuck = stage.gate();
      await stage.consume(async (_delivery, name) => (name === 'n2' ? await stuck.passed : undefined, []));
      await stage.log.publish(inputs(5));
      await stage.until(
        'all are in hand and what may be committed is',
        async () => stage.seen.names.length === 5 && (await stage.lag()) === (commitsAtHandOver ? 0 : 3),
      );
      expect(committed.at(-1)).toBe(commitsAtHandOver ? '5' : '2');
      stuck.open();
      await stage.until('all is committed', () => committed.at(-1) === '5');
      await stage.end();
    }
    stage = null;
  }, 90_000);
});
