import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CacheExplanation, CachePurged, CacheReport, type SettingChanged } from '@conclave/contracts';
import { answersPurpose, collectionOf, type Embedder, MemoryVectorStore, type Vectors } from '@conclave/ports';
import { type KeptAnswer, layerTag, semanticKey } from '@conclave/strategies';
import { twoTenants, World } from '../__fixtures__/world.js';

/** Positions of questions on a circle, by a word in them; positions 100 apart are opposite. */
const places: Readonly<Record<string, number>> = { 'tall is the tower': 0, height: 2, bridge: 2, Luxor: 50, weigh: 60 };
const embedder: Embedder = {
  id: 'fake@1',
  dimension: 2,
  embed: async (texts) =>
    texts.map((text) => {
      const [, place = 0] = Object.entries(places).find(([word]) => text.includes(word)) ?? [];
      const angle = (place / 100) * Math.PI;
      return Float32Array.of(Math.cos(angle), Math.sin(angle));
    }),
  health: async () => null,
  close: async () => undefined,
};
let world: World;
let vectors: Vectors;
beforeEach(async () => {
  vectors = new MemoryVectorStore().connect();
  world = await World.open({
    keys: twoTenants,
    parts: { vectors, embedder },
    template: { caches: { answer: true, semantic: true, plan: true, search: false } },
  });
});
afterEach(() => world.close());

const send = async (method: string, path: string, key = 'sk-a-admin', body?: unknown) => {
  const response = await fetch(world.url + path, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const start = async (input: string, more: object = {}): Promise<string> =>
  String((await send('POST', '/v1/runs', 'sk-a', { model: 'conclave', input, ...more })).body['id']);
const report = async (key?: string) => CacheReport.parse((await send('GET', '/v1/admin/caches', key)).body);
const explained = async (run: string) => CacheExplanation.parse((await send('GET', `/v1/runs/${run}/cache`, 'sk-a')).body);

/** Stores an answer as the learning service does, in the scope of the run that asked. */
async function keep(id: string, question: string, likeRun: string): Promise<void> {
  const scope = world.requested().find(({ runId }) => runId === likeRun)!.data.caching!.scope!;
  const collection = collectionOf(answersPurpose, embedder);
  const [vector] = await embedder.embed([question], { signal: AbortSignal.timeout(1_000) });
  await vectors.create({ tenant: 'a', collection }, 2);
  await vectors.upsert({ tenant: 'a', collection }, [{ id, vector: vector!, text: question, metadata: { scope } }]);
  const value: KeptAnswer = { runId: id, question, answer: 'Blue.', sources: [], storedAt: Date.now() - 5_000 };
  await world.stores.state.caches.write({ tenant: 'a', key: semanticKey(id), value, ttlMs: 60_000, tags: [layerTag('semantic')] });
}

describe('caches over HTTP', () => {
  it('report how many lookups hit in each layer and how close the nearest earlier questions were', async () => {
    const first = await start('How tall is the tower?');
    await keep('run_kept0001', 'What is the height of the tower?', first);
    await start('How tall is the tower?');
    await start('Who built Luxor?');
    const { layers, distances } = await report();
    expect(layers.map(({ layer, lookups, hits }) => [layer, lookups, hits])).toEqual([
      ['exact', 3, 0],
      ['semantic', 3, 1],
      ['plan', 2, 0],
      ['search', null, null],
    ]);
    expect(distances.threshold).toBe(0.15);
    const counted = distances.buckets.filter(({ accepted, refused }) => accepted + refused > 0);
    expect(counted).toEqual([
      { from: 0, accepted: 1, refused: 0 },
      { from: 0.5, accepted: 0, refused: 1 },
    ]);
    const other = await report('sk-b-admin');
    expect(other.layers.map(({ lookups }) => lookups)).toEqual([0, 0, 0, null]);
    expect((await send('GET', '/v1/admin/caches', 'sk-a')).status).toBe(403);
  });

  it('explain a hit: kind, distance against the threshold, both questions, age', async () => {
    const first = await start('How tall is the tower?');
    await keep('run_kept0001', 'What is the height of the tower?', first);
    const hit = await explained(await start('How tall is the tower?'));
    expect(hit).toMatchObject({
      kind: 'semantic',
      question: 'How tall is the tower?',
      threshold: 0.15,
      accepted: { run: 'run_kept0001', question: 'What is the height of the tower?' },
      nearest: [],
    });
    expect(hit.accepted!.distance).toBeLessThan(0.15);
    expect(hit.accepted!.age_ms).toBeGreaterThanOrEqual(5_000);
    expect(hit.sentence).toContain('in other words');
  });

  it('explain a miss by the nearest earlier question: too far away, or close but a different question', async () => {
    const first = await start('How tall is the tower?');
    await keep('run_kept0001', 'How tall is the bridge?', first);
    const other = await explained(await start('How tall is the tower?'));
    expect(other).toMatchObject({ kind: 'none', accepted: null, nearest: [{ run: 'run_kept0001', within: true }] });
    expect(other.nearest[0]!.differences.length).toBeGreaterThan(0);
    const far = await explained(await start('What does it weigh?'));
    expect(far.nearest[0]).toMatchObject({ within: false });
    expect(far.sentence).toContain('too far');
    const bypassed = await explained(await start('How tall is the tower?', { conclave: { cache: false } }));
    expect(bypassed).toMatchObject({ kind: 'bypassed', accepted: null });
  });

  it('are emptied for one tenant and one layer, and the audit names who did it', async () => {
    const first = await start('How tall is the tower?');
    await keep('run_kept0001', 'What is the height of the tower?', first);
    const write = (tenant: string, key: string) =>
      world.stores.state.caches.write({ tenant, key, value: 1, ttlMs: 60_000, tags: [layerTag('exact')] });
    await write('a', 'answer/x');
    await write('b', 'answer/x');
    const removed = async (layer: string, key?: string) => CachePurged.parse((await send('DELETE', `/v1/admin/caches/${layer}`, key)).body);
    expect(await removed('exact')).toMatchObject({ tenant: 'a', layer: 'exact', removed: 1 });
    expect(await world.stores.state.caches.read('b', 'answer/x')).not.toBeNull();
    expect(await world.stores.state.caches.read('a', semanticKey('run_kept0001'))).not.toBeNull();
    expect(await removed('semantic')).toMatchObject({ removed: 1 });
    expect(await explained(await start('How tall is the tower?'))).toMatchObject({ kind: 'none', nearest: [] });
    expect((await report()).layers.map(({ purged_at: at }) => at !== null)).toEqual([true, true, false, false]);
    expect(world.events<SettingChanged>('audit').map(({ data }) => [data.setting, data.actor])).toEqual([
      ['caches/a/exact', 'a-admin'],
      ['caches/a/semantic', 'a-admin'],
    ]);
    expect(await send('DELETE', '/v1/admin/caches/nothing')).toMatchObject({ status: 404, body: { error: { code: 'CACHE_NOT_FOUND' } } });
  });
});
