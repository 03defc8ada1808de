import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EntityList, EntityView, GraphFacts } from '@conclave/contracts';
import { MemoryGraphStore, type KnowledgeGraph } from '@conclave/ports';
import { twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let graph: KnowledgeGraph;
beforeEach(async () => {
  graph = new MemoryGraphStore().connect();
  world = await World.open({ keys: twoTenants, parts: { graph } });
  await graph.addSynthesis({
    ...{ tenant: 'a', runId: 'run_00000001', domain: 'materials', confidence: 0.9, at: 7, answer: 'Copper.', sources: [] },
    insight: { summary: 'Copper conducts.', entities: ['Copper', 'Iron'], insight_type: 'comparison' },
  });
  await graph.addTriples({
    ...{ tenant: 'a', eventId: 'e', runId: 'run_00000002', source: 'answer', domain: 'materials', at: 8 },
    triples: [{ subject: 'Brass', subjectType: 'alloy', relation: 'USES', object: 'Copper', objectType: 'metal', confidence: 0.9 }],
  });
});
afterEach(() => world.close());

const get = async (path: string, key = 'sk-a') => {
  const response = await fetch(`${world.url}/v1/knowledge${path}`, { headers: { 'x-api-key': key } });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};

describe('the knowledge graph over HTTP', () => {
  it('is counted, and listed by name in pages', async () => {
    expect(GraphFacts.parse((await get('')).body)).toMatchObject({ entities: 3, relations: 1, insights: 1, quarantined: 0 });
    const list = async (query: string, key?: string) => EntityList.parse((await get(`/entities${query}`, key)).body);
    const first = await list('?limit=2');
    expect(first).toMatchObject({ data: [{ id: 'brass', name: 'Brass', type: 'alloy' }, { id: 'copper' }], nextAfter: 'copper' });
    expect(await list(`?limit=2&after=${first.nextAfter}`)).toMatchObject({ data: [{ id: 'iron' }], nextAfter: null });
    expect((await list('?search=OPP')).data.map(({ id }) => id)).toEqual(['copper']);
    expect((await list('', 'sk-b')).data).toEqual([]);
  });

  it('shows the neighbours of an entity with their trust, and the insights with the runs they came from', async () => {
    const copper = EntityView.parse((await get('/entities/Copper')).body);
    expect(copper).toMatchObject({
      id: 'copper',
      relations: [{ subject: { id: 'brass' }, relation: 'USES', object_entity: { id: 'copper' }, run: 'run_00000002', verified: false }],
      insights: [{ text: 'Copper conducts.', runs: ['run_00000001'], entities: ['Copper', 'Iron'] }],
      nextOffset: null,
    });
    expect(copper.relations[0]!.trust).toBeGreaterThan(0);
    expect(await get('/entities/copper', 'sk-b')).toMatchObject({ status: 404, body: { error: { code: 'ENTITY_NOT_FOUND' } } });
    expect((await get('/entities/copper?offset=-1')).status).toBe(400);
  });
});
