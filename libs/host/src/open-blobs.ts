import { dirname, resolve } from 'node:path';
import { Failure } from '@conclave/contracts';
import type { Loaded } from '@conclave/platform';
import type { Blobs } from '@conclave/ports';
import { bodyMsOf, type Keep } from './cluster.js';

/**
 * Opens the store of bodies that `stores.blobs` names, otherwise returns that of the runs. Bodies that were stored before `stores.blobs`
 * was set are still read from the latter. Throws Failure STORE_UNAVAILABLE.
 *
 * @param removes Whether this process removes expired bodies.
 */
export async function openBlobs(loaded: Loaded, ofRuns: Blobs, keep: Keep, { removes = true } = {}): Promise<Blobs> {
  const { blobs } = loaded.configuration.stores;
  if (!blobs) return ofRuns;
  const { folder, s3 } = blobs;
  if (folder !== undefined) {
    const { FolderBlobs } = await import('@conclave/adapter-folder');
    const ttlMs = bodyMsOf(loaded);
    const base = loaded.file ? dirname(loaded.file) : process.cwd();
    return firstOf(keep(await FolderBlobs.open({ folder: resolve(base, folder), ttlMs, removes })), ofRuns);
  }
  const { S3Blobs } = await import('@conclave/adapter-s3');
  const { url, bucket, region, prefix } = s3!;
  const { accessKey = '', secretKey = '' } = loaded.secrets.s3;
  return firstOf(new S3Blobs({ url, bucket, region, prefix, accessKey, secretKey }), ofRuns);
}

/** Writes to the first, and reads from the second if the first does not have the body. */
const firstOf = (first: Blobs, second: Blobs): Blobs => ({
  put: (body) => first.put(body),
  get: (ref) =>
    first.get(ref).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'BLOB_MISSING') return second.get(ref);
      throw error;
    }),
});
