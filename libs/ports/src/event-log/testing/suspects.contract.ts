import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { EventLog } from '../event-log.js';
import { suspectBlamedMs } from '../suspect-turns.js';
import type { LogPromise, Stage } from './event-log-world.js';
import { inputTopic, outputTopic, sampleInput, sampleName, sampleOutput } from './sample-events.js';

const innocents = ['i1', 'i2', 'i3', 'i4', 'i5'];
/** Milliseconds after which the handlers of a process that is going to die have begun all that they may begin. */
const allBegunMs = 300;

/** Names of the records that became dead letters. */
async function buried(stage: Stage, log: EventLog): Promise<string[]> {
  const inputs = await stage.stored(inputTopic, log);
  const letters = await stage.dead(log);
  return letters.map(({ headers }) => {
    const of = inputs.find(({ partition, offset }) => String(partition) === headers['dead-partition'] && offset === headers['dead-offset']);
    return sampleName(of!.event!);
  });
}

const answered = async (stage: Stage, log: EventLog) => [
  ...new Set((await stage.stored(outputTopic, log)).map(({ event }) => sampleName(event!))),
];

/** What a death of the process means for the records that ran beside the one that caused it. */
export const suspectPromises: readonly LogPromise[] = [
  {
    sentence: 'dead-letters the record that kills its process, and none of those that ran beside it',
    async test(stage) {
      await stage.log.publish(['killer', ...innocents].map((name) => sampleInput(name)));
      let log: EventLog = stage.log;
      for (let life = 1; (await stage.dead(log)).length === 0; life += 1) {
        const current = log;
        let dead = false;
        await stage.consume(
          async (_delivery, name) => {
            if (name === 'killer') {
              await delay(allBegunMs);
              dead = true;
              await stage.world.crash(current);
              await stage.gate().passed;
            }
            // Longer than the killer needs, so that all of them are under way when it kills.
            await delay(allBegunMs * 2);
            return [sampleOutput(name)];
          },
          { log: current, member: `life ${life}` },
        );
        // The process may die while it is being asked.
        const isAside = async (): Promise<boolean> => {
          try {
            return (await stage.dead(current)).length > 0;
          } catch (error) {
            if (dead) return false;
            throw error;
          }
        };
        await stage.until('it has died or put a record aside', async () => dead || (await isAside()), stage.patienceMs * 2);
        if (dead) log = await stage.world.another();
      }
      const last = log;
      await stage.until('the others are finished', async () => (await stage.lag(last)) === 0, stage.patienceMs * 2);
      expect(await buried(stage, last)).toEqual(['killer']);
      expect((await answered(stage, last)).sort()).toEqual(innocents);
    },
  },
  {
    sentence: 'dead-letters at most one record over all groups after three deaths that no record caused',
    async test(stage) {
      const groups = [stage.group, `${stage.group}-2`];
      await stage.log.publish(innocents.map((name) => sampleInput(name)));
      const doomed = new Set<string>();
      let log: EventLog = stage.log;
      const join = async (member: string) => {
        const current = log;
        for (const group of groups)
          await stage.consume(
            async (_delivery, name) => {
              if (doomed.has(member)) await stage.gate().passed;
              return [sampleOutput(`${name} ${group}`)];
            },
            { log: current, group, member },
          );
      };
      for (let death = 1; death <= 3; death += 1) {
        const member = `victim ${death}`;
        doomed.add(member);
        await join(member);
        await stage.until('it has begun', () => stage.seen.deliveries.some((seen) => seen.member === member), stage.patienceMs * 2);
        await delay(allBegunMs);
        await stage.world.crash(log);
        log = await stage.world.another();
      }
      await join('survivor');
      const left = async () => (await Promise.all(groups.map((group) => log.lag(group)))).flat();
      await stage.until('all is finished', async () => (await left()).every(({ records }) => records === 0), stage.patienceMs * 2);
      const dead = await stage.dead(log);
      expect(dead.length).toBeLessThanOrEqual(1);
      expect((await answered(stage, log)).length).toBe(innocents.length * groups.length - dead.length);
    },
  },
  {
    sentence: 'dead-letters nothing after a third death at which all handlers only waited',
    async test(stage) {
      await stage.log.publish(innocents.map((name) => sampleInput(name)));
      let log: EventLog = stage.log;
      for (let death = 1; death <= 3; death += 1) {
        const member = `victim ${death}`;
        await stage.consume(async () => (await stage.gate().passed, []), { log, member });
        const begun = () => stage.seen.deliveries.filter((seen) => seen.member === member).length;
        await stage.until('all have begun', () => begun() === innocents.length, stage.patienceMs * 2);
        if (death === 3) await delay(suspectBlamedMs * 4);
        await stage.world.crash(log);
        log = await stage.world.another();
      }
      await stage.consume(async (_delivery, name) => [sampleOutput(name)], { log, member: 'survivor' });
      await stage.until('all is finished', async () => (await stage.lag(log)) === 0, stage.patienceMs * 2);
      expect(await buried(stage, log)).toEqual([]);
      expect((await answered(stage, log)).sort()).toEqual(innocents);
    },
  },
];
