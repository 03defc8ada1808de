import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { MemoryPages } from '@conclave/ports';
import { hit, researchTask, researchWorld, TableCache, TableSearch } from './__fixtures__/research-world.js';
import { SharedWork } from './research-memory.js';

const minute = 60_000;

function cachedWorld(answer: (query: string) => ReturnType<typeof hit>[] = () => [hit(1)], readPages = 0) {
  let at = 1_000_000;
  const now = (): number => at;
  const caches = new Map<string, TableCache>();
  const search = new TableSearch(answer);
  const pages = new MemoryPages({ 'https://host1.example/page': { text: 'Copper melts at 1085 degrees, it says here.' } }, now);
  const cacheOf = ({ data: { tenant } }: { data: { tenant: string } }): TableCache => {
    if (!caches.has(tenant)) caches.set(tenant, new TableCache(now));
    return caches.get(tenant)!;
  };
  const looks: string[] = [];
  const onCache = (what: string, outcome: string): number => looks.push(`${what} ${outcome}`);
  const world = researchWorld(search, { pages, readPages, cacheOf, now, onCache });
  return { ...world, search, pages, caches, looks, later: (ms: number) => (at += ms), cacheOf, now };
}
const inRun = (n: number) => ({ runId: `run_0000000${n}` });

describe('the cache of searches', () => {
  it('answers the same question of another run and says so', async () => {
    const world = cachedWorld();
    await world.run(researchTask('Who built the bridge?', inRun(1)));
    world.later(12 * minute);
    const done = await world.run(researchTask('who built  the bridge', inRun(2)));
    expect(world.search.asked).toEqual(['Who built the bridge?']);
    expect(done.facts).toHaveLength(1);
    expect(done.notes).toBe('The results come from the cache, 12 min old.');
    expect(world.shown.at(-1)!.text).toContain('1 result (from the cache, 12 min old)');
    // The journal and the audit record a cache hit like any other call.
    expect(world.tools.made).toHaveLength(2);
  });

  it.each([
    ['copper conductivity', 24 * 60],
    ['copper price today', 30],
  ])('keeps results as long as they stay fresh: %s', async (query, minutes) => {
    const world = cachedWorld();
    await world.run(researchTask(query, inRun(1)));
    world.later((minutes - 1) * minute);
    await world.run(researchTask(query, inRun(2)));
    expect(world.search.asked).toHaveLength(1);
    world.later(2 * minute);
    await world.run(researchTask(query, inRun(3)));
    expect(world.search.asked).toHaveLength(2);
  });

  it('keeps an empty answer only for a short time', async () => {
    const world = cachedWorld(() => []);
    await world.run(researchTask('copper conductivity', inRun(1)));
    expect([...world.caches.get('acme')!.entries.values()].map(({ ttlMs }) => ttlMs)).toEqual([30 * minute]);
  });

  it('never serves a tenant the results of another one, even from the same store', async () => {
    const world = cachedWorld();
    const one = new TableCache(world.now);
    const shared = researchWorld(world.search, { cacheOf: () => one, now: world.now });
    await shared.run(researchTask('copper', { ...inRun(1), tenant: 'acme' }));
    await shared.run(researchTask('copper', { ...inRun(2), tenant: 'other' }));
    expect(world.search.asked).toHaveLength(2);
    expect(one.entries.size).toBe(2);
  });

  it('distinguishes words, number of results, and version of what is searched', async () => {
    const world = cachedWorld();
    const one = new TableCache(world.now);
    const ask = async (query: string, corpusVersion: string, limit: number, run: number): Promise<void> => {
      const task = researchTask(query, inRun(run));
      Object.assign(task.data.input, { limit });
      await researchWorld(world.search, { cacheOf: () => one, corpusVersion, now: world.now }).run(task);
    };
    await ask('copper 1', 'v1', 5, 1);
    await ask('copper 2', 'v1', 5, 2);
    await ask('copper 1', 'v2', 5, 3);
    await ask('copper 1', 'v1', 3, 4);
    expect(world.search.asked).toHaveLength(4);
    await ask('copper 1', 'v1', 5, 5);
    expect(world.search.asked).toHaveLength(4);
  });

  it('returns nothing to a re-plan that is older than half an hour', async () => {
    const world = cachedWorld();
    await world.run(researchTask('copper', inRun(1)));
    world.later(20 * minute);
    await world.run(researchTask('copper', { ...inRun(2), epoch: 1 }));
    expect(world.search.asked).toHaveLength(1);
    world.later(20 * minute);
    await world.run(researchTask('copper', { ...inRun(3), epoch: 1 }));
    expect(world.search.asked).toHaveLength(2);
  });

  it('is not used when a task asks for none, nor for a folder of documents', async () => {
    const world = cachedWorld();
    const never = { read: () => Promise.reject(new Error('asked')), write: () => Promise.reject(new Error('asked')) };
    const corpus = Object.assign(new TableSearch(() => [hit(1, { url: null })]), { kind: 'corpus' as const });
    expect((await researchWorld(corpus, { cacheOf: () => never }).run(researchTask('copper'))).facts[0]!.source.kind).toBe('corpus');
    expect((await researchWorld(world.search, { cacheOf: async () => null }).run(researchTask('copper'))).status).toBe('ok');
  });

  it('costs only a search when it fails or contains nonsense', async () => {
    const world = cachedWorld();
    const away = {
      read: () => Promise.reject(new Failure('STORE_UNAVAILABLE')),
      write: () => Promise.reject(new Failure('STORE_UNAVAILABLE')),
    };
    expect((await researchWorld(world.search, { cacheOf: () => away }).run(researchTask('copper', inRun(1)))).facts).toHaveLength(1);
    for (const value of ['not json', '[]', '{"at":1,"hits":[{"title":7}]}', '']) {
      const odd = { read: async () => value, write: async () => undefined };
      expect((await researchWorld(world.search, { cacheOf: () => odd }).run(researchTask('copper', inRun(2)))).facts).toHaveLength(1);
    }
    expect(world.search.asked).toHaveLength(5);
  });

  it('also contains pages, whatever was asked about them', async () => {
    const world = cachedWorld(() => [hit(1)], 1);
    await world.run(researchTask('copper degrees', inRun(1)));
    const done = await world.run(researchTask('melts at', inRun(2)));
    expect(world.pages.asked).toHaveLength(1);
    expect(world.search.asked).toHaveLength(2);
    expect(done.facts.at(-1)!.text).toContain('1085');
    expect(done.notes).toBe('The page of host1.example comes from the cache, 0 min old.');
    expect(world.shown.at(-1)!.text).toContain('1 page read, 1 of them from the cache');
    expect(world.looks).toEqual(['search miss', 'page miss', 'search miss', 'page hit']);
  });
});

