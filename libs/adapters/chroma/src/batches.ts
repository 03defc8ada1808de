import type { VectorRecord } from '@conclave/ports';

/** What a server of Chroma takes at once; it refuses more. */
const mostRecords = 5_461;
/** Characters of one request, roughly: below the 40 MB that Chroma reads. */
const mostCharacters = 8_000_000;
/** A 32-bit float in JSON. */
const numberLength = 20;

const lengthOf = (item: string | VectorRecord): number =>
  typeof item === 'string'
    ? item.length
    : item.text.length + Object.entries(item.metadata).reduce((sum, [key, value]) => sum + 2 * key.length + String(value).length + 20, 0);

/** Records, or ids, in as few requests as are safe. `dimension` is that of the vectors which travel with them. */
export function* batchesOf<T extends string | VectorRecord>(items: readonly T[], dimension: number): Generator<readonly T[]> {
  let batch: T[] = [];
  let characters = 0;
  for (const item of items) {
    const more = lengthOf(item) + dimension * numberLength;
    if (batch.length > 0 && (batch.length >= mostRecords || characters + more > mostCharacters)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(item);
    characters += more;
  }
  if (batch.length > 0) yield batch;
}
