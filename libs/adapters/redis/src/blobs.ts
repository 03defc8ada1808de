import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { BlobRef, Blobs } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { takeRoom } from './scripts/blobs.js';

const mebibyte = 1024 * 1024;

const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** Bodies by hash. Each put restarts their retention. A quota for all bodies keeps them from using up the memory of runs. */
export class RedisBlobs implements Blobs {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttlMs: number,
    private readonly quotaBytes: number,
  ) {}

  async put(body: Buffer): Promise<BlobRef> {
    const ref = { sha256: hashOf(body), bytes: body.byteLength };
    const { connection, keys } = this;
    const parameters = [`${ref.sha256}:${ref.bytes}`, ref.bytes, this.ttlMs, this.quotaBytes];
    if ((await connection.run(keys.common, takeRoom, [keys.bodies, keys.bodyBytes], parameters)) === 0)
      throw new Failure(
        'STORE_FULL',
        `Stored bodies have reached their ${Math.floor(this.quotaBytes / mebibyte)} MB (\`stores.redis.blob_quota_mb\`).`,
      );
    const key = this.keys.blob(ref.sha256);
    await this.connection.write('put blob', key, (redis) => redis.set(key, body, 'PX', this.ttlMs));
    return ref;
  }

  async get(ref: BlobRef): Promise<Buffer> {
    const body = await this.connection.send('get blob', (redis) => redis.getBuffer(this.keys.blob(ref.sha256)));
    const context = { sha256: ref.sha256 };
    if (body === null) throw new Failure('BLOB_MISSING', undefined, { context });
    if (body.byteLength !== ref.bytes || hashOf(body) !== ref.sha256) throw new Failure('BLOB_CORRUPT', undefined, { context });
    return body;
  }
}
