import { createHash } from 'node:crypto';
import { metadataOf, metadataText, metadataTexts, type VectorChoices, type VectorMetadata, type VectorScope } from '@conclave/ports';

/**
 * Records as stored in Chroma. Each metadata value is JSON text under `v:<key>`, because Chroma may treat 1, 1.5 and true as equal
 * numbers and reads a key such as `$and` as an operator. `k:<key>` marks that the record has the key, because Chroma cannot query
 * for that.
 */
type StoredMetadata = Readonly<Record<string, string | boolean | null>>;

const valuePrefix = 'v:';
const keyPrefix = 'k:';

/**
 * What to write so that the record has exactly `metadata` afterwards. Chroma merges writes into the stored metadata `before`; a null value
 * removes a key. Null when there is nothing to write.
 */
export function storedMetadata(metadata: VectorMetadata, before: unknown): StoredMetadata | null {
  const gone = Object.keys(Object(before) as object).map((key) => [key, null] as const);
  const present = metadataTexts(metadata).flatMap(([key, text]): [string, string | boolean][] => [
    [valuePrefix + key, text],
    [keyPrefix + key, true],
  ]);
  const written = Object.fromEntries([...gone, ...present]);
  return Object.keys(written).length > 0 ? written : null;
}

export const metadataFrom = (stored: unknown): VectorMetadata =>
  metadataOf(
    Object.entries(Object(stored) as object).flatMap(([key, text]): [string, string][] =>
      key.startsWith(valuePrefix) && typeof text === 'string' ? [[key.slice(valuePrefix.length), text]] : [],
    ),
  );

/** Filter for records with every value of `where` and one of the texts of `anyOf`; undefined if neither sets a condition. */
export function storedWhere(where: VectorMetadata, anyOf?: VectorChoices): unknown {
  const each: unknown[] = metadataTexts(where).map(([key, text]) => ({ [valuePrefix + key]: { $eq: text } }));
  if (anyOf) each.push({ [valuePrefix + anyOf.key]: { $in: anyOf.texts.map(metadataText) } });
  return each.length > 1 ? { $and: each } : each[0];
}

/** Filter for records that have the key. */
export const hasKey = (key: string): unknown => ({ [keyPrefix + key]: { $eq: true } });

/**
 * A name valid in Chroma for any namespace, tenant and collection: letters and digits of the collection for readability, then 160 bits of
 * SHA-256 of all three, so that names never collide.
 */
export function storedName(namespace: string, { tenant, collection }: VectorScope): string {
  const readable = collection
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const digest = createHash('sha256')
    .update(JSON.stringify([namespace, tenant, collection]))
    .digest('hex')
    .slice(0, 40);
  return `c-${readable}${readable ? '-' : ''}${digest}`;
}
