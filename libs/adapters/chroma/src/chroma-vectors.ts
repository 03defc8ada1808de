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
  clampDistance,
  collectionMissing,
  hitLimit,
  otherDimension,
  queryWords,
  type TextAnswer,
  type TextHit,
  type TextQuery,
  type VectorAnswer,
  type VectorChoice,
  type VectorCollection,
  type VectorQuery,
  type VectorRecord,
  type Vectors,
  type VectorScope,
} from '@conclave/ports';
import * as z from 'zod';
import { batchesOf } from './batches.js';
import { ChromaHttp, type ChromaCredentials, type ChromaTls } from './chroma-http.js';
import { CollectionIndex, type KnownCollection } from './collection-index.js';
import { TextMirrors } from './text-mirror.js';
import { hasKey, metadataFrom, storedMetadata, storedWhere } from './stored-form.js';

export interface ChromaOptions {
  /** Such as `http://127.0.0.1:8000`, or https. */
  readonly url: string;
  readonly credentials?: ChromaCredentials;
  /** In addition to the CAs that Node trusts. */
  readonly tls?: ChromaTls;
  /** Chroma's own tenant and database; default `default_tenant` and `default_database`. They must exist. */
  readonly chromaTenant?: string;
  readonly chromaDatabase?: string;
  /** Lets installations and tests share a database without seeing each other. */
  readonly namespace?: string;
  /** Timeout of one request in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Shortest time in milliseconds between two checks of full text for other processes' changes; default 2,000. */
  readonly refreshMs?: number;
}

const ids = z.array(z.string());
const metadatas = z.array(z.record(z.string(), z.unknown()).nullable());
const documents = z.array(z.string().nullable());
const gotten = z.object({ ids, documents, metadatas, embeddings: z.array(z.array(z.number())) });
const gottenMetadata = z.object({ ids, metadatas });
const gottenTexts = z.object({ ids, documents, metadatas });
const gottenIds = z.object({ ids });
const found = z.object({
  ids: z.tuple([ids]),
  documents: z.tuple([documents]),
  metadatas: z.tuple([metadatas]),
  distances: z.tuple([z.array(z.number())]),
});

/** Full-text candidates read at once; the filter drops some of them. */
const candidatesPerPage = 100;

/**
 * Vectors in ChromaDB, over version 2 of its HTTP API. Each of our collections is one Chroma collection in cosine space. Searches use
 * its index, which is approximate in large collections. Connects on first use.
 */
export class ChromaVectors implements Vectors {
  private readonly http: ChromaHttp;
  private readonly index: CollectionIndex;
  private readonly namespace: string;
  private readonly texts: TextMirrors;
  private closed = false;

  /** Throws Failure CONFIGURATION_INVALID for an invalid address. */
  constructor(options: ChromaOptions) {
    const {
      timeoutMs = 10_000,
      chromaTenant = 'default_tenant',
      chromaDatabase = 'default_database',
      namespace = '',
      refreshMs = 2_000,
    } = options;
    this.http = new ChromaHttp({ ...options, timeoutMs });
    this.namespace = namespace;
    const database = `/tenants/${encodeURIComponent(chromaTenant)}/databases/${encodeURIComponent(chromaDatabase)}`;
    this.index = new CollectionIndex(this.http, database, namespace);
    this.texts = new TextMirrors(this.index, refreshMs);
  }

  create(scope: VectorScope, dimension: number): Promise<void> {
    return this.whileOpen(async () => {
      checkScope(scope);
      checkDimension(dimension);
      const known = await this.index.make(scope, dimension);
      if (known.dimension !== dimension) throw otherDimension(scope.collection, known.dimension, dimension);
    });
  }

  upsert(scope: VectorScope, records: readonly VectorRecord[]): Promise<void> {
    return this.whileOpen(async () => {
      checkScope(scope);
      const stored = await this.index.use(scope, async (known) => {
        const checked = checkedRecords(records, known.dimension);
        for (const batch of batchesOf(checked, known.dimension)) {
          const before = await this.metadataBefore(known, batch);
          await this.index.ask(known, 'upsert', {
            ids: batch.map(({ id }) => id),
            embeddings: batch.map(({ vector }) => Array.from(vector)),
            documents: batch.map(({ text }) => text),
            metadatas: batch.map(({ id, metadata }) => storedMetadata(metadata, before.get(id))),
          });
          this.texts.forget(
            known,
            batch.map(({ id }) => id),
          );
        }
        return true;
      });
      if (!stored) throw collectionMissing(scope);
    });
  }

  query(scope: VectorScope, { vector, limit, where = {}, anyOf, signal }: VectorQuery): Promise<VectorAnswer> {
    return this.whileOpen(async () => {
      signal?.throwIfAborted();
      checkScope(scope);
      checkMetadata(where, 'where');
      checkChoices(anyOf);
      if (anyOf?.texts.length === 0) return { hits: [], unknownKeys: [] };
      const keys = Object.keys(where);
      const answer = await this.index.use(
        scope,
        async (known): Promise<VectorAnswer> => {
          checkVector(vector, known.dimension);
          const hits = await this.nearest(known, { vector, limit: hitLimit(limit), where: storedWhere(where, anyOf) }, signal);
          // Every hit has all keys, so keys are looked up only if there are no hits.
          if (hits.length > 0) return { hits, unknownKeys: [] };
          const carried = await Promise.all(keys.map((key) => this.isCarried(known, key, signal)));
          return { hits, unknownKeys: keys.filter((_, at) => !carried[at]) };
        },
        signal,
      );
      return answer ?? { hits: [], unknownKeys: keys };
    });
  }

