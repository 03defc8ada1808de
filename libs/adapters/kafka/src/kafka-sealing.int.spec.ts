import { randomBytes } from 'node:crypto';
import { CommandIssued, type Event, PlanRequested } from '@conclave/contracts';
import { blobThresholdBytes, isErased, MemoryBlobs, MemorySealKeys, RunSeals, type StoredRecord } from '@conclave/ports';
import { newRunId, nthInput, sampleHeader } from '@conclave/ports/suites';
import { until } from '@conclave/test-support';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openWorld, type KafkaWorld } from './__fixtures__/world.js';

const canary = 'xylophonequince';
const topics = [PlanRequested.topic, CommandIssued.topic];

/** Records of a topic are permanent; the key of a run is not. */
describe('sealed records on Kafka', () => {
  let world: KafkaWorld;
  const keys = new MemorySealKeys();
  const master = randomBytes(32);
  const blobs = new MemoryBlobs();
  const sealing = () => ({ seals: new RunSeals(keys, [master]), blobs });
  beforeEach(async () => {
    world = await openWorld({ topics, partitions: 2, options: { blobs } });
  }, 60_000);
  afterEach(() => world.dispose(), 60_000);

  const stored = async ({ log }: Awaited<ReturnType<KafkaWorld['start']>>): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    for (const topic of topics) for await (const record of log.read(topic)) records.push(record);
    return records;
  };

  it('show nothing to a reader of the topic; every process with the key handles them, and none without it', async () => {
    const [one, two] = [await world.start(sealing()), await world.start(sealing())];
    const runId = newRunId();
    const events: Event[] = [sampleHeader(runId, 'acme', canary), sampleHeader(newRunId(), 'acme', canary.repeat(blobThresholdBytes))];
    await one.log.publish(events);
    for (const { event, raw } of await stored(two)) {
      expect(events).toContainEqual(event);
      expect(raw.toString('latin1')).not.toContain(canary);
    }
    await expect(stored(world.first)).rejects.toMatchObject({ code: 'SEAL_KEY_MISSING' });
    const handled: Event[] = [];
    const handle = async ({ event }: { readonly event: Event }) => (handled.push(event), []);
    const without = await world.first.log.subscribe({ group: 'g', topics, concurrency: 4, handle });
    await until('the process without the key pauses', () => without.health() !== null, { timeoutMs: 20_000 });
    expect(handled).toEqual([]);
    await without.close();
    await two.log.subscribe({ group: 'g', topics, concurrency: 4, handle });
    await until('both are handled', () => new Set(handled.map(({ id }) => id)).size === 2, { timeoutMs: 20_000 });
  }, 90_000);

  it('are lost for everyone once their run is erased: read as erased, and finished without a handler or a dead letter', async () => {
    const [one, two] = [await world.start(sealing()), await world.start(sealing())];
    const [gone, stays] = [newRunId(), newRunId()];
    await one.log.publish([sampleHeader(gone, 'acme', canary), nthInput(gone, 1), sampleHeader(stays)]);
    expect([await one.log.erase(gone), await one.log.erase(gone)]).toEqual(['gone', 'gone']);
    await two.log.publish([nthInput(gone, 2)]);
    const records = await stored(two);
    expect(records.filter((record) => isErased(record)).map(({ headers }) => headers['ce_id'])).toEqual([
      gone,
      nthInput(gone, 1).id,
      nthInput(gone, 2).id,
    ]);
    expect(records.flatMap(({ event }) => event?.id ?? [])).toEqual([stays]);
    const handled: string[] = [];
    await two.log.subscribe({ group: 'g', topics, concurrency: 4, handle: async ({ event }) => (handled.push(event.id), []) });
    await until('nothing is left', async () => (await two.log.lag('g')).every((lag) => lag.records === 0) && handled.length > 0, {
      timeoutMs: 20_000,
    });
    expect(handled).toEqual([stays]);
    for await (const letter of two.log.read('dead')) expect(letter).toBeUndefined();
  }, 90_000);

  it('can still be read after the master key was rotated, by processes that have both keys', async () => {
    const next = randomBytes(32);
    const rotated = () => ({ seals: new RunSeals(keys, [next, master]), blobs });
    const [before, after] = [await world.start(sealing()), await world.start(rotated())];
    const [old, fresh] = [newRunId(), newRunId()];
    await before.log.publish([sampleHeader(old, 'acme', canary)]);
    await after.log.publish([nthInput(old, 1), sampleHeader(fresh, 'acme', canary)]);
    expect((await stored(after)).map(({ event }) => event?.id).sort()).toEqual([old, nthInput(old, 1).id, fresh].sort());
    await expect(stored(before)).rejects.toMatchObject({ code: 'SEAL_KEY_MISSING' });
  }, 90_000);

  it('of a run that began without a key stay readable, and this is reported', async () => {
    const runId = newRunId();
    await world.first.log.publish([sampleHeader(runId, 'acme', canary)]);
    const sealed = await world.start(sealing());
    await sealed.log.publish([nthInput(runId, 1)]);
    expect(await sealed.log.erase(runId)).toBe('kept');
    expect((await stored(sealed)).filter(({ event }) => event !== null)).toHaveLength(2);
  }, 90_000);
});
