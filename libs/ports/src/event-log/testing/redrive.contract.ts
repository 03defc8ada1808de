import { expect } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import { DeadLetters } from '../dead-letters.js';
import type { LogPromise } from './event-log-world.js';
import type { Delivery } from '../event-log.js';
import type { Stage } from './event-log-world.js';
import { inputTopic, sampleInput, sampleName } from './sample-events.js';

const quickly = { attempts: 2, backoffMs: 20, maxBackoffMs: 100 };
const lettersOf = (stage: Stage) => new DeadLetters({ log: stage.log, topics: [inputTopic] });
const open = (stage: Stage) => lettersOf(stage).list({}, { limit: 100 });
const by = { actor: 'somebody' };
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => (error as Failure).code,
  );

/** Two groups that read the same topic; the first cannot handle `bad` until it is `mended`. */
async function twoGroups(stage: Stage) {
  const world = { mended: false, first: [] as Delivery[], second: [] as Delivery[] };
  const other = `${stage.group}-other`;
  await stage.consume(
    async (delivery, name) => {
      world.first.push(delivery);
      if (name === 'bad' && !world.mended) throw new Error('no place for it');
      return [];
    },
    { retry: quickly },
  );
  await stage.consume(async (delivery) => (world.second.push(delivery), []), { group: other, member: 'other' });
  const settled = async () =>
    [...(await stage.log.lag(stage.group)), ...(await stage.log.lag(other))].every(({ records }) => records === 0);
  return { world, other, settled };
}

export const redrivePromises: readonly LogPromise[] = [
  {
    sentence: 're-drives a dead letter to the group that failed and to no other, counted anew, under the same event id',
    async test(stage) {
      const { world, settled } = await twoGroups(stage);
      const event = sampleInput('bad');
      await stage.log.publish([event, sampleInput('good')]);
      await stage.until('it is put aside', async () => (await open(stage)).total === 1 && (await settled()));
      const [letter] = (await open(stage)).data;
      expect(letter).toMatchObject({
        topic: inputTopic,
        group: stage.group,
        reason: 'failed',
        attempts: 2,
        eventId: event.id,
        settled: null,
      });
      expect(letter!.error).toContain('no place for it');
      const before = { first: world.first.length, second: world.second.length };
      world.mended = true;
      expect(await lettersOf(stage).redrive(letter!.id, by)).toMatchObject({
        letter: { id: letter!.id, settled: { action: 'redriven', actor: 'somebody' } },
      });
      await stage.until('its group has handled it', () => world.first.length === before.first + 1);
      await stage.until('both groups are through', settled);
      expect(world.first.at(-1)).toMatchObject({ attempt: 1, event: { id: event.id, data: event.data, topic: inputTopic } });
      // The record after it shows that the other group has skipped it.
      await stage.log.publish([sampleInput('behind', 'bad')]);
      await stage.until('what came later is handled by both', () => world.second.some(({ event: seen }) => sampleName(seen) === 'behind'));
      await stage.until('both groups are through again', settled);
      expect(world.second).toHaveLength(before.second + 1);
      expect((await open(stage)).total).toBe(0);
    },
  },
  {
    sentence:
      'shows a settled letter only when asked, refuses a second re-drive unless it is asked for again, and keeps that over a restart',
    async test(stage) {
      const { world, settled } = await twoGroups(stage);
      await stage.log.publish([sampleInput('bad')]);
      await stage.until('it is put aside', async () => (await open(stage)).total === 1 && (await settled()));
      const { id } = (await open(stage)).data[0]!;
      world.mended = true;
      await lettersOf(stage).redrive(id, { ...by, note: 'mended' });
      const later = new DeadLetters({ log: await stage.world.another() });
      expect(await codeOf(later.redrive(id, by))).toBe('DEAD_LETTER_SETTLED');
      expect(await codeOf(later.discard(id, by))).toBe('DEAD_LETTER_SETTLED');
      expect((await later.list({}, { limit: 10 })).data).toEqual([]);
      expect((await later.list({ all: true }, { limit: 10 })).data).toMatchObject([
        { id, settled: { action: 'redriven', actor: 'somebody', note: 'mended' } },
      ]);
      await later.redrive(id, { ...by, again: true });
      await stage.until('it came twice', () => world.first.filter(({ attempt }) => attempt === 1).length === 3);
      expect((await later.show(id)).settlements).toHaveLength(2);
      expect(await codeOf(later.show('0-999999'))).toBe('DEAD_LETTER_NOT_FOUND');
    },
  },
  {
    sentence: 're-drives bytes that are no event as they are, and makes a letter of them again',
    async test(stage) {
      const { settled } = await twoGroups(stage);
      const raw = Buffer.from([0x7b, 0xff, 0x00, 0x22]);
      await stage.world.publishRaw({ topic: inputTopic, key: 'json', headers: { why: 'test' }, raw });
      await stage.until('both groups put it aside', async () => (await open(stage)).total === 2 && (await settled()));
      const letter = (await open(stage)).data.find(({ group }) => group === stage.group)!;
      const view = await lettersOf(stage).show(letter.id);
      expect(Buffer.from(view.raw.base64, 'base64').equals(raw)).toBe(true);
      expect(view.raw.text).toBeNull();
      await lettersOf(stage).redrive(letter.id, by);
      await stage.until('it is put aside again, by its own group', async () => {
        const { data } = await open(stage);
        return data.some(({ redriveOf }) => redriveOf === letter.id) && (await settled());
      });
      const again = (await open(stage)).data.filter(({ redriveOf }) => redriveOf !== null);
      expect(again).toMatchObject([{ group: stage.group, reason: 'undecodable', redriveOf: letter.id }]);
      const record = (await stage.stored(inputTopic)).find(({ headers }) => headers['redrive-letter'] === letter.id)!;
      expect(record.raw.equals(raw)).toBe(true);
      expect(record.headers).toEqual({ why: 'test', 'redrive-group': stage.group, 'redrive-letter': letter.id });
      // A letter of a re-driven record is re-driven like any other, and keeps no headers of the first time.
      await lettersOf(stage).discard(again[0]!.id, { ...by, note: 'garbage' });
      expect((await open(stage)).data.map(({ id }) => id)).not.toContain(again[0]!.id);
    },
  },
];
