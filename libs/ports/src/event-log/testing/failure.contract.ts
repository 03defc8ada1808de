import { expect } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { defer, type EventLog } from '../event-log.js';
import type { LogPromise } from './event-log-world.js';
import type { Stage } from './event-log-world.js';
import { inputTopic, outputTopic, sampleInput, sampleName, sampleOutput } from './sample-events.js';

const quickly = { backoffMs: 20, maxBackoffMs: 100 };
const answers = async (stage: Stage, log = stage.log) =>
  [...new Set((await stage.stored(outputTopic, log)).map(({ event }) => sampleName(event!)))].sort();

export const failurePromises: readonly LogPromise[] = [
  {
    sentence: 'tries a failing record again while others continue, then dead-letters it with its bytes, headers, reason and attempts',
    async test(stage) {
      const gate = stage.gate();
      await stage.consume(
        async ({ attempt }, name) => {
          if (name !== 'bad') return [];
          if (attempt === 2) await gate.passed;
          throw new Error('never works');
        },
        { retry: { ...quickly, attempts: 3 }, onDead: (event, reason) => [sampleOutput(`${sampleName(event!)} ${reason}`)] },
      );
      await stage.log.publish([sampleInput('bad'), ...Array.from({ length: 20 }, (_, n) => sampleInput(`good${n}`))]);
      await stage.until(
        'the others are handled while the failing one waits',
        () => stage.seen.names.length === 21 && stage.seen.times('bad') === 2,
      );
      gate.open();
      await stage.until('it is put aside', async () => (await stage.dead()).length === 1 && (await stage.lag()) === 0);
      const [letter] = await stage.dead();
      const original = (await stage.stored(inputTopic)).find(({ event }) => sampleName(event!) === 'bad')!;
      expect(letter!.raw.equals(original.raw)).toBe(true);
      expect(letter!.headers).toMatchObject({
        ...original.headers,
        'dead-topic': inputTopic,
        'dead-partition': String(original.partition),
        'dead-offset': original.offset,
        'dead-group': stage.group,
        'dead-reason': 'failed',
        'dead-attempts': '3',
      });
      expect(Date.parse(letter!.headers['dead-time']!)).not.toBeNaN();
      expect(stage.seen.times('bad')).toBe(3);
      expect(await answers(stage)).toEqual(['bad failed']);
    },
  },
  {
    sentence: 'dead-letters records that are not events at once, in raw bytes',
    async test(stage) {
      const { headers, raw } = await goodRecord(stage);
      const reasons: string[] = [];
      await stage.consume(async () => [], { onDead: (event, reason) => (reasons.push(`${String(event)} ${reason}`), []) });
      const broken = [
        { key: 'json', headers, raw: Buffer.from([0x7b, 0xff, 0x00, 0x22]) },
        { key: 'type', headers: { ...headers, ce_type: 'NobodyKnows' }, raw },
        { key: 'value', headers, raw: null },
        { key: 'headers', headers: {}, raw },
        { key: 'schema', headers, raw: Buffer.from('{"kind":"poem"}') },
      ];
      for (const record of broken) await stage.world.publishRaw({ topic: inputTopic, ...record });
      await stage.log.publish([sampleInput('after')]);
      await stage.until('they are put aside', async () => (await stage.dead()).length >= broken.length && (await stage.lag()) === 0);
      const letters = await stage.dead();
      expect(letters).toHaveLength(broken.length);
      expect(new Set(letters.map((letter) => letter.headers['dead-reason']))).toEqual(new Set(['undecodable']));
      expect(letters.map((letter) => letter.raw.toString('hex')).sort()).toEqual(
        broken.map((record) => (record.raw ?? Buffer.alloc(0)).toString('hex')).sort(),
      );
      expect(reasons).toEqual(broken.map(() => 'null undecodable'));
      expect(stage.seen.names).toContain('after');
    },
  },
  {
    sentence: 'dead-letters a record that killed its process three times without running it',
    async test(stage) {
      await stage.log.publish([sampleInput('deadly')]);
      let log: EventLog = stage.log;
      for (let death = 1; death <= 3; death += 1) {
        const dying = log;
        const forever = stage.gate();
        await stage.consume(
          async () => {
            await stage.world.crash(dying);
            await forever.passed;
            return [];
          },
          { log: dying, member: `victim ${death}` },
        );
        await stage.until(`it killed ${death} processes`, () => stage.seen.times('deadly') === death, stage.patienceMs * 2);
        log = await stage.world.another();
      }
      await stage.consume(async () => [], {
        log,
        member: 'survivor',
        onDead: (event, reason) => [sampleOutput(`${sampleName(event!)} ${reason}`)],
      });
      await stage.until('it is put aside', async () => (await stage.dead(log)).length === 1, stage.patienceMs * 2);
      await stage.until('it is finished', async () => (await stage.lag(log)) === 0);
      const [letter] = await stage.dead(log);
      expect(letter!.headers).toMatchObject({ 'dead-reason': 'killed_process', 'dead-attempts': '3' });
      expect(stage.seen.deliveries.filter(({ member }) => member === 'survivor')).toEqual([]);
      expect(await answers(stage, log)).toEqual(['deadly killed_process']);
    },
  },
  {
    sentence: 'survives a TypeError in a handler and continues with other records',
    async test(stage) {
      const consumption = await stage.consume(
        async (_delivery, name) => {
          if (name !== 'bug') return [];
          return (undefined as unknown as { events: [] }).events;
        },
        { retry: { ...quickly, attempts: 2 } },
      );
      await stage.log.publish([sampleInput('bug')]);
      await stage.until('it is put aside', async () => (await stage.dead()).length === 1);
      await stage.log.publish([sampleInput('later')]);
      await stage.until('a later record is handled', async () => stage.seen.names.includes('later') && (await stage.lag()) === 0);
      expect(consumption.health()).toBeNull();
    },
  },
  {
    sentence: 'dead-letters nothing while our own store does not answer, and continues afterwards',
    async test(stage) {
      const consumption = await stage.consume(async () => [], { retry: { ...quickly, attempts: 1 } });
      await stage.world.ledgerOutage.begin();
      await stage.log.publish(Array.from({ length: 30 }, (_, n) => sampleInput(`n${n}`)));
      await stage.until('it says that it waits', () => consumption.health() !== null);
      const delivered = stage.seen.deliveries.length;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      expect(stage.seen.deliveries).toHaveLength(delivered);
      await stage.world.ledgerOutage.end();
      await stage.until('all are handled', async () => stage.seen.names.length === 30 && (await stage.lag()) === 0, stage.patienceMs * 2);
      expect(await stage.dead()).toEqual([]);
      expect(consumption.health()).toBeNull();
      expect(new Set(stage.seen.deliveries.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    },
  },
  {
    sentence: 'uses no attempt for a handler that met an outage of our own stores',
    async test(stage) {
      const attempts: number[] = [];
      await stage.consume(
        async ({ attempt }) => {
          attempts.push(attempt);
          if (attempts.length <= 3) throw new Failure('STORE_UNAVAILABLE');
          return [];
        },
        { retry: { ...quickly, attempts: 2 } },
      );
      await stage.log.publish([sampleInput('unlucky')]);
      await stage.until('it is finished', async () => attempts.length === 4 && (await stage.lag()) === 0);
      expect(attempts).toEqual([1, 1, 1, 1]);
      expect(await stage.dead()).toEqual([]);
    },
  },
  {
    sentence: 'calls a deferred record again without an attempt or a slot',
    async test(stage) {
      await stage.consume(async (_delivery, name) => (name === 'busy' && stage.seen.times('busy') < 8 ? defer(50) : []), {
        concurrency: 1,
        retry: { ...quickly, attempts: 2 },
      });
      await stage.log.publish([sampleInput('busy'), sampleInput('other')]);
      await stage.until('both are finished', async () => stage.seen.times('busy') === 8 && (await stage.lag()) === 0);
      const other = stage.seen.deliveries.findIndex(({ name }) => name === 'other');
      expect(other).toBeLessThan(stage.seen.deliveries.length - 1);
      expect(new Set(stage.seen.deliveries.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      expect(await stage.dead()).toEqual([]);
    },
  },
  {
    sentence: 'keeps later records of a key waiting while the first one waits for a retry',
    async test(stage) {
      const order: string[] = [];
      await stage.consume(
        async ({ attempt }, name) => {
          if (name === '1' && attempt < 3) throw new Error('not yet');
          order.push(name);
          return [];
        },
        { retry: { ...quickly, backoffMs: 100 } },
      );
      await stage.log.publish([sampleInput('1', 'run'), sampleInput('2', 'run'), sampleInput('3', 'run'), sampleInput('free')]);
      await stage.until('all are handled', () => order.length === 4);
      expect(order.filter((name) => name !== 'free')).toEqual(['1', '2', '3']);
      expect(order.indexOf('free')).toBeLessThan(order.indexOf('1'));
    },
  },
];

async function goodRecord(stage: Stage) {
  await stage.log.publish([sampleInput('good')]);
  const [record] = await stage.stored(inputTopic);
  return record!;
}