  match(scope: VectorScope, { words, limit, where = {}, anyOf, signal }: TextQuery): Promise<TextAnswer> {
    return this.whileOpen(async () => {
      signal?.throwIfAborted();
      checkScope(scope);
      checkMetadata(where, 'where');
      checkChoices(anyOf);
      const most = hitLimit(limit);
      if (most === 0 || queryWords(words).length === 0 || anyOf?.texts.length === 0) return { hits: [] };
      const answer = await this.index.use(
        scope,
        async (known): Promise<TextAnswer> => {
          const ranked = (await this.texts.of(known, signal)).find(words);
          const hits: TextHit[] = [];
          const stored = storedWhere(where, anyOf);
          const filter = stored === undefined ? {} : { where: stored };
          for (let from = 0; from < ranked.length && hits.length < most; from += candidatesPerPage) {
            const page = ranked.slice(from, from + candidatesPerPage);
            const asked = { ids: page.map(({ id }) => id), ...filter, include: ['documents', 'metadatas'] };
            const reply = gottenTexts.parse(await this.index.ask(known, 'get', asked, signal));
            const at = new Map(reply.ids.map((id, place) => [id, place]));
            for (const { id, score } of page) {
              const place = at.get(id);
              if (place === undefined) continue;
              hits.push({ id, score, text: reply.documents[place] ?? '', metadata: metadataFrom(reply.metadatas[place]) });
            }
          }
          return { hits: hits.slice(0, most) };
        },
        signal,
      );
      return answer ?? { hits: [] };
    });
  }

  get(scope: VectorScope, wanted: readonly string[]): Promise<readonly VectorRecord[]> {
    return this.whileOpen(async () => {
      checkScope(scope);
      checkIds(wanted);
      const distinct = [...new Set(wanted)];
      const records = await this.index.use(scope, async (known) => {
        const byId = new Map<string, VectorRecord>();
        for (const batch of batchesOf(distinct, known.dimension)) {
          const reply = gotten.parse(await this.index.ask(known, 'get', { ids: batch, include: ['documents', 'metadatas', 'embeddings'] }));
          reply.ids.forEach((id, at) => {
            const vector = Float32Array.from(reply.embeddings[at] ?? []);
            byId.set(id, { id, vector, text: reply.documents[at] ?? '', metadata: metadataFrom(reply.metadatas[at]) });
          });
        }
        return distinct.flatMap((id) => byId.get(id) ?? []);
      });
      return records ?? [];
    });
  }

  delete(scope: VectorScope, which: VectorChoice): Promise<void> {
    return this.whileOpen(async () => {
      checkScope(scope);
      checkChoice(which);
      await this.index.use(scope, async (known) => {
        if (!('ids' in which)) await this.index.ask(known, 'delete', { where: storedWhere(which.where) });
        else for (const batch of batchesOf([...new Set(which.ids)], 0)) await this.index.ask(known, 'delete', { ids: batch });
        this.texts.recheck(known);
        return null;
      });
    });
  }

  count(scope: VectorScope): Promise<number> {
    return this.whileOpen(async () => {
      checkScope(scope);
      return (await this.index.use(scope, async (known) => z.number().parse(await this.index.ask(known, 'count')))) ?? 0;
    });
  }

  list(tenant: string): Promise<readonly VectorCollection[]> {
    return this.whileOpen(async () => {
      checkTenant(tenant);
      const own = (await this.index.all()).filter((known) => known.tenant === tenant);
      return own.map(({ name, dimension }) => ({ name, dimension })).sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  drop(scope: VectorScope): Promise<void> {
    return this.whileOpen(async () => {
      checkScope(scope);
      await this.index.remove(scope);
    });
  }

  async health(): Promise<string | null> {
    try {
      await this.whileOpen(() => this.index.reach());
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  close(): Promise<void> {
    this.closed = true;
    this.http.close();
    return Promise.resolve();
  }

  /** Removes every collection of this namespace. Throws without a namespace. */
  async removeAll(): Promise<void> {
    if (this.namespace === '') throw new Error('Only vectors with a namespace can be removed as a whole.');
    for (const { tenant, name } of await this.index.all()) await this.drop({ tenant, collection: name });
  }

  private async metadataBefore(known: KnownCollection, batch: readonly VectorRecord[]): Promise<ReadonlyMap<string, unknown>> {
    const reply = gottenMetadata.parse(await this.index.ask(known, 'get', { ids: batch.map(({ id }) => id), include: ['metadatas'] }));
    return new Map(reply.ids.map((id, at) => [id, reply.metadatas[at]]));
  }

  private async nearest(
    known: KnownCollection,
    { vector, limit, where }: Pick<VectorQuery, 'vector' | 'limit'> & { readonly where: unknown },
    signal?: AbortSignal,
  ) {
    if (limit === 0) return [];
    const asked = {
      query_embeddings: [Array.from(vector)],
      n_results: limit,
      where,
      include: ['documents', 'metadatas', 'distances'],
    };
    const reply = found.parse(await this.index.ask(known, 'query', asked, signal));
    const [texts, stored, distances] = [reply.documents[0], reply.metadatas[0], reply.distances[0]];
    return reply.ids[0]
      .map((id, at) => ({
        id,
        text: texts[at] ?? '',
        metadata: metadataFrom(stored[at]),
        distance: clampDistance(distances[at] ?? 2),
      }))
      .sort(byDistance);
  }

  private async isCarried(known: KnownCollection, key: string, signal?: AbortSignal): Promise<boolean> {
    const reply = gottenIds.parse(await this.index.ask(known, 'get', { where: hasKey(key), limit: 1, include: [] }, signal));
    return reply.ids.length > 0;
  }

  private async whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('VECTORS_UNAVAILABLE', 'It is closed.');
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      throw new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.http.place} answered in an unknown format.`, { cause: error });
    }
  }
}
