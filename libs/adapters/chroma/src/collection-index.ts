import { Failure } from '@conclave/contracts';
import type { VectorScope } from '@conclave/ports';
import * as z from 'zod';
import { ChromaRefused, type ChromaHttp } from './chroma-http.js';
import { storedName } from './stored-form.js';

/** A Chroma collection of ours. */
export interface KnownCollection {
  /** Chroma's id; changes when the collection is dropped and created again. */
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly dimension: number;
}

const space = z.object({ space: z.string().optional() }).nullish();
const collection = z.object({
  id: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  configuration_json: z.object({ hnsw: space, spann: space }).nullish(),
});
const page = 500;

/** Thrown inside `use` when the collection no longer exists; never leaves this module. */
class CollectionGone extends Error {}

/** Finds our collections in Chroma and sends requests to them. */
export class CollectionIndex {
  private readonly known = new Map<string, KnownCollection>();

  constructor(
    private readonly http: ChromaHttp,
    private readonly database: string,
    private readonly namespace: string,
  ) {}

  /** Finds or creates the collection. An existing one keeps the dimension that it was created with. */
  async make({ tenant, collection: name }: VectorScope, dimension: number): Promise<KnownCollection> {
    const asked = {
      name: storedName(this.namespace, { tenant, collection: name }),
      metadata: { conclave: this.namespace, tenant, name, dimension },
      // More candidates than the default, because a filter may leave few of them.
      configuration: { hnsw: { space: 'cosine', ef_construction: 200, ef_search: 200 } },
      get_or_create: true,
    };
    const { status, body } = await this.http
      .ask({ method: 'POST', path: `${this.database}/collections`, body: asked })
      .catch(async (error: unknown) => {
        // A missing database causes the same error: check for it.
        if (error instanceof ChromaRefused) await this.reach();
        throw error;
      });
    if (status !== 200)
      throw new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.http.place} did not create the collection (status ${status}).`);
    return this.keep(body, { tenant, collection: name });
  }

  /**
   * Runs `work` on the collection; returns null if it does not exist. If the collection was dropped and created again since its last use,
   * it is looked up again and `work` runs a second time.
   */
  async use<T>(scope: VectorScope, work: (known: KnownCollection) => Promise<T>, signal?: AbortSignal): Promise<T | null> {
    for (let fresh = false; ; fresh = true) {
      const known = (fresh ? undefined : this.known.get(this.nameOf(scope))) ?? (await this.find(scope, signal));
      if (!known) return null;
      try {
        return await work(known);
      } catch (error) {
        if (!(error instanceof CollectionGone)) throw error;
        this.known.delete(this.nameOf(scope));
        if (fresh) return null;
      }
    }
  }

  /** Sends one request to a collection: a GET if there is no body, otherwise a POST. */
  async ask(
    known: KnownCollection,
    what: 'upsert' | 'query' | 'get' | 'delete' | 'count',
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const { status, body: answer } = await this.http.ask({
      method: body === undefined ? 'GET' : 'POST',
      path: `${this.database}/collections/${known.id}/${what}`,
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
    if (status === 404) throw new CollectionGone();
    return answer;
  }

  /** All collections of this namespace. */
  async all(): Promise<readonly KnownCollection[]> {
    const ours: KnownCollection[] = [];
    for (let offset = 0; ; offset += page) {
      const { body } = await this.http.ask({ method: 'GET', path: `${this.database}/collections?limit=${page}&offset=${offset}` });
      const some = z.array(collection).parse(body);
      for (const each of some) {
        const known = readCollection(each);
        if (known && each.metadata?.['conclave'] === this.namespace) ours.push(known);
      }
      if (some.length < page) return ours;
    }
  }

  async remove(scope: VectorScope): Promise<void> {
    this.known.delete(this.nameOf(scope));
    await this.http.ask({ method: 'DELETE', path: `${this.database}/collections/${this.nameOf(scope)}` });
  }

  /** Checks that the server accepts the credentials and has the database. Throws Failure VECTORS_UNAVAILABLE. */
  async reach(): Promise<void> {
    const { status } = await this.http.ask({ method: 'GET', path: this.database });
    if (status !== 200)
      throw new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.http.place} does not have the configured tenant or database.`);
  }

  private async find(scope: VectorScope, signal?: AbortSignal): Promise<KnownCollection | null> {
    const path = `${this.database}/collections/${this.nameOf(scope)}`;
    const { status, body } = await this.http.ask({ method: 'GET', path, ...(signal ? { signal } : {}) });
    return status === 404 ? null : this.keep(body, scope);
  }

  /** Throws Failure VECTORS_INCOMPATIBLE for a collection of this name that Conclave did not create. */
  private keep(body: unknown, scope: VectorScope): KnownCollection {
    const read = collection.parse(body);
    const known = readCollection(read);
    const { configuration_json: set } = read;
    const cosine = (set?.hnsw?.space ?? set?.spann?.space) === 'cosine';
    if (!cosine || known?.tenant !== scope.tenant || known.name !== scope.collection)
      throw new Failure(
        'VECTORS_INCOMPATIBLE',
        `The collection ${this.nameOf(scope)} in Chroma was not made by Conclave. Remove or rename it.`,
      );
    this.known.set(this.nameOf(scope), known);
    return known;
  }

  private nameOf(scope: VectorScope): string {
    return storedName(this.namespace, scope);
  }
}

function readCollection({ id, metadata }: z.infer<typeof collection>): KnownCollection | null {
  const { tenant, name, dimension } = metadata ?? {};
  return typeof tenant === 'string' && typeof name === 'string' && typeof dimension === 'number' ? { id, tenant, name, dimension } : null;
}
