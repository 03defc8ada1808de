import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RunAccepted, RunErasedView, RunList } from '@conclave/contracts';
import { answersPurpose, isErased, type KnowledgeGraph, MemoryGraphStore, MemoryVectorStore, type Vectors } from '@conclave/ports';
import { runTag } from '@conclave/strategies';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let vectors: Vectors;
let graph: KnowledgeGraph;
beforeEach(async () => {
  vectors = new MemoryVectorStore().connect();
  graph = new MemoryGraphStore().connect();
  world = await World.open({ keys: twoTenants, parts: { vectors, graph } });
});
afterEach(() => world.close());

const call = async (method: string, path: string, key = 'sk-a') => {
  const response = await fetch(world.url + path, { method, headers: { 'x-api-key': key } });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};
const begin = async (headers: Record<string, string> = {}): Promise<string> => {
  const response = await world.post(
    '/v1/runs',
    { model: 'conclave', input: 'Which canary?' },
    { headers: { 'x-api-key': 'sk-a', ...headers } },
  );
  return RunAccepted.parse(await response.json()).id;
};
const ended = async (headers: Record<string, string> = {}): Promise<string> => {
  const id = await begin(headers);
  world.write(completed());
  return id;
};
const erasures = () => world.events<{ type: string; data: { actor: string } } & never>('audit').map(({ id, data }) => ({ id, data }));

