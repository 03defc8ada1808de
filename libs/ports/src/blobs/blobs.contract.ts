import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BlobRef, Blobs } from './blobs.js';

export interface BlobsWorld {
  readonly blobs: Blobs;
  /** The same store, opened by another process. */
  another(): Promise<Blobs>;
  /** Changes the stored bytes without changing their hash. */
  corrupt(ref: BlobRef): Promise<void>;
  dispose(): Promise<void>;
}

export function describeBlobs(name: string, open: () => Promise<BlobsWorld>): void {
  describe(`${name} keeps blobs`, () => {
    let world: BlobsWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());

    it('returns the bytes that were put, in every process', async () => {
      const body = randomBytes(300_000);
      const ref = await world.blobs.put(body);
      expect((await (await world.another()).get(ref)).equals(body)).toBe(true);
    });

    it('names a body by its SHA-256 and its length', async () => {
      const body = Buffer.from('the same words');
      expect(await world.blobs.put(body)).toEqual({ sha256: createHash('sha256').update(body).digest('hex'), bytes: body.byteLength });
    });

    it('keeps one copy of equal bodies', async () => {
      const body = randomBytes(1000);
      expect(await world.blobs.put(body)).toEqual(await world.blobs.put(Buffer.from(body)));
    });

    it('keeps an empty body', async () => {
      const ref = await world.blobs.put(Buffer.alloc(0));
      expect(await world.blobs.get(ref)).toHaveLength(0);
    });

    it('throws BLOB_MISSING for a body that was never put', async () => {
      await expect(world.blobs.get({ sha256: 'ab'.repeat(32), bytes: 3 })).rejects.toMatchObject({ code: 'BLOB_MISSING' });
    });

    it('says BLOB_CORRUPT for a body that does not match its hash', async () => {
      const ref = await world.blobs.put(randomBytes(1000));
      await world.corrupt(ref);
      await expect(world.blobs.get(ref)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
    });

    it('is not affected if the caller changes its buffer afterwards', async () => {
      const body = Buffer.from('before');
      const ref = await world.blobs.put(body);
      body.write('after!');
      expect((await world.blobs.get(ref)).toString()).toBe('before');
    });
  });
}
