import { randomBytes } from 'node:crypto';
import { CallRecorded, Failure, isOutage, ownEvent, SettingChanged, type Event } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { blobThresholdBytes } from '../blobs/blobs.js';
import { MemoryBlobs } from '../blobs/memory-blobs.js';
import { nthInput, sampleHeader } from '../state/__fixtures__/samples.js';
import { newRunId } from '../state/__fixtures__/store-harness.js';
import { MemorySealKeys } from './memory-seal-keys.js';
import { decodeRecord, isErased, type EncodedRecord, type RawRecord } from './record.js';
import { describeSealKeys } from './seal-keys.contract.js';
import { RunSeals, masterKeysOf } from './seals.js';

describeSealKeys('MemorySealKeys', async () => {
  const keys = new MemorySealKeys();
  return { keys, another: async () => keys, dispose: async () => undefined };
});

const master = randomBytes(32);
const read = (record: EncodedRecord): RawRecord => ({ ...record, partition: 0, offset: '0', appendedAt: 0 });

describe('sealed records', () => {
  const world = (canary = 'canary') => {
    const keys = new MemorySealKeys();
    const blobs = new MemoryBlobs();
    const runId = newRunId();
    const request = sampleHeader(runId, 'acme', canary);
    return { keys, blobs, runId, request, seals: new RunSeals(keys, [master]) };
  };

  it.each([
    ['small', 'canary'],
    ['large', 'canary'.repeat(blobThresholdBytes)],
  ])('of a %s body show none of it, and are read by every process with the master key', async (_size, text) => {
    const { keys, blobs, request, seals } = world(text);
    const record = await seals.encode(request, blobs);
    expect(record.raw.toString('latin1')).not.toContain('canary');
    const isLarge = record.headers['ce_dataref'] !== undefined;
    if (isLarge) expect((await blobs.get(JSON.parse(record.raw.toString()) as never)).toString('latin1')).not.toContain('canary');
    expect(await decodeRecord(read(record), blobs, new RunSeals(keys, [master]))).toEqual(request);
  });

  it('cannot be read without the master key, which is an outage and not a fault of the record', async () => {
    const { keys, blobs, request, seals } = world();
    const record = read(await seals.encode(request, blobs));
    const missing = { code: 'SEAL_KEY_MISSING' };
    expect(isOutage(new Failure('SEAL_KEY_MISSING'))).toBe(true);
    await expect(decodeRecord(record, blobs)).rejects.toMatchObject(missing);
    await expect(decodeRecord(record, blobs, new RunSeals(keys, [randomBytes(32)]))).rejects.toMatchObject(missing);
  });

  it('are erased for everybody when the key of their run is destroyed, child runs included, and so are records that still arrive', async () => {
    const { keys, blobs, runId, request, seals } = world();
    const child = { ...sampleHeader(`${runId}~0.t1`, 'acme', 'canary') };
    const records = [await seals.encode(request, blobs), await seals.encode(nthInput(runId, 1), blobs), await seals.encode(child, blobs)];
    expect(await seals.destroy(runId)).toBe(true);
    for (const one of [seals, new RunSeals(keys, [master])]) {
      for (const record of records) await expect(decodeRecord(read(record), blobs, one)).rejects.toMatchObject({ code: 'EVENT_ERASED' });
      const late = await one.encode(nthInput(runId, 2), blobs);
      expect([isErased(late), late.raw.toString().includes('pause')]).toEqual([true, false]);
    }
  });

  it('are all records of a run or none: if its request has no key, its other records are not sealed either', async () => {
    const { blobs, runId, seals } = world();
    const record = await seals.encode(nthInput(runId, 1), blobs);
    expect(record.headers).not.toHaveProperty('ce_sealed');
    expect(await seals.destroy(runId)).toBe(false);
  });

  it('do not include records that belong to no run', async () => {
    const { blobs, runId, seals } = world();
    const at = { id: 'x', runId, source: 'gateway', time: 1 } as const;
    const changed = { setting: 's', actor: 'a', before: null, after: null, version: 1, changedAt: 1 };
    const others: Event[] = [ownEvent(SettingChanged, at, changed), { ...nthInput(runId, 1), type: CallRecorded.type, source: 'gateway' }];
    await seals.encode(sampleHeader(runId), blobs);
    for (const event of others) expect((await seals.encode(event, blobs)).headers).not.toHaveProperty('ce_sealed');
  });

  it('cannot be changed, nor used in place of another record', async () => {
    const { blobs, runId, request, seals } = world();
    await seals.encode(request, blobs);
    const record = read(await seals.encode(nthInput(runId, 1), blobs));
    const changed = Buffer.from(record.raw!);
    changed[changed.length - 1]! ^= 1;
    const other = { ...record, headers: { ...record.headers, ce_id: `${runId}/command/2` } };
    for (const one of [{ ...record, raw: changed }, { ...record, raw: Buffer.alloc(3) }, other])
      await expect(decodeRecord(one, blobs, seals)).rejects.toMatchObject({ code: 'EVENT_UNDECODABLE' });
  });

  it('are read with a former master key, and sealed with the first one', async () => {
    const { keys, blobs, request } = world();
    const former = randomBytes(32);
    const old = await new RunSeals(keys, [former]).encode(request, blobs);
    const rotated = new RunSeals(keys, [master, former]);
    expect(await decodeRecord(read(old), blobs, rotated)).toEqual(request);
    // A run that began before the rotation keeps its key, whichever process writes its later records.
    const later = nthInput(request.runId, 1);
    const sealed = await rotated.encode(later, blobs);
    expect(await decodeRecord(read(sealed), blobs, new RunSeals(keys, [former]))).toEqual(later);
    const fresh = sampleHeader(newRunId(), 'acme', 'canary');
    const record = read(await rotated.encode(fresh, blobs));
    expect(await decodeRecord(record, blobs, new RunSeals(keys, [master]))).toEqual(fresh);
    await expect(decodeRecord(record, blobs, new RunSeals(keys, [former]))).rejects.toMatchObject({ code: 'SEAL_KEY_MISSING' });
    // Without the former key, the keys that it has wrapped cannot be read, and that is an outage.
    await expect(decodeRecord(read(old), blobs, new RunSeals(keys, [master]))).rejects.toMatchObject({ code: 'SEAL_KEY_MISSING' });
  });

  it('read the key of a run once per process', async () => {
    const { keys, blobs, runId, request } = world();
    let asked = 0;
    const counted = {
      read: (id: string) => (asked++, keys.read(id)),
      keep: (id: string, offer: string) => (asked++, keys.keep(id, offer)),
      destroy: (id: string) => keys.destroy(id),
    };
    const seals = new RunSeals(counted, [master]);
    const records = [await seals.encode(request, blobs), await seals.encode(nthInput(runId, 1), blobs)];
    for (const record of records) await decodeRecord(read(record), blobs, seals);
    expect(asked).toBe(1);
  });
});

describe('a master key', () => {
  it.each([master.toString('base64'), `${master.toString('hex')}\n`, master.toString('base64url')])(
    'is read from 32 bytes as text: %s',
    (text) => expect(masterKeysOf(text)).toEqual([master]),
  );
  it('may be followed by former ones, on separate lines or after commas', () => {
    const former = randomBytes(32);
    const [hex, base64] = [former.toString('hex'), master.toString('base64')];
    for (const text of [`${base64}\n${hex}\n`, `${base64}, ${hex}`, ` ${base64}\r\n\r\n${hex}`])
      expect(masterKeysOf(text)).toEqual([master, former]);
    for (const text of [`${base64}\n${base64}`, `${base64}\nsecret`]) expect(masterKeysOf(text)).toBeNull();
  });
  it.each(['', 'secret', 'a'.repeat(32), randomBytes(16).toString('base64')])('is not %p', (text) => expect(masterKeysOf(text)).toBeNull());
});
