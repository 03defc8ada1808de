import { describe, expect, it } from '@jest/globals';
import type { KeptPlan } from '@conclave/contracts';
import { planning } from './__fixtures__/planning.js';

const reply = (id: string): string =>
  JSON.stringify({
    search_question: 'history of both bridges',
    tasks: [
      { id, task: 'Find it.', capability: 'graph', metadata_filters: { expert_domain: 'science' } },
      { id: 'x1', task: 'Explain it.', capability: 'expert.general', needs: [id] },
    ],
  });
const task = { query: null, metadata_filters: null };
const kept: KeptPlan = {
  complexity: 'complex',
  signals: ['words:many'],
  searchQuestion: 'history of both bridges',
  tasks: [
    { ...task, id: 'g1', task: 'Find it.', capability: 'graph', needs: [], metadata_filters: { expert_domain: 'science' } },
    { ...task, id: 'x1', task: 'Explain it.', capability: 'expert.general', needs: ['g1'] },
  ],
};

describe('a plan that was kept and came with the request', () => {
  it('is the plan of the first round without a call, with its level, filters and search question', async () => {
    const { plan, prompts, stores } = planning([]);
    expect(await plan('run_00000001', { plan: kept })).toMatchObject({ ...kept, cached: true, fallback: false, usage: { calls: 0 } });
    expect(prompts).toEqual([]);
    const shown = await stores.connect('two').stream.read('run_00000001', 0, 100);
    expect(JSON.stringify(shown.entries)).toContain('plan cache');
  });

  it('is not used as the plan of a later round', async () => {
    const { plan, rePlan } = planning([reply('narrow')]);
    await plan('run_00000001', { plan: kept });
    expect(await rePlan('run_00000001')).toMatchObject({ cached: false, tasks: [{ id: 'narrow' }, {}] });
  });

  it('is left alone by a question that needs no plan', async () => {
    const { plan } = planning([]);
    expect(await plan('run_00000001', { plan: kept, goal: 'Thanks!' })).toMatchObject({
      cached: false,
      complexity: 'trivial',
      tasks: [{}],
    });
  });
});

describe('a plan that was made', () => {
  it('goes into no cache: its run has not ended', async () => {
    const { plan, stores, prompts } = planning([reply('g1'), reply('g2')]);
    const written: unknown[] = [];
    const { write } = stores.caches;
    stores.caches.write = (entry) => (written.push(entry), write.call(stores.caches, entry));
    const caching = { exact: null, scope: null, plan: 'plan/1' };
    expect(await plan('run_00000001', { caching })).toMatchObject({ cached: false, tasks: [{ id: 'g1' }, {}] });
    expect(await plan('run_00000002', { caching })).toMatchObject({ cached: false, tasks: [{ id: 'g2' }, {}] });
    expect([written, prompts.length]).toEqual([[], 2]);
  });
});
