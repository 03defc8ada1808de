import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { bytesOf } from '../database/sql.js';

/** The body of a record in its row, in one of the two columns; a record without a body has neither. */
export interface StoredBody {
  readonly body: unknown;
  /** The body, deflated. */
  readonly packed: unknown;
}

/**
 * Bodies from this many bytes on are deflated. Deflating costs about 30 µs each, almost independent of the size, and a third of a run's records
 * hold two thirds of the possible savings.
 */
export const packedFromBytes = 2_200;

/** The values of the columns of a record's row. A body that does not become smaller stays as it is. */
export function storedBody(raw: Buffer | null): { readonly body: Buffer | null; readonly packed: Buffer | null } {
  if (raw === null || raw.byteLength < packedFromBytes) return { body: raw, packed: null };
  const packed = deflateRawSync(raw, { level: 1, windowBits: 13, memLevel: 5, chunkSize: 4096 });
  return packed.byteLength < raw.byteLength ? { body: null, packed } : { body: raw, packed: null };
}

/** Restores a body from its row. A body that was damaged in the file is returned unchanged, so that only its own record cannot be decoded. */
export function bodyFrom({ body, packed }: StoredBody): Buffer | null {
  if (packed === null) return body === null ? null : bytesOf(body);
  const bytes = bytesOf(packed);
  try {
    return inflateRawSync(bytes);
  } catch {
    return bytes;
  }
}
