import { expect } from '@jest/globals';
import type { LogPromise } from './event-log-world.js';
import { outputTopic, sampleInput, sampleName, sampleOutput } from './sample-events.js';

const inputs = (count: number) => Array.from({ length: count }, (_, n) => sampleInput(`n${n}`));

export const deliveryPromises: readonly LogPromise[] = [
  {
    sentence: 'assigns each record to one of the members of a group',
    async test(stage) {
      const second = await stage.world.another();
      await stage.consume(async () => [], { member: 'first' });
      await stage.consume(async () => [], { member: 'second', log: second });
      await stage.log.publish(inputs(60));
      await stage.until('all are handled', async () => stage.seen.names.length === 60 && (await stage.lag()) === 0);
      expect(stage.seen.deliveries).toHaveLength(60);
    },
  },
  {
    sentence: 'delivers every record to every group',
    async test(stage) {
      const members = ['red', 'green'];
      for (const member of members) await stage.consume(async () => [], { member, group: `${stage.group}-${member}` });
      await stage.log.publish(inputs(20));
      await stage.until('both groups have all', () => stage.seen.deliveries.length >= 40);
      for (const member of members) {
        expect(new Set(stage.seen.deliveries.filter((delivery) => delivery.member === member).map(({ name }) => name)).size).toBe(20);
      }
    },
  },
  {
    sentence: 'lets a new group start from the beginning',
    async test(stage) {
      await stage.log.publish(inputs(10));
      await stage.consume(async () => []);
      await stage.until('what was there before is handled', () => stage.seen.names.length === 10);
    },
  },
  {
    sentence: 'publishes what a handler returns, under the topics of the events',
    async test(stage) {
      await stage.consume(async (_delivery, name) => [sampleOutput(name)]);
      await stage.log.publish(inputs(5));
      await stage.until('all are finished', async () => stage.seen.names.length === 5 && (await stage.lag()) === 0);
      const answers = (await stage.stored(outputTopic)).map(({ event }) => sampleName(event!));
      expect([...new Set(answers)].sort()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    },
  },
  {
    sentence: 'assigns the records of a dead member to another one',
    async test(stage) {
      const stuck = stage.gate();
      await stage.consume(async () => (await stuck.passed, []), { member: 'dying' });
      await stage.log.publish(inputs(6));
      await stage.until('some are in the hands of the first member', () => stage.seen.deliveries.length > 0);
      await stage.world.crash(stage.log);
      const other = await stage.world.another();
      await stage.consume(async () => [], { member: 'heir', log: other });
      await stage.until('the heir has all', async () => (await stage.lag(other)) === 0, stage.patienceMs * 2);
      const inherited = new Set(stage.seen.deliveries.filter(({ member }) => member === 'heir').map(({ name }) => name));
      expect(inherited.size).toBe(6);
    },
  },
  {
    sentence: 'never passes an unfinished record when it records what is done',
    partitions: 1,
    async test(stage) {
      const stuck = stage.gate();
      await stage.consume(async (_delivery, name) => (name === 'n2' ? (await stuck.passed, []) : []), { member: 'dying' });
      await stage.log.publish(inputs(5));
      await stage.until('the two before the stuck one are recorded', async () => stage.seen.names.length === 5 && (await stage.lag()) <= 3);
      await stage.world.crash(stage.log);
      const other = await stage.world.another();
      await stage.consume(async () => [], { member: 'heir', log: other });
      await stage.until('the stuck one came again', async () => (await stage.lag(other)) === 0, stage.patienceMs * 2);
      const inherited = stage.seen.deliveries.filter(({ member }) => member === 'heir').map(({ name }) => name);
      expect(inherited).toContain('n2');
      expect(inherited).not.toContain('n0');
      expect(inherited).not.toContain('n1');
    },
  },
  {
    sentence: 'reports how far a group is behind, and 0 at the end',
    async test(stage) {
      const stuck = stage.gate();
      await stage.consume(async () => (await stuck.passed, []));
      await stage.log.publish(inputs(12));
      await stage.until('the first ones have begun', () => stage.seen.deliveries.length > 0);
      expect(await stage.lag()).toBe(12);
      stuck.open();
      await stage.until('nothing is left', async () => (await stage.lag()) === 0);
      expect(stage.seen.names).toHaveLength(12);
    },
  },
  {
    sentence: 'waits for running handlers when it closes, and hands back records that have not begun',
    async test(stage) {
      const { passed, open } = stage.gate();
      await stage.consume(async () => (await passed, []), { member: 'leaving', concurrency: 2 });
      await stage.log.publish(inputs(6));
      await stage.until('two are running', () => stage.seen.deliveries.length === 2);
      const running = stage.seen.names;
      const closed = stage.log.close();
      open();
      await closed;
      await stage.log.close();
      expect(stage.seen.deliveries).toHaveLength(2);
      const other = await stage.world.another();
      await stage.consume(async () => [], { member: 'heir', log: other });
      await stage.until('the rest is handled', async () => stage.seen.names.length === 6 && (await stage.lag(other)) === 0);
      for (const name of running) expect(stage.seen.times(name)).toBe(1);
      expect(await stage.dead(other)).toEqual([]);
    },
  },
  {
    sentence: 'aborts a handler that outlasts the grace period, and hands its record back without an attempt',
    async test(stage) {
      let aborted = false;
      const handle = ({ signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason as Error);
          }),
        );
      await stage.consume(handle, { member: 'leaving', graceMs: 100 });
      await stage.log.publish([sampleInput('slow')]);
      await stage.until('it runs', () => stage.seen.deliveries.length === 1);
      await stage.log.close();
      expect(aborted).toBe(true);
      await stage.consume(async () => [], { member: 'heir', log: await stage.world.another() });
      await stage.until('it came again', () => stage.seen.deliveries.length === 2);
      expect(stage.seen.deliveries[1]).toMatchObject({ name: 'slow', attempt: 1, member: 'heir' });
    },
  },
  {
    sentence: 'lets one consumption end while another continues',
    async test(stage) {
      const ending = await stage.consume(async () => [], { member: 'ending', group: `${stage.group}-ending` });
      await stage.consume(async () => [], { member: 'going on' });
      await ending.close();
      await stage.log.publish(inputs(5));
      await stage.until('the other one has all', () => stage.seen.names.length === 5);
      expect(stage.seen.deliveries.filter(({ member }) => member === 'ending')).toEqual([]);
      expect(ending.health()).not.toBeNull();
      expect(await stage.log.health()).toBeNull();
    },
  },
];
