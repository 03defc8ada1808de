import { Failure } from '@conclave/contracts';
import type { VectorScope } from '@conclave/ports';
import * as z from 'zod';
import { ChromaRefused, type ChromaHttp } from './chroma-http.js';
import { storedName } from './stored-form.js';

/** One of Chroma's collections that is ours. */
export interface KnownCollection {
  /** Chroma's id: another one after it was dropped and made again. */
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

/** Thrown inside `use` when the collection went away; never leaves this module. */
class CollectionGone extends Error {}

/** Which collections of Chroma are ours, and requests to one of them. */
export class CollectionIndex {
  private readonly known = new Map<string, KnownCollection>();

  constructor(
    private readonly http: ChromaHttp,
    private readonly database: string,
    private readonly namespace: string,
  ) {}

  /** The collection, made when it was not there; the dimension is that of whoever made it first. */
  async make({ tenant, collection: name }: VectorScope, dimension: number): Promise<KnownCollection> {
    const asked = {
      name: storedName(this.namespace, { tenant, collection: name }),
      metadata: { conclave: this.namespace, tenant, name, dimension },
      // More candidates than the default: a filter leaves few of them.
      configuration: { hnsw: { space: 'cosine', ef_construction: 200, ef_search: 200 } },
      get_or_create: true,
    };
    const { status, body } = await this.http
      .ask({ method: 'POST', path: `${this.database}/collections`, body: asked })
      .catch(async (error: unknown) => {
        // Also what a database that is not there looks like.
        if (error instanceof ChromaRefused) await this.reach();
        throw error;
      });
    if (status !== 200) throw new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.http.place} made no collection (status ${status}).`);
    return this.keep(body, { tenant, collection: name });
  }

  /**
   * Works on the collection; null when there is none. One that was dropped and made again since it was last used is found again:
   * `work` runs a second time then.
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

  /** One question to a collection; without a body it is a GET. */
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

  /** Every collection of this namespace. */
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

  /** Resolves when the server answers to these credentials for this database. Throws Failure VECTORS_UNAVAILABLE. */
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

  /** Throws Failure VECTORS_INCOMPATIBLE for a collection of the right name that somebody else made. */
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
