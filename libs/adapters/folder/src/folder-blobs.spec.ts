import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeBlobs } from '@conclave/ports/suites';
import { FolderBlobs } from './folder-blobs.js';

const dayMs = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-blobs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const fileOf = (sha256: string): string => join(folder, sha256.slice(0, 2), sha256);

describeBlobs('a folder', async () => {
  const own = mkdtempSync(join(tmpdir(), 'conclave-blobs-'));
  const another = () => FolderBlobs.open({ folder: join(own, 'made/for/it'), ttlMs: dayMs });
  const blobs = await another();
  return {
    blobs,
    another,
    corrupt: ({ sha256 }) => Promise.resolve(writeFileSync(join(own, 'made/for/it', sha256.slice(0, 2), sha256), 'something else')),
    dispose: async () => {
      await blobs.close();
      rmSync(own, { recursive: true, force: true });
    },
  };
});

describe('bodies in a folder', () => {
  it('are readable only by the user of the process, and leave no parts behind', async () => {
    const blobs = await FolderBlobs.open({ folder, ttlMs: dayMs });
    const { sha256 } = await blobs.put(Buffer.from('a body'));
    expect(statSync(fileOf(sha256)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, sha256.slice(0, 2)))).toEqual([sha256]);
    await blobs.close();
  });

  it('are removed when their retention is over, which restarts when they are put again; nothing else is removed', async () => {
    const writer = await FolderBlobs.open({ folder, ttlMs: dayMs, removes: false });
    const [old, again] = [await writer.put(Buffer.from('old')), await writer.put(Buffer.from('again'))];
    const longAgo = new Date(Date.now() - 2 * dayMs);
    for (const { sha256 } of [old, again]) utimesSync(fileOf(sha256), longAgo, longAgo);
    await writer.put(Buffer.from('again'));
    writeFileSync(`${fileOf(again.sha256)}.left.part`, 'part');
    utimesSync(`${fileOf(again.sha256)}.left.part`, longAgo, longAgo);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    utimesSync(join(folder, 'notes.txt'), longAgo, longAgo);
    const reader = await FolderBlobs.open({ folder, ttlMs: dayMs, removes: false });
    await reader.close();
    expect(existsSync(fileOf(old.sha256))).toBe(true);
    const sweeper = await FolderBlobs.open({ folder, ttlMs: dayMs });
    await sweeper.close();
    expect([old, again].map(({ sha256 }) => existsSync(fileOf(sha256)))).toEqual([false, true]);
    expect([existsSync(`${fileOf(again.sha256)}.left.part`), existsSync(join(folder, 'notes.txt'))]).toEqual([false, true]);
    await expect(writer.get(old)).rejects.toMatchObject({ code: 'BLOB_MISSING' });
  });

  it('are found only by a hash', async () => {
    const blobs = await FolderBlobs.open({ folder, ttlMs: dayMs });
    for (const sha256 of ['../../etc/passwd', '', 'AB'.repeat(32)])
      await expect(blobs.get({ sha256, bytes: 3 })).rejects.toMatchObject({ code: 'BLOB_MISSING' });
    await blobs.close();
  });

  it('cannot be opened if no folder can be created', async () => {
    for (const impossible of ['/dev/null/bodies', '/proc/bodies/a'])
      await expect(FolderBlobs.open({ folder: impossible, ttlMs: dayMs })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
