import { Failure } from '@conclave/contracts';
import {
  byDistance,
  checkChoice,
  checkChoices,
  checkDimension,
  checkedRecords,
  checkIds,
  checkMetadata,
  checkScope,
  checkTenant,
  checkVector,
  collectionMissing,
  cosineDistance,
  hitLimit,
  metadataText,
  otherDimension,
} from './records.js';
import { indexedText, TextIndex } from './text-index.js';
import type {
  TextAnswer,
  TextQuery,
  VectorAnswer,
  VectorChoices,
  VectorCollection,
  VectorMetadata,
  VectorQuery,
  VectorRecord,
  Vectors,
  VectorScope,
} from './vectors.js';

interface MemoryCollection extends VectorCollection {
  readonly tenant: string;
  readonly records: Map<string, VectorRecord>;
  readonly texts: TextIndex;
}

const copyOf = ({ id, vector, text, metadata }: VectorRecord): VectorRecord => ({
  id,
  vector: Float32Array.from(vector),
  text,
  metadata: { ...metadata },
});

const carries = (metadata: VectorMetadata, where: VectorMetadata): boolean =>
  Object.entries(where).every(([key, value]) => Object.hasOwn(metadata, key) && metadataText(metadata[key]!) === metadataText(value));

const isChosen = (metadata: VectorMetadata, anyOf: VectorChoices | undefined): boolean =>
  !anyOf || (Object.hasOwn(metadata, anyOf.key) && (anyOf.texts as readonly unknown[]).includes(metadata[anyOf.key]));

/** The part of in-memory vectors that outlives a process. */
export class MemoryVectorStore {
  private readonly collections = new Map<string, MemoryCollection>();

  /** The vectors as another process sees them. */
  connect(): Vectors {
    let open = true;
    const whileOpen = async <T>(work: () => T): Promise<T> => {
      if (!open) throw new Failure('VECTORS_UNAVAILABLE', 'It is closed.');
      return work();
    };
    return {
      create: (scope, dimension) => whileOpen(() => this.create(scope, dimension)),
      upsert: (scope, records) => whileOpen(() => this.upsert(scope, records)),
      query: (scope, query) => whileOpen(() => this.query(scope, query)),
      match: (scope, query) => whileOpen(() => this.match(scope, query)),
      get: (scope, ids) =>
        whileOpen(() => {
          checkIds(ids);
          const records = this.at(scope)?.records;
          return [...new Set(ids)].flatMap((id) => records?.get(id) ?? []).map(copyOf);
        }),
      delete: (scope, which) =>
        whileOpen(() => {
          checkChoice(which);
          const kept = this.at(scope);
          const records = kept?.records ?? new Map<string, VectorRecord>();
          const ids =
            'ids' in which ? which.ids : [...records.values()].filter(({ metadata }) => carries(metadata, which.where)).map(({ id }) => id);
          for (const id of ids) {
            records.delete(id);
            kept?.texts.remove(id);
          }
        }),
      count: (scope) => whileOpen(() => this.at(scope)?.records.size ?? 0),
      list: (tenant) =>
        whileOpen(() => {
          checkTenant(tenant);
          const own = [...this.collections.values()].filter((kept) => kept.tenant === tenant);
          return own.map(({ name, dimension }) => ({ name, dimension })).sort((a, b) => (a.name < b.name ? -1 : 1));
        }),
      drop: (scope) =>
        whileOpen(() => {
          checkScope(scope);
          this.collections.delete(keyOf(scope));
        }),
      health: async () => (open ? null : 'The vectors are closed.'),
      close: async () => void (open = false),
    };
  }

  /** For tests: all records of a collection. */
  recordsOf(scope: VectorScope): readonly VectorRecord[] {
    return [...(this.at(scope)?.records.values() ?? [])];
  }

  private at(scope: VectorScope): MemoryCollection | undefined {
    checkScope(scope);
    return this.collections.get(keyOf(scope));
  }

  private create(scope: VectorScope, dimension: number): void {
    checkDimension(dimension);
    const known = this.at(scope);
    if (known && known.dimension !== dimension) throw otherDimension(scope.collection, known.dimension, dimension);
    if (known) return;
    const { tenant, collection: name } = scope;
    this.collections.set(keyOf(scope), { tenant, name, dimension, records: new Map(), texts: new TextIndex() });
  }

  private upsert(scope: VectorScope, records: readonly VectorRecord[]): void {
    const kept = this.at(scope);
    if (!kept) throw collectionMissing(scope);
    for (const record of checkedRecords(records, kept.dimension)) {
      kept.records.set(record.id, copyOf(record));
      kept.texts.put(record.id, indexedText(record.text, record.metadata));
    }
  }

  private query(scope: VectorScope, { vector, limit, where = {}, anyOf, signal }: VectorQuery): VectorAnswer {
    signal?.throwIfAborted();
    checkMetadata(where, 'where');
    checkChoices(anyOf);
    const kept = this.at(scope);
    if (!kept) return { hits: [], unknownKeys: Object.keys(where) };
    checkVector(vector, kept.dimension);
    const records = [...kept.records.values()];
    const hits = records
      .filter(({ metadata }) => carries(metadata, where) && isChosen(metadata, anyOf))
      .map((record) => ({
        id: record.id,
        text: record.text,
        metadata: { ...record.metadata },
        distance: cosineDistance(vector, record.vector),
      }))
      .sort(byDistance)
      .slice(0, hitLimit(limit));
    return { hits, unknownKeys: Object.keys(where).filter((key) => !records.some(({ metadata }) => Object.hasOwn(metadata, key))) };
  }

  private match(scope: VectorScope, { words, limit, where = {}, anyOf, signal }: TextQuery): TextAnswer {
    signal?.throwIfAborted();
    checkMetadata(where, 'where');
    checkChoices(anyOf);
    const kept = this.at(scope);
    if (!kept) return { hits: [] };
    const hits = kept.texts
      .find(words)
      .map(({ id, score }) => ({ id, score, text: kept.records.get(id)!.text, metadata: { ...kept.records.get(id)!.metadata } }))
      .filter(({ metadata }) => carries(metadata, where) && isChosen(metadata, anyOf))
      .slice(0, hitLimit(limit));
    return { hits };
  }
}

const keyOf = ({ tenant, collection }: VectorScope): string => JSON.stringify([tenant, collection]);