describe('DELETE /v1/runs/{id}', () => {
  it('deletes an ended run, reports that nothing of it is left, and records who did it', async () => {
    const id = await ended();
    const { status, body } = await call('DELETE', `/v1/runs/${id}`);
    expect(status).toBe(200);
    expect(RunErasedView.parse(body)).toMatchObject({ id, deleted: true, log: 'gone', gone_by: null });
    expect(erasures()).toEqual([{ id: `${id}/erased`, data: expect.objectContaining({ tenant: 'a', actor: 'key_a' }) }]);
    for (const record of world.broker.records('plan.requested')) {
      expect(isErased(record)).toBe(true);
      expect(record.raw!.toString()).not.toContain('canary');
    }
  });

  it('leaves 410 for the tenant on every route of the run, 404 for others, and removes the run from the list', async () => {
    const id = await ended();
    await call('DELETE', `/v1/runs/${id}`);
    for (const path of ['', '/events', '/facts']) {
      expect(await call('GET', `/v1/runs/${id}${path}`)).toMatchObject({ status: 410, body: { error: { code: 'RUN_ERASED' } } });
      expect(await call('GET', `/v1/runs/${id}${path}`, 'sk-b')).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
    }
    expect(RunList.parse((await call('GET', '/v1/runs')).body).data).toEqual([]);
  });

  it('is for the tenant of the run only', async () => {
    const id = await ended();
    expect(await call('DELETE', `/v1/runs/${id}`, 'sk-b')).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
    expect((await call('DELETE', `/v1/runs/${id}`, 'nobody')).status).toBe(401);
    expect(await call('DELETE', '/v1/runs/run_unknown00')).toMatchObject({ status: 404 });
    expect((await call('GET', `/v1/runs/${id}`)).status).toBe(200);
    await call('DELETE', `/v1/runs/${id}`);
    expect(await call('DELETE', `/v1/runs/${id}`, 'sk-b')).toMatchObject({ status: 404 });
  });

  it('refuses a run that has not ended and says how to end it', async () => {
    const id = await begin();
    expect(await call('DELETE', `/v1/runs/${id}`)).toMatchObject({
      status: 409,
      body: { error: { code: 'RUN_NOT_ENDED', message: expect.stringContaining('/commands') } },
    });
    expect(erasures()).toEqual([]);
  });

  it('may be repeated, and completes what a failure left behind', async () => {
    const id = await ended();
    const erase = world.log.erase.bind(world.log);
    world.log.erase = () => Promise.reject(new Error('the log does not answer'));
    expect((await call('DELETE', `/v1/runs/${id}`)).status).toBe(500);
    world.log.erase = erase;
    const first = await call('DELETE', `/v1/runs/${id}`);
    expect(first).toMatchObject({ status: 200, body: { log: 'gone' } });
    expect(await call('DELETE', `/v1/runs/${id}`)).toEqual(first);
    expect(new Set(erasures().map((one) => one.id))).toEqual(new Set([`${id}/erased`]));
  });

  it('reports until when records stay when the log cannot erase them', async () => {
    const id = await ended();
    world.log.erase = (() => Promise.resolve('kept')) as unknown as typeof world.log.erase;
    const { body } = await call('DELETE', `/v1/runs/${id}`);
    const view = RunErasedView.parse(body);
    expect(view.log).toBe('kept');
    const days = (view.gone_by! - Date.now()) / 86_400_000;
    expect([days > 13, days < 15]).toEqual([true, true]);
    expect(view.message).toContain(new Date(view.gone_by!).toISOString().slice(0, 10));
  });

  it('removes the cached answers of the run and prevents them from being stored again', async () => {
    const id = await ended();
    const { caches } = world.stores.state;
    const entry = { tenant: 'a', key: 'exact', value: 'canary', ttlMs: 60_000, tags: [runTag(id)] };
    const scope = { tenant: 'a', collection: `${answersPurpose}@e` };
    await caches.write(entry);
    await vectors.create(scope, 2);
    await vectors.upsert(scope, [{ id, vector: Float32Array.of(1, 0), text: 'Which canary?', metadata: {} }]);
    await call('DELETE', `/v1/runs/${id}`);
    expect(await caches.read('a', 'exact')).toBeNull();
    expect(await caches.write(entry)).toBe(false);
    expect(await vectors.count(scope)).toBe(0);
  });

  const learned = (id: string, tenant = 'a') =>
    graph.addSynthesis({
      ...{ tenant, runId: id, insight: { summary: 'The canary sings.', entities: ['Canary'], insight_type: 'inference' } },
      ...{ domain: 'general', confidence: 0.9, at: 1, answer: 'It sings.' },
    });

  it('removes what the knowledge graph learned from this run only, for its tenant', async () => {
    const id = await ended();
    await learned(id);
    await learned(id, 'b');
    await call('DELETE', `/v1/runs/${id}`);
    expect(await graph.stats('a')).toMatchObject({ entities: 0, syntheses: 0 });
    expect(await graph.stats('b')).toMatchObject({ entities: 1, syntheses: 1 });
  });

  it('has the graph forget it later when the graph does not answer', async () => {
    const id = await ended();
    await graph.close();
    expect(await call('DELETE', `/v1/runs/${id}`)).toMatchObject({ status: 200 });
    const proposed = world.events<{ type: string; data: { kind: string; tenant: string; about: string } } & never>('knowledge.ingest');
    expect(proposed.map(({ data: { kind, tenant, about } }) => [kind, tenant, about])).toEqual([['erasure', 'a', id]]);
  });

  it('also deletes reruns and forks of the run, and names those that have not ended', async () => {
    const id = await ended();
    const rerun = async (of: string): Promise<string> => {
      const response = await world.post(`/v1/runs/${of}/reruns`, { template: 'conclave' }, { headers: { 'x-api-key': 'sk-a' } });
      return RunAccepted.parse(await response.json()).id;
    };
    const first = await rerun(id);
    world.stores.write(first, [completed()]);
    const open = await rerun(first);
    const { body } = await call('DELETE', `/v1/runs/${id}`);
    const view = RunErasedView.parse(body);
    expect(view).toMatchObject({ forks: [first], open_forks: [open], message: expect.stringContaining(open) });
    expect((await call('GET', `/v1/runs/${first}`)).status).toBe(410);
    expect((await call('GET', `/v1/runs/${open}`)).status).toBe(200);
    world.stores.write(open, [completed()]);
    expect((await call('DELETE', `/v1/runs/${id}`)).body).toMatchObject({ forks: [first, open], open_forks: [] });
    expect((await call('GET', `/v1/runs/${open}`)).status).toBe(410);
  });

  it('deletes the stored response of the run', async () => {
    const response = await world.post(
      '/v1/responses',
      { model: 'conclave', input: 'Which canary?', background: true },
      { headers: { 'x-api-key': 'sk-a' } },
    );
    const { id } = (await response.json()) as { id: string };
    world.write(completed());
    expect((await call('GET', `/v1/responses/${id}`)).status).toBe(200);
    await call('DELETE', `/v1/runs/${world.run()}`);
    expect(await call('GET', `/v1/responses/${id}`)).toMatchObject({ status: 404, body: { error: { code: 'RESPONSE_NOT_FOUND' } } });
  });

  it('leaves the stored response when only what was cached from the run is removed, as by a bad rating', async () => {
    const response = await world.post(
      '/v1/responses',
      { model: 'conclave', input: 'Which canary?', background: true },
      { headers: { 'x-api-key': 'sk-a' } },
    );
    const { id } = (await response.json()) as { id: string };
    world.write(completed());
    await world.stores.state.caches.removeTagged('a', runTag(world.run()), 60_000);
    expect((await call('GET', `/v1/responses/${id}`)).status).toBe(200);
  });

  it('answers a repeat of the deleted request with 410, however late, and calls no model again', async () => {
    const key = { 'idempotency-key': 'once' };
    const id = await ended(key);
    await call('DELETE', `/v1/runs/${id}`);
    const body = { model: 'conclave', input: 'Which canary?' };
    const repeat = () => world.post('/v1/runs', body, { headers: { 'x-api-key': 'sk-a', ...key } });
    const again = await repeat();
    expect(again.status).toBe(410);
    expect(await again.json()).toMatchObject({ error: { code: 'RUN_ERASED', message: expect.stringContaining('Idempotency-Key') } });
    // The mapping of retries expires long before the tombstone.
    world.stores.retries.clear();
    expect((await repeat()).status).toBe(410);
    expect(world.runs()).toEqual([]);
  });
});
