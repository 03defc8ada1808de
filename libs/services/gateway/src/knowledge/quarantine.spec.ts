import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Contradiction, ContradictionList } from '@conclave/contracts';
import { MemoryGraphStore, type KnowledgeGraph } from '@conclave/ports';
import { graphJudgementKey } from '@conclave/strategies';
import { byAdmin, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let graph: KnowledgeGraph;
beforeEach(async () => {
  graph = new MemoryGraphStore().connect();
  world = await World.open({ keys: twoTenants, parts: { graph } });
  for (const [run, relation] of [
    ['run_00000001', 'TREATS'],
    ['run_00000002', 'CAUSES'],
  ] as const)
    await graph.addTriples({
      tenant: 'a',
      eventId: run,
      runId: run,
      source: 'answer',
      domain: 'general',
      at: 1,
      triples: [{ subject: 'Aspirin', subjectType: 'drug', relation, object: 'Headache', objectType: 'symptom', confidence: 0.9 }],
    });
});
afterEach(() => world.close());

const call = async (path = '', body?: object, key = 'sk-a-admin') => {
  const response = await fetch(`${world.url}/v1/admin/knowledge/quarantine${path}`, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
};
const open = async (query = '') => ContradictionList.parse((await call(query)).body).data;

describe('contradictions of the knowledge graph', () => {
  it('are listed for their tenant', async () => {
    expect(await open()).toMatchObject([
      { subject: 'Aspirin', relation: 'CAUSES', object_name: 'Headache', reason: 'opposed', runs: ['run_00000002'], state: 'open' },
    ]);
    expect((await call('', undefined, 'sk-b-admin')).body).toEqual({ object: 'list', data: [] });
    expect((await call('?state=perhaps')).status).toBe(400);
    expect((await call('?limit=0')).status).toBe(400);
  });

  it('are resolved once, with the name of the person, and then believed', async () => {
    const { id } = (await open())[0]!;
    const accepted = Contradiction.parse((await call(`/${encodeURIComponent(id)}`, { accept: true })).body);
    expect(accepted).toMatchObject({ state: 'accepted', decidedBy: 'a-admin' });
    expect(Contradiction.parse((await call(`/${encodeURIComponent(id)}`, { accept: false })).body)).toEqual(accepted);
    expect([await open(), (await open('?state=accepted')).length]).toEqual([[], 1]);
    expect((await world.stores.kept.caches.read('a', graphJudgementKey))?.value).toBe(`${id}/accepted`);
    const { relations } = await graph.retrieve({ tenant: 'a', terms: ['Aspirin'], categories: [], limit: 5, maxCharacters: 500 });
    expect(relations.map(({ relation }) => relation)).toEqual(['CAUSES']);
  });

  it('do not exist for another tenant', async () => {
    const { id } = (await open())[0]!;
    expect(await call(`/${encodeURIComponent(id)}`, { accept: true }, 'sk-b-admin')).toMatchObject({
      status: 404,
      body: { error: { code: 'CONTRADICTION_NOT_FOUND' } },
    });
    expect((await call('/x', { accept: 'yes' })).status).toBe(400);
    expect(await open()).toHaveLength(1);
  });

  it('are not available on a gateway without the graph, which names the setting to add', async () => {
    const bare = await World.open();
    try {
      const response = await fetch(`${bare.url}/v1/admin/knowledge/quarantine`, { headers: byAdmin });
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { error: { message: expect.stringContaining('stores.neo4j') } },
      ]);
    } finally {
      await bare.close();
    }
  });
});
