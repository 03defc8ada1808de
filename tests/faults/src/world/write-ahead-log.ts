import { existsSync, readFileSync } from 'node:fs';

/** Bytes of a frame before its page (https://www.sqlite.org/fileformat2.html#walformat). */
export const frameHeaderBytes = 24;
const headerBytes = 32;

/** The content of SQLite's write-ahead log, read by its file format and without SQLite. */
export interface WriteAheadLog {
  readonly bytes: Buffer;
  readonly frameBytes: number;
  /** Offsets at which a transaction ends, oldest first; the first one is before everything that may be torn. */
  readonly commits: readonly number[];
  /** Offset at which each whole frame after the first of `commits` begins. */
  readonly frames: readonly number[];
}

/**
 * Reads the log of a database whose process is stopped. `index` is its shared-memory file: it says how much has already been copied
 * into the database. That part was synced before, and cannot be torn.
 */
export function readWriteAheadLog(file: string, index: string): WriteAheadLog {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  if (bytes.byteLength < headerBytes) return { bytes, frameBytes: 0, commits: [], frames: [] };
  const frameBytes = frameHeaderBytes + bytes.readUInt32BE(8);
  // Frames copied: first number after the two copies of the index header, in the byte order of the machine.
  const copied = existsSync(index) ? readFileSync(index).readUInt32LE(96) : 0;
  const salt = bytes.subarray(16, 24);
  let sum: Sum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const commits: number[] = [];
  const frames: number[] = [];
  const floor = headerBytes + copied * frameBytes;
  if (copied === 0) commits.push(headerBytes);
  for (let at = headerBytes; at + frameBytes <= bytes.byteLength; at += frameBytes) {
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break;
    sum = checksum(bytes, at, at + 8, sum, bytes.readUInt32BE(0));
    sum = checksum(bytes, at + frameHeaderBytes, at + frameBytes, sum, bytes.readUInt32BE(0));
    if (bytes.readUInt32BE(at + 16) !== sum[0] || bytes.readUInt32BE(at + 20) !== sum[1]) break;
    const ends = bytes.readUInt32BE(at + 4) !== 0;
    if (at >= floor) frames.push(at);
    if (ends && at + frameBytes >= floor) commits.push(at + frameBytes);
  }
  return { bytes, frameBytes, commits, frames };
}

type Sum = readonly [number, number];

/** Fibonacci-weighted sum over words of 32 bits; the lowest bit of the magic number says in which byte order they are read. */
function checksum(bytes: Buffer, from: number, to: number, [one, two]: Sum, magic: number): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = (magic & 1) === 0;
  let [a, b] = [one, two];
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, little) + b) >>> 0;
    b = (b + view.getUint32(at + 4, little) + a) >>> 0;
  }
  return [a, b];
}
