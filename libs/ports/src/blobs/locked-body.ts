import { randomBytes } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import { decrypted, encrypted, keyBytes } from '../encryption.js';
import type { BlobRef, Blobs } from './blobs.js';

/**
 * A body that can be read only with its key. The key is stored in the run to which the body belongs: when the run is deleted, nobody can
 * read the body any longer, although bodies are never removed one by one.
 */
export interface LockedRef extends BlobRef {
  /** 32 bytes as base64. */
  readonly key: string;
}

/** Equal bodies have different keys and hashes. Throws as `put`. */
export async function putLocked(blobs: Pick<Blobs, 'put'>, body: Buffer): Promise<LockedRef> {
  const key = randomBytes(keyBytes);
  return { ...(await blobs.put(encrypted(key, body, Buffer.alloc(0)))), key: key.toString('base64') };
}

/** Throws as `get`, and BLOB_CORRUPT for another key. */
export async function getLocked(blobs: Pick<Blobs, 'get'>, { key, ...ref }: LockedRef): Promise<Buffer> {
  const body = decrypted(Buffer.from(key, 'base64'), await blobs.get(ref), Buffer.alloc(0));
  if (!body) throw new Failure('BLOB_CORRUPT', undefined, { context: { sha256: ref.sha256 } });
  return body;
}
