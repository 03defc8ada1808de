import { Failure } from '@conclave/contracts';
import type { VectorChoice, VectorChoices, VectorMetadata, VectorRecord, VectorScope } from './vectors.js';

/** Limits of every adapter. Lengths in UTF-16 units. */
export const vectorLimits = {
  dimension: 16_384,
  hits: 1_000,
  name: 512,
  id: 512,
  /** Per record and per `where`. */
  keys: 64,
  /** Texts of `anyOf`. */
  choices: 100,
  key: 128,
  value: 8_192,
  text: 1_000_000,
} as const;

/** Cosine distance without rounding errors: stores return values such as -1e-7 for equal vectors. */
export const clampDistance = (distance: number): number => Math.min(2, Math.max(0, distance));

/** 1 - cos(a, b), 0 to 2. Both must have the same length and be non-zero. */
export function cosineDistance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let at = 0; at < a.length; at += 1) {
    const [x, y] = [a[at]!, b[at]!];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return clampDistance(1 - dot / Math.sqrt(aa * bb));
}

/** A metadata value as text; different values or types yield different texts. */
export const metadataText = (value: VectorMetadata[string]): string => JSON.stringify(value);

/** Key and text of each value, sorted by key. */
export const metadataTexts = (metadata: VectorMetadata): readonly (readonly [string, string])[] =>
  Object.entries(metadata)
    .map(([key, value]) => [key, metadataText(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

export const metadataOf = (texts: Iterable<readonly [string, string]>): VectorMetadata =>
  Object.fromEntries([...texts].map(([key, text]) => [key, JSON.parse(text) as string | number | boolean]));

/** Replaces unpaired surrogates, which no store keeps. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

const invalid = (param: string, detail: string): Failure => new Failure('REQUEST_INVALID', detail, { param });
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** Throws Failure REQUEST_INVALID. */
export function checkScope({ tenant, collection }: VectorScope): void {
  checkTenant(tenant);
  if (collection === '' || collection.length > vectorLimits.name || !isWellFormed(collection))
    throw invalid('collection', `A collection has a name of 1 to ${vectorLimits.name} characters.`);
}

/** Throws Failure REQUEST_INVALID. */
export function checkTenant(tenant: string): void {
  if (typeof tenant !== 'string' || tenant.length > vectorLimits.name || !isWellFormed(tenant))
    throw invalid('tenant', `A tenant is a text of at most ${vectorLimits.name} characters.`);
}

/** Throws Failure REQUEST_INVALID. */
export function checkDimension(dimension: number): void {
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > vectorLimits.dimension)
    throw invalid('dimension', `A collection has 1 to ${vectorLimits.dimension} dimensions.`);
}

/** Throws Failure VECTORS_INCOMPATIBLE. */
export function checkVector(vector: Float32Array, dimension: number): void {
  if (vector.length !== dimension)
    throw new Failure('VECTORS_INCOMPATIBLE', `A vector has ${vector.length} numbers; the collection takes ${dimension}.`);
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares) || squares === 0)
    throw new Failure('VECTORS_INCOMPATIBLE', 'A vector is zero or contains a number that is not finite.');
}

/** Throws Failure REQUEST_INVALID. */
export function checkMetadata(metadata: VectorMetadata, param = 'metadata'): void {
  const entries = Object.entries(metadata);
  if (entries.length > vectorLimits.keys) throw invalid(param, `At most ${vectorLimits.keys} keys are allowed.`);
  for (const [key, value] of entries) {
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    if (key === '' || key.length > vectorLimits.key || !isWellFormed(key) || /[\u0000-\u001f\u007f]/.test(key))
      throw invalid(param, `A key has 1 to ${vectorLimits.key} characters, none of them a control character.`);
    const fits =
      typeof value === 'string' ? value.length <= vectorLimits.value : typeof value === 'boolean' || Number.isFinite(value as unknown);
    if (!fits)
      throw invalid(
        param,
        `The value of "${key}" is not a text of at most ${vectorLimits.value} characters, a finite number or true or false.`,
      );
  }
}

/** Throws Failure REQUEST_INVALID. */
export function checkChoices(anyOf: VectorChoices | undefined): void {
  if (!anyOf) return;
  if (anyOf.texts.length > vectorLimits.choices) throw invalid('anyOf', `At most ${vectorLimits.choices} texts are compared.`);
  for (const text of ['', ...anyOf.texts]) checkMetadata({ [anyOf.key]: text }, 'anyOf');
}

/** Throws Failure REQUEST_INVALID. */
export function checkIds(ids: readonly string[]): void {
  for (const id of ids)
    if (typeof id !== 'string' || id === '' || id.length > vectorLimits.id || !isWellFormed(id) || id.includes('\u0000'))
      throw invalid('id', `An id has 1 to ${vectorLimits.id} characters, none of them NUL.`);
}

/** Throws Failure REQUEST_INVALID. */
export function checkChoice(choice: VectorChoice): void {
  if ('ids' in choice) return checkIds(choice.ids);
  checkMetadata(choice.where, 'where');
  if (Object.keys(choice.where).length === 0) throw invalid('where', 'Records are removed by ids or by at least one value.');
}

/**
 * Records as every adapter stores them: validated, texts well formed, the last one per id. Throws Failure REQUEST_INVALID,
 * VECTORS_INCOMPATIBLE.
 */
export function checkedRecords(records: readonly VectorRecord[], dimension: number): readonly VectorRecord[] {
  const last = new Map<string, VectorRecord>();
  checkIds(records.map(({ id }) => id));
  for (const { id, vector, text, metadata } of records) {
    checkVector(vector, dimension);
    checkMetadata(metadata);
    if (text.length > vectorLimits.text) throw invalid('text', `A text has at most ${vectorLimits.text} characters.`);
    const kept = Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [key, typeof value === 'string' ? wellFormed(value) : value]),
    );
    last.set(id, { id, vector, text: wellFormed(text), metadata: kept });
  }
  return [...last.values()];
}

/** Order of hits in every adapter: nearest first, equal distances by id. */
export const byDistance = (
  one: { readonly distance: number; readonly id: string },
  other: { readonly distance: number; readonly id: string },
): number => one.distance - other.distance || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

/** A whole number of hits within the limits; 0 if none are requested. */
export const hitLimit = (limit: number): number => (limit >= 1 ? Math.min(Math.floor(limit), vectorLimits.hits) : 0);

export const collectionMissing = ({ collection }: VectorScope): Failure =>
  new Failure('COLLECTION_NOT_FOUND', `Its name is "${collection}".`);

export const otherDimension = (collection: string, has: number, wanted: number): Failure =>
  new Failure('VECTORS_INCOMPATIBLE', `The collection "${collection}" has ${has} dimensions, not ${wanted}.`);
