/**
 * Collections of vectors with their texts. Adapters: ChromaDB, embedded SQLite, memory. Every call names the tenant: collections of
 * different tenants are separate even with the same name. Distances are cosine, 0 (same direction) to 2 (opposite).
 *
 * Every write is idempotent. Large writes are split internally: a failure may leave some records stored, and repeating the call stores the
 * rest. A collection that was never created reads as empty.
 *
 * Any call throws Failure VECTORS_UNAVAILABLE if the store does not answer, and REQUEST_INVALID for a value outside `vectorLimits`.
 */
export interface Vectors {
  /** Creates the collection if absent. Throws Failure VECTORS_INCOMPATIBLE if it exists with another dimension. */
  create(scope: VectorScope, dimension: number): Promise<void>;
  /**
   * Stores records; replaces a known id completely. The last of several records with one id wins. Throws Failure COLLECTION_NOT_FOUND, and
   * VECTORS_INCOMPATIBLE for a vector of another dimension, of zero length or with non-finite numbers.
   */
  upsert(scope: VectorScope, records: readonly VectorRecord[]): Promise<void>;
  /** Nearest first, equal distances by id. Throws Failure VECTORS_INCOMPATIBLE for a vector that does not fit the collection. */
  query(scope: VectorScope, query: VectorQuery): Promise<VectorAnswer>;
  /**
   * Records whose text, or whose metadata `title` and `heading`, contain any of the words: full text, ranked by BM25, best first. A title
   * word weighs four times, a heading word twice as much as a text word. Other forms of a word match; case and accents are ignored.
   */
  match(scope: VectorScope, query: TextQuery): Promise<TextAnswer>;
  /** The existing records, in the requested order, each once. */
  get(scope: VectorScope, ids: readonly string[]): Promise<readonly VectorRecord[]>;
  /** Ignores records that do not exist. */
  delete(scope: VectorScope, which: VectorChoice): Promise<void>;
  /** Removes what deleted records left in files. Slow; absent if a store leaves nothing that this process could remove. */
  scrub?(): Promise<void>;
  count(scope: VectorScope): Promise<number>;
  /** Collections of the tenant, sorted by name. */
  list(tenant: string): Promise<readonly VectorCollection[]>;
  /** Removes the collection with everything in it. */
  drop(scope: VectorScope): Promise<void>;
  /** Null while it works, otherwise a sentence. */
  health(): Promise<string | null>;
  close(): Promise<void>;
}

export interface VectorScope {
  readonly tenant: string;
  /** Any name; adapters map it to one their store accepts. `collectionOf` ties it to an embedder. */
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
  /** Maximum number of hits; capped at `vectorLimits.hits`. */
  readonly limit: number;
  /** Only records with each of these values, of the same type: 1, '1' and true are three values. */
  readonly where?: VectorMetadata;
  /** Only records with one of these texts under the key; an empty list matches nothing. */
  readonly anyOf?: VectorChoices;
  readonly signal?: AbortSignal;
}

export interface VectorChoices {
  readonly key: string;
  /** At most `vectorLimits.choices`. */
  readonly texts: readonly string[];
}

export interface TextQuery extends Omit<VectorQuery, 'vector'> {
  /** Plain words, never parsed as query syntax. */
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
  /** Keys of `where` that no record of the collection has, so that a wrong name is not mistaken for an empty result. */
  readonly unknownKeys: readonly string[];
}

export interface VectorHit {
  readonly id: string;
  readonly text: string;
  readonly metadata: VectorMetadata;
  /** Cosine distance, 0 to 2. */
  readonly distance: number;
}

/** `where` must name at least one value: use `drop` to remove everything. */
export type VectorChoice = { readonly ids: readonly string[] } | { readonly where: VectorMetadata };

export interface VectorCollection {
  readonly name: string;
  readonly dimension: number;
}
