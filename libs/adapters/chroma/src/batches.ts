import type { VectorRecord } from '@conclave/ports';

/** Most records Chroma accepts per request. */
const mostRecords = 5_461;
/** Approximate characters of one request: below the 40 MB that Chroma reads. */
const mostCharacters = 8_000_000;
/** Characters of a 32-bit float in JSON. */
const numberLength = 20;

const lengthOf = (item: string | VectorRecord): number =>
  typeof item === 'string'
    ? item.length
    : item.text.length + Object.entries(item.metadata).reduce((sum, [key, value]) => sum + 2 * key.length + String(value).length + 20, 0);

/** Splits records, or ids, into as few requests as are safe. `dimension`: of the vectors sent with them. */
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
