import { createHash } from 'node:crypto';

const magic = 'CWV1';
const headerLength = 24;

/**
 * Vectors of frequent English words, one byte per number. Layout, little-endian: `CWV1`, number of words, dimension, length of
 * the word list (32 bits each), 8 bytes of SHA-256 of the rest; then the words by frequency, separated by line feeds, a 32-bit
 * float scale for each, and their numbers. Written by table/build-table.mjs.
 */
export class WordTable {
  /** 16 hex digits; different for different tables. */
  readonly digest: string;
  readonly size: number;
  readonly dimension: number;
  private readonly ranks = new Map<string, number>();
  private readonly scales: Float32Array;
  private readonly numbers: Int8Array;

  /** Throws when the bytes are not a valid table. */
  constructor(private readonly bytes: Buffer) {
    if (bytes.length < headerLength || bytes.toString('latin1', 0, 4) !== magic) throw new Error('The table of word vectors is invalid.');
    this.size = bytes.readUInt32LE(4);
    this.dimension = bytes.readUInt32LE(8);
    const listEnd = headerLength + bytes.readUInt32LE(12);
    const scalesEnd = listEnd + 4 * this.size;
    if (bytes.length !== scalesEnd + this.size * this.dimension) throw new Error('The table of word vectors is cut short.');
    this.digest = bytes.toString('hex', 16, headerLength);
    const words = bytes.toString('latin1', headerLength, listEnd).split('\n');
    for (let rank = 0; rank < words.length; rank += 1) this.ranks.set(words[rank]!, rank);
    // Copied, because a typed array must be aligned; every Node platform is little-endian.
    this.scales = new Float32Array(Uint8Array.prototype.slice.call(bytes, listEnd, scalesEnd).buffer);
    this.numbers = new Int8Array(bytes.buffer, bytes.byteOffset + scalesEnd, this.size * this.dimension);
  }

  /** Whether the digest in the header matches the content. */
  get intact(): boolean {
    return createHash('sha256').update(this.bytes.subarray(headerLength)).digest('hex').startsWith(this.digest);
  }

  /** Frequency rank of a word, from 0; undefined for a word not in the table. */
  rankOf(word: string): number | undefined {
    return this.ranks.get(word);
  }

  /** Adds `weight` times the vector of the word of this rank to the first numbers of `sum`. */
  add(rank: number, weight: number, sum: Float64Array): void {
    const factor = weight * this.scales[rank]!;
    const start = rank * this.dimension;
    for (let at = 0; at < this.dimension; at += 1) sum[at]! += factor * this.numbers[start + at]!;
  }
}
