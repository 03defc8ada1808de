import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { BlobRef, Blobs } from '@conclave/ports';
import type { Store, Tick } from './database/database.js';
import { bytesOf } from './database/sql.js';

export class SqliteBlobs implements Blobs {
  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  put(body: Buffer): Promise<BlobRef> {
    // The write happens later in the tick; the caller may change its buffer before.
    const copy = Buffer.from(body);
    return this.database.write((tick) => putBlob(tick, copy, this.now()));
  }

  async get(ref: BlobRef): Promise<Buffer> {
    const row = this.database.read((sql) => sql.get<{ body: unknown }>('SELECT body FROM blob WHERE sha256 = ?', ref.sha256));
    if (!row) throw new Failure('BLOB_MISSING', `Its hash is ${ref.sha256}.`);
    const body = bytesOf(row.body);
    if (body.byteLength !== ref.bytes || sha256(body) !== ref.sha256)
      throw new Failure('BLOB_CORRUPT', `Its hash should be ${ref.sha256}.`);
    return body;
  }
}

/** Stores a body inside a running write. Putting a body again restarts its retention. */
export function putBlob({ sql }: Tick, body: Buffer, now: number): BlobRef {
  const ref = { sha256: sha256(body), bytes: body.byteLength };
  const known = sql.run('UPDATE blob SET at = max(at, ?) WHERE sha256 = ?', now, ref.sha256);
  if (known === 0) sql.run('INSERT INTO blob (sha256, body, at) VALUES (?, ?, ?)', ref.sha256, body, now);
  return ref;
}

const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
