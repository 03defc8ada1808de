import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import {
  documentsCollection,
  MemoryReranker,
  MemoryVectorStore,
  type Embedder,
  type Reranker,
  type Reranking,
  type Search,
  type SearchHit,
} from '@conclave/ports';
import { hit, researchTask, researchWorld, TableSearch } from './__fixtures__/research-world.js';
import { searchReranked } from './collection-search.js';
import { reranked } from './reranked.js';

const hits = ['The lake is deep.', 'The tower is high.', 'The tower on the lake was built by Ada Quist.', 'Bread.'];
const { signal } = new AbortController();
const by = (reranker: Reranker, rest: Partial<Reranking> = {}): Reranking => ({ reranker, candidates: 3, withinMs: 5_000, ...rest });
const order = (reranking: Reranking | null, given: AbortSignal = signal) =>
  reranked(reranking, 'Who built the tower on the lake?', hits, (text) => text, given);

describe('hits with a reranker', () => {
  it('come in its order, followed by those that it does not read', async () => {
    const reranker = new MemoryReranker();
    expect(await order(by(reranker))).toEqual({ hits: [hits[2], hits[0], hits[1], hits[3]], note: null });
    expect(reranker.asked).toEqual([{ query: 'Who built the tower on the lake?', texts: hits.slice(0, 3) }]);
  });

  it('keep their order without one, and it is not called for a single hit', async () => {
    expect(await order(null)).toEqual({ hits, note: null });
    const reranker = new MemoryReranker();
    expect(await reranked(by(reranker), 'tower', ['one'], (text) => text, signal)).toEqual({ hits: ['one'], note: null });
    expect(reranker.asked).toEqual([]);
  });

  it('keep their order, with a note, when it fails or takes too long', async () => {
    const failing = new MemoryReranker(new Failure('PROVIDER_UNREACHABLE', 'Provider p: secret text.'));
    expect(await order(by(failing))).toEqual({ hits, note: expect.stringMatching(/^The reranker failed \(PROVIDER_UNREACHABLE\);/) });
    const hanging: Reranker = {
      id: 'm@p',
      score: (_query, _texts, { signal: wanted }) =>
        new Promise((_, reject) => wanted.addEventListener('abort', () => reject(new Failure('CALL_CANCELLED')))),
      close: async () => undefined,
    };
    expect(await order(by(hanging, { withinMs: 20 }))).toEqual({ hits, note: expect.stringMatching(/^The reranker took too long;/) });
  });

  it('are not returned once the run is cancelled, and a bug is not mistaken for a failed call', async () => {
    await expect(order(by(new MemoryReranker()), AbortSignal.abort())).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    const broken = by({ id: 'm@p', score: async () => Promise.reject(new TypeError('bug')), close: async () => undefined });
    await expect(order(broken)).rejects.toThrow(TypeError);
  });
});

describe('a search with a reranker', () => {
  const found = (n: number) => hit(n, { title: `Tower ${n}`, snippet: n === 8 ? 'It was built by Ada Quist.' : `Note ${n}.` });

  it('of documents or the web requests more hits than are wanted, and keeps the best of its order', async () => {
    const limits: number[] = [];
    const search = new (class extends TableSearch {
      override query(asked: Parameters<Search['query']>[0]): Promise<readonly SearchHit[]> {
        limits.push(asked.limit);
        return super.query(asked);
      }
    })(() => [1, 2, 3, 4, 5, 6, 7, 8].map(found));
    const world = researchWorld(search, { reranking: by(new MemoryReranker(), { candidates: 8 }) });
    const done = await world.run(researchTask('built by Ada Quist'));
    expect(limits).toEqual([8]);
    expect(done.facts).toHaveLength(5);
    expect(done.facts[0]!.source.title).toBe('Tower 8');
    expect(done.notes).toBe('');
  });

  it('keeps the order of the search if the reranker fails, and the task says so', async () => {
    const search = new TableSearch(() => [1, 2, 8].map(found));
    const failing = by(new MemoryReranker(new Failure('PROVIDER_UNREACHABLE')));
    const done = await researchWorld(search, { reranking: failing }).run(researchTask('built by Ada Quist'));
    expect([done.status, done.facts.map(({ source }) => source.title)]).toEqual(['ok', ['Tower 1', 'Tower 2', 'Tower 8']]);
    expect(done.notes).toContain('The reranker failed (PROVIDER_UNREACHABLE)');
  });

  it('of uploaded documents does the same', async () => {
    const embedder = {
      id: 'flat',
      dimension: 2,
      embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
    } as unknown as Embedder;
    const vectors = new MemoryVectorStore().connect();
    const scope = { tenant: 'acme', collection: documentsCollection('towers', embedder) };
    await vectors.create(scope, 2);
    await vectors.upsert(
      scope,
      ['The tower, the tower.', 'A tower.', 'The keeper of the tower is Ada Quist.'].map((text, n) => ({
        id: `d${n}#0`,
        vector: Float32Array.of(1, n / 100),
        text,
        metadata: { document: `d${n}`, title: `Document ${n}`, heading: '' },
      })),
    );
    const asked = { query: 'keeper Ada tower', collections: ['towers', 'gone'], filters: {}, limit: 1 };
    const find = async (reranker: Reranker) => searchReranked(by(reranker), vectors, embedder, 'acme', asked, signal);
    const well = await find(new MemoryReranker());
    expect([well.chunks.map(({ title }) => title), well.notes, well.missing]).toEqual([['Document 2'], [], ['gone']]);
    const failed = await find(new MemoryReranker(new Failure('CALL_TIMEOUT')));
    expect([failed.chunks.length, failed.notes]).toEqual([1, [expect.stringContaining('CALL_TIMEOUT')]]);
  });
});
