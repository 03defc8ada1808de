import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InsightList, InsightView } from '@conclave/contracts';
import { MemoryGraphStore, type KnowledgeGraph } from '@conclave/ports';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let graph: KnowledgeGraph;
beforeEach(async () => {
  graph = new MemoryGraphStore().connect();
  world = await World.open({ keys: twoTenants, parts: { graph } });
  await world.post('/v1/runs', { model: 'conclave', input: 'Which conducts better?' }, { headers: { 'x-api-key': 'sk-a' } });
  world.write(completed());
});
afterEach(() => world.close());

const call = async (path: string, key = 'sk-a') => {
  const response = await fetch(`${world.url}/v1/knowledge/insights${path}`, { headers: { 'x-api-key': key } });
  return { status: response.status, body: await response.json() };
};
const learn = () =>
  graph.addSynthesis({
    tenant: 'a',
    runId: world.run(),
    insight: { summary: 'Copper conducts better than iron.', entities: ['Copper'], insight_type: 'comparison' },
    domain: 'physics',
    confidence: 0.9,
    at: 7,
    answer: 'Copper.',
    sources: [{ kind: 'web', title: 'Metals', url: null }],
  });

describe('insights of the knowledge graph', () => {
  it('are listed for the run they were learned from', async () => {
    expect(await call(`?run=${world.run()}`)).toEqual({ status: 200, body: { object: 'list', data: [] } });
    const { id } = await learn();
    expect(InsightList.parse((await call(`?run=${world.run()}`)).body).data).toMatchObject([{ id, trust: 0.9, flagged: false }]);
    expect(await call('')).toMatchObject({ status: 400, body: { error: { param: 'run' } } });
    expect((await call('?run=run_doesnotexist')).status).toBe(404);
  });

  it('name their run, answer and sources, and whether they were rated badly', async () => {
    const { id } = await learn();
    await graph.adjustTrust({ tenant: 'a', runId: world.run(), eventId: 'e', positive: false });
    expect(InsightView.parse((await call(`/${id}`)).body)).toEqual({
      object: 'insight',
      id,
      text: 'Copper conducts better than iron.',
      insight_type: 'comparison',
      domain: 'physics',
      entities: ['Copper'],
      confidence: 0.9,
      trust: 0.45,
      flagged: true,
      learned_from: [{ run: world.run(), at: 7, answer: 'Copper.', sources: [{ kind: 'web', title: 'Metals', url: null }] }],
    });
  });

  it('do not exist for another tenant', async () => {
    const { id } = await learn();
    expect(await call(`/${id}`, 'sk-b')).toMatchObject({ status: 404, body: { error: { code: 'INSIGHT_NOT_FOUND' } } });
    expect(await call(`?run=${world.run()}`, 'sk-b')).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
    expect((await call(`/${id}`, 'nobody')).status).toBe(401);
  });
});
