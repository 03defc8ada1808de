import { expect } from '@jest/globals';
import type { LogPromise } from './event-log-world.js';
import { sampleInput } from './sample-events.js';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const runningPromises: readonly LogPromise[] = [
  {
    sentence: 'does not let a long task delay short ones behind it, or be restarted forever by a member that joins late',
    partitions: 1,
    async test(stage) {
      const { longTaskMs, patienceMs } = stage;
      let finishedLong = 0;
      const handle = async (_delivery: unknown, name: string) => {
        await wait(name === 'long' ? longTaskMs : 50);
        if (name === 'long') finishedLong += 1;
        return [];
      };
      await stage.consume(handle, { member: 'first' });
      await stage.log.publish([sampleInput('long'), ...Array.from({ length: 25 }, (_, n) => sampleInput(`short${n}`))]);
      await stage.until('the short ones behind it are handled', () => stage.seen.names.length === 26, longTaskMs / 2);
      expect(finishedLong).toBe(0);
      const second = await stage.world.another();
      await stage.consume(handle, { member: 'late', log: second });
      await stage.log.publish(Array.from({ length: 25 }, (_, n) => sampleInput(`later${n}`)));
      await stage.until('the later ones are handled', () => stage.seen.names.length === 51, patienceMs);
      await stage.until('everything is finished', async () => (await stage.lag()) === 0, longTaskMs * 2 + patienceMs);
      expect(finishedLong).toBeGreaterThan(0);
      expect(stage.seen.times('long')).toBeLessThanOrEqual(2);
      expect(await stage.dead()).toEqual([]);
    },
  },
  {
    sentence: 'holds a bounded number of records while handlers make no progress',
    async test(stage) {
      const stuck = stage.gate();
      const consumption = await stage.consume(async () => (await stuck.passed, []));
      const total = 5000;
      let most = 0;
      for (let n = 0; n < total; n += 500) {
        await stage.log.publish(Array.from({ length: 500 }, (_, i) => sampleInput(`n${n + i}`)));
        most = Math.max(most, consumption.load().held);
      }
      await stage.until('its handlers are busy', () => consumption.load().running === 8);
      for (let look = 0; look < 20; look += 1) {
        await wait(25);
        most = Math.max(most, consumption.load().held);
      }
      expect(most).toBeGreaterThanOrEqual(8);
      expect(most).toBeLessThanOrEqual(stage.heldBound);
      stuck.open();
      await stage.until(
        'all are handled',
        async () => stage.seen.names.length === total && (await stage.lag()) === 0,
        stage.patienceMs * 4,
      );
      expect(consumption.load()).toMatchObject({ running: 0, held: 0 });
    },
  },
];
