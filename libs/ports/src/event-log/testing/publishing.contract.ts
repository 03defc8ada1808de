import { expect } from '@jest/globals';
import { blobThresholdBytes } from '../../blobs/blobs.js';
import type { LogPromise } from './event-log-world.js';
import { inputTopic, sampleInput, sampleName } from './sample-events.js';

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

export const publishingPromises: readonly LogPromise[] = [
  {
    sentence: 'has stored what it acknowledged, even if the process dies right afterwards',
    async test(stage) {
      const event = { ...sampleInput('kept'), traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
      await stage.log.publish([event]);
      await stage.world.crash(stage.log);
      const [record, ...others] = await stage.stored(inputTopic, await stage.world.another());
      expect(others).toEqual([]);
      expect(record!.event).toEqual(event);
    },
  },
  {
    sentence: 'has the CloudEvents attributes as headers and the data as JSON',
    async test(stage) {
      const event = sampleInput('open');
      const before = Date.now();
      await stage.log.publish([event]);
      const [record] = await stage.stored(inputTopic);
      expect(record!.headers).toMatchObject({
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_type: event.type,
        ce_source: event.source,
        ce_time: new Date(event.time).toISOString(),
        ce_partitionkey: event.key,
        ce_runid: event.runId,
        'content-type': 'application/json',
      });
      expect(JSON.parse(record!.raw.toString())).toEqual(event.data);
      expect(Math.abs(record!.appendedAt - before)).toBeLessThan(60_000);
    },
  },
  {
    sentence: 'sends bodies above 64 KB by reference',
    async test(stage) {
      const text = 'ä'.repeat(blobThresholdBytes);
      let received: unknown;
      await stage.consume(async ({ event }) => {
        received = event.data;
        return [];
      });
      await stage.log.publish([sampleInput('large', 'large', text), sampleInput('small')]);
      await stage.until('both are handled', () => stage.seen.names.length === 2);
      expect(received).toBeDefined();
      const stored = await stage.stored(inputTopic);
      const large = stored.find(({ event }) => sampleName(event!) === 'large')!;
      expect(large.raw.byteLength).toBeLessThan(1000);
      expect(large.headers['ce_dataref']).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect((large.event!.data as { text: string }).text).toBe(text);
      expect(stored.find(({ event }) => sampleName(event!) === 'small')!.headers).not.toHaveProperty('ce_dataref');
    },
  },
  {
    sentence: 'accepts many events at once and in parallel',
    async test(stage) {
      const batches = names('batch', 10).map((batch) => names(`${batch}-`, 50).map((name) => sampleInput(name)));
      await Promise.all(batches.map((batch) => stage.log.publish(batch)));
      await stage.log.publish([]);
      const stored = new Set((await stage.stored(inputTopic)).map(({ event }) => event!.id));
      expect(stored).toEqual(new Set(batches.flat().map(({ id }) => id)));
    },
  },
  {
    sentence: 'tolerates the same event published twice',
    async test(stage) {
      const event = sampleInput('twice');
      await stage.log.publish([event]);
      await stage.log.publish([event, sampleInput('after')]);
      await stage.consume(async () => []);
      await stage.until('both were handled', async () => stage.seen.names.length === 2 && (await stage.lag()) === 0);
      expect(new Set((await stage.stored(inputTopic)).map((record) => record.event!.id)).size).toBe(2);
      expect(await stage.dead()).toEqual([]);
    },
  },
  {
    sentence: 'reads a topic to its present end, including records that are not events',
    async test(stage) {
      await stage.log.publish([sampleInput('good')]);
      await stage.world.publishRaw({ topic: inputTopic, key: 'bad', headers: { why: 'test' }, raw: Buffer.from('not JSON') });
      const stored = await stage.stored(inputTopic);
      expect(stored).toHaveLength(2);
      const bad = stored.find(({ event }) => event === null)!;
      expect(bad.raw.toString()).toBe('not JSON');
      expect(bad.headers).toMatchObject({ why: 'test' });
    },
  },
  {
    sentence: 'keeps the mark that says which state store belongs to it',
    async test(stage) {
      expect(await stage.log.identity.read()).toBeNull();
      await stage.log.identity.write({ storeId: 'store-a', generation: 1 });
      await stage.log.identity.write({ storeId: 'store-a', generation: 2 });
      await stage.world.crash(stage.log);
      expect(await (await stage.world.another()).identity.read()).toEqual({ storeId: 'store-a', generation: 2 });
    },
  },
  {
    sentence: 'loses nothing it acknowledged when connections are cut in the middle of sends',
    async test(stage) {
      const acknowledged = new Set<string>();
      let sending = true;
      const senders = names('sender', 20).map(async (sender) => {
        for (let n = 0; sending; n += 1) {
          const event = sampleInput(`${sender}-${n}`);
          // A failed send may or may not be stored; only acknowledged events are promised.
          const stored = await stage.log.publish([event]).then(
            () => true,
            () => false,
          );
          if (stored) acknowledged.add(event.id);
        }
      });
      for (let cut = 0; cut < 12; cut += 1) {
        const enough = acknowledged.size + 100;
        await stage.until('a hundred more are acknowledged', () => acknowledged.size >= enough, stage.patienceMs * 2);
        stage.world.interrupt!();
      }
      sending = false;
      await Promise.all(senders);
      const stored = new Set((await stage.stored(inputTopic)).map(({ event }) => event!.id));
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
      expect(acknowledged.size).toBeGreaterThan(1000);
    },
  },
];
