/**
 * Collections of vectors with their texts. Adapters: ChromaDB, embedded SQLite, memory. Every call names the tenant: collections of
 * two tenants are strangers even when they have the same name. Distances are cosine, 0 (same direction) to 2 (opposite).
 *
 * Every write is idempotent. Large writes are split inside: after a failure a part of them may be stored, and the same call repeated
 * stores the rest. A collection that was never created is empty to every reader.
 *
 * Any call throws Failure VECTORS_UNAVAILABLE when the store does not answer, and REQUEST_INVALID for a value outside `vectorLimits`.
 */
export interface Vectors {
  /** Makes the collection unless it is there. Throws Failure VECTORS_INCOMPATIBLE when it is there with another dimension. */
  create(scope: VectorScope, dimension: number): Promise<void>;
  /**
   * Stores records; one with a known id is replaced as a whole. The last of several records with one id wins.
   * Throws Failure COLLECTION_NOT_FOUND, and VECTORS_INCOMPATIBLE for a vector of another dimension, without direction or not finite.
   */
  upsert(scope: VectorScope, records: readonly VectorRecord[]): Promise<void>;
  /** Nearest first, equal distances by id. Throws Failure VECTORS_INCOMPATIBLE for a vector that does not fit the collection. */
  query(scope: VectorScope, query: VectorQuery): Promise<VectorAnswer>;
  /**
   * Records whose text, or whose metadata `title` and `heading`, hold any of the words: full text, ranked by BM25, best first. A title
   * weighs four times, a heading twice a word of the text. Other forms of a word count, its case and accents do not.
   */
  match(scope: VectorScope, query: TextQuery): Promise<TextAnswer>;
  /** The records that are there, in the order asked for, each once. */
  get(scope: VectorScope, ids: readonly string[]): Promise<readonly VectorRecord[]>;
  /** What is not there is no error. */
  delete(scope: VectorScope, which: VectorChoice): Promise<void>;
  count(scope: VectorScope): Promise<number>;
  /** Collections of the tenant by name. */
  list(tenant: string): Promise<readonly VectorCollection[]>;
  /** Removes the collection with everything in it. */
  drop(scope: VectorScope): Promise<void>;
  /** Null while it works, otherwise a sentence. */
  health(): Promise<string | null>;
  close(): Promise<void>;
}

export interface VectorScope {
  readonly tenant: string;
  /** Any name; adapters map it to what their store takes. `collectionOf` ties it to an embedder. */
  readonly collection: string;
}

export type VectorMetadata = Readonly<Record<string, string | number | boolean>>;

export interface VectorRecord {
  readonly id: string;
  readonly vector: Float32Array;
  readonly text: string;
  readonly metadata: VectorMetadata;
}

export interface VectorQuery {
  readonly vector: Float32Array;
  /** Hits at most; above `vectorLimits.hits` as many as that. */
  readonly limit: number;
  /** Only records that carry each of these values, of the same type: 1, '1' and true are three values. */
  readonly where?: VectorMetadata;
  readonly signal?: AbortSignal;
}

export interface TextQuery extends Omit<VectorQuery, 'vector'> {
  /** Plain words: nothing in them is read as syntax. */
  readonly words: string;
}

export interface TextAnswer {
  readonly hits: readonly TextHit[];
}

export interface TextHit extends Omit<VectorHit, 'distance'> {
  /** Above 0, higher is better; comparable within one answer only. */
  readonly score: number;
}

export interface VectorAnswer {
  readonly hits: readonly VectorHit[];
  /** Keys of `where` that no record of the collection carries, so that nobody takes a wrong name for an empty result. */
  readonly unknownKeys: readonly string[];
}

export interface VectorHit {
  readonly id: string;
  readonly text: string;
  readonly metadata: VectorMetadata;
  /** Cosine distance, 0 to 2. */
  readonly distance: number;
}

/** `where` must name at least one value: everything is removed by `drop`. */
export type VectorChoice = { readonly ids: readonly string[] } | { readonly where: VectorMetadata };

export interface VectorCollection {
  readonly name: string;
  readonly dimension: number;
}