describe('equal searches of one run', () => {
  it('make one request, at the same time or one after the other, with a cache or without', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const search = new TableSearch(async () => {
      await gate;
      return [hit(1)];
    });
    const pages = new MemoryPages({ 'https://host1.example/page': { text: 'Copper melts at 1085 degrees, it says here.' } });
    const world = researchWorld(search, { pages, readPages: 1 });
    const both = Promise.all(['copper', 'Copper?'].map((query) => world.run(researchTask(query))));
    open();
    const [first, second] = await both;
    const third = await world.run(researchTask('COPPER'));
    expect([search.asked.length, pages.asked.length]).toEqual([1, 1]);
    expect(first!.notes).toBe('');
    for (const done of [second!, third]) {
      expect(done.facts.map(({ text }) => text)).toEqual(first!.facts.map(({ text }) => text));
      expect(done.notes).toContain('from earlier in this run');
    }
    await world.run(researchTask('copper', inRun(2)));
    expect(search.asked).toHaveLength(2);
  });

  it('continue when the one in progress is cancelled, and fail together when the search fails', async () => {
    const first = new AbortController();
    let asks = 0;
    const work = new SharedWork();
    const perform = (signal: AbortSignal) => (): Promise<string> => {
      asks += 1;
      if (asks > 1) return Promise.resolve('found');
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Failure('CALL_CANCELLED'))));
    };
    const other = new AbortController().signal;
    const leading = work.share('k', first.signal, perform(first.signal));
    const waiting = work.share('k', other, perform(other));
    first.abort();
    await expect(leading).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await waiting).toEqual({ value: 'found', shared: false });
    await expect(work.share('k', AbortSignal.abort(), perform(other))).rejects.toMatchObject({ code: 'CALL_CANCELLED' });

    let failures = 0;
    const failing = (): Promise<string> => {
      failures += 1;
      return Promise.reject(new Failure('SEARCH_UNAVAILABLE'));
    };
    const ends = await Promise.allSettled([work.share('f', other, failing), work.share('f', other, failing)]);
    expect([ends.map(({ status }) => status), failures]).toEqual([['rejected', 'rejected'], 1]);
    await expect(work.share('f', other, failing)).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
    expect(failures).toBe(2);
  });

  it('are forgotten after ten minutes, or when there are many', async () => {
    let at = 0;
    const work = new SharedWork(() => at);
    const { signal } = new AbortController();
    let asks = 0;
    const perform = async (): Promise<number> => (asks += 1);
    await work.share('k', signal, perform);
    at = 599_999;
    expect((await work.share('k', signal, perform)).shared).toBe(true);
    at = 600_000;
    expect((await work.share('k', signal, perform)).shared).toBe(false);
    for (let n = 0; n < 200; n += 1) await work.share(`n${n}`, signal, perform);
    expect((await work.share('k', signal, perform)).shared).toBe(false);
    expect((await work.share('n150', signal, perform)).shared).toBe(true);
  });
});
