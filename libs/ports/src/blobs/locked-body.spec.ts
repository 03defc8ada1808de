import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { getLocked, putLocked } from './locked-body.js';
import { MemoryBlobs } from './memory-blobs.js';

describe('a locked body', () => {
  const body = Buffer.from('canary'.repeat(100));

  it('is read only with its key', async () => {
    const blobs = new MemoryBlobs();
    const ref = await putLocked(blobs, body);
    expect((await blobs.get(ref)).toString('latin1')).not.toContain('canary');
    expect((await getLocked(blobs, ref)).equals(body)).toBe(true);
    const other = { ...ref, key: randomBytes(32).toString('base64') };
    await expect(getLocked(blobs, other)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  });

  it('belongs to one run: equal bodies are stored separately', async () => {
    const blobs = new MemoryBlobs();
    const [one, other] = [await putLocked(blobs, body), await putLocked(blobs, body)];
    expect([one.sha256 === other.sha256, one.key === other.key]).toEqual([false, false]);
  });
});
