import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { BlobRef, Blobs } from './blobs.js';

/** Blobs in memory, lost when the process ends. */
export class MemoryBlobs implements Blobs {
  private readonly bodies = new Map<string, Buffer>();

  async put(body: Buffer): Promise<BlobRef> {
    const sha256 = createHash('sha256').update(body).digest('hex');
    this.bodies.set(sha256, Buffer.from(body));
    return { sha256, bytes: body.byteLength };
  }

  async get({ sha256, bytes }: BlobRef): Promise<Buffer> {
    const body = this.bodies.get(sha256);
    if (!body) throw new Failure('BLOB_MISSING', `sha256:${sha256}`);
    if (body.byteLength !== bytes || createHash('sha256').update(body).digest('hex') !== sha256) {
      throw new Failure('BLOB_CORRUPT', `sha256:${sha256}`);
    }
    return Buffer.from(body);
  }

  /** For tests of receivers: changes a stored body without changing its hash. */
  corrupt({ sha256 }: BlobRef): void {
    const body = this.bodies.get(sha256);
    if (body?.length) body[0] = body[0]! ^ 0xff;
  }
}
