import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Event } from '@conclave/contracts';
import { blobThresholdBytes } from '../blobs/blobs.js';
import { MemoryBlobs } from '../blobs/memory-blobs.js';
import { decodeRecord, deadRecord, encodeEvent, type RawRecord } from './record.js';
import { sampleInput, sampleOutput } from './testing/sample-events.js';

const blobs = new MemoryBlobs();
const stored = async (event: Event): Promise<RawRecord> => ({
  ...(await encodeEvent(event, blobs)),
  partition: 3,
  offset: '7',
  appendedAt: 1,
});

describe('an event as a record', () => {
  it('can be read back unchanged, whatever its text and length', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), fc.constantFrom(1, 2000, blobThresholdBytes), async (text, times) => {
        const event = sampleInput('any', 'any', text.repeat(times));
        expect(await decodeRecord(await stored(event), blobs)).toEqual(event);
      }),
      { numRuns: 50 },
    );
  });

  it('contains its body up to 64 KB and a reference above that', async () => {
    const overhead = (await stored(sampleInput('a', 'a', ''))).raw!.byteLength;
    const largest = await stored(sampleInput('a', 'a', 'x'.repeat(blobThresholdBytes - overhead)));
    const larger = await stored(sampleInput('a', 'a', 'x'.repeat(blobThresholdBytes - overhead + 1)));
    expect(largest.raw).toHaveLength(blobThresholdBytes);
    expect(largest.headers).not.toHaveProperty('ce_dataref');
    expect(larger.raw!.byteLength).toBeLessThan(200);
    expect(larger.headers['ce_dataref']).toBe(`sha256:${(JSON.parse(larger.raw!.toString()) as { sha256: string }).sha256}`);
  });

  it('may contain fields that are unknown today', async () => {
    const event = sampleInput('later');
    const record = await stored(event);
    const raw = Buffer.from(JSON.stringify({ ...(event.data as object), mood: 'sunny' }));
    expect(await decodeRecord({ ...record, raw, headers: { ...record.headers, ce_mood: 'sunny' } }, blobs)).toEqual(event);
  });

  it('keeps the trace context of its sender', async () => {
    const event = { ...sampleOutput('traced'), traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    expect((await stored(event)).headers['traceparent']).toBe(event.traceparent);
    expect(await decodeRecord(await stored(event), blobs)).toEqual(event);
  });

  it('stays readable as a dead letter, as the event of its own topic', async () => {
    const event = sampleInput('dead');
    const record = await stored(event);
    const letter = deadRecord(record, { group: 'g', reason: 'failed', attempts: 5, time: 0 });
    expect(await decodeRecord({ ...record, ...letter, topic: 'dead' }, blobs)).toEqual(event);
  });

  it('cannot be read when its stored body is corrupt, and waits for a stored body that is missing', async () => {
    const own = new MemoryBlobs();
    const encoded = await encodeEvent(sampleInput('a', 'a', 'x'.repeat(blobThresholdBytes)), own);
    const record = { ...encoded, partition: 0, offset: '0', appendedAt: 0 };
    await expect(decodeRecord(record, new MemoryBlobs())).rejects.toMatchObject({ code: 'BLOB_MISSING' });
    own.corrupt(JSON.parse(encoded.raw.toString()) as { sha256: string; bytes: number });
    await expect(decodeRecord(record, own)).rejects.toMatchObject({ code: 'EVENT_UNDECODABLE' });
  });

  it('cannot be made from data without a JSON form', async () => {
    const event = { ...sampleInput('a'), data: { loop: null as unknown } };
    event.data.loop = event.data;
    await expect(encodeEvent(event, blobs)).rejects.toMatchObject({ code: 'EVENT_UNDECODABLE' });
    await expect(encodeEvent({ ...event, data: undefined }, blobs)).rejects.toMatchObject({ code: 'EVENT_UNDECODABLE' });
  });

  it('reports what is wrong with it, but not its content', async () => {
    const record = await stored(sampleInput('a'));
    const raw = Buffer.from(JSON.stringify({ kind: 'document', text: 'a secret', tenant: 7 }));
    const failure = await decodeRecord({ ...record, raw }, blobs).catch((error: Error) => error);
    expect((failure as Error).message).toContain('tenant');
    expect((failure as Error).message).not.toContain('secret');
  });
});
