import { describe, expect, it } from '@jest/globals';
import type { PlanRequested } from '@conclave/contracts';
import { runTag } from '@conclave/strategies';
import { planning, question, template } from './__fixtures__/planning.js';

const reply = (id: string): string =>
  JSON.stringify({
    search_question: 'history of both bridges',
    tasks: [
      { id, task: 'Find it.', capability: 'graph', metadata_filters: { expert_domain: 'science' } },
      { id: 'x1', task: 'Explain it.', capability: 'expert.general', needs: [id] },
    ],
  });

describe('the plan cache', () => {
  it('gives an equal question the same plan without a call, with its level, filters and search question', async () => {
    const { plan, prompts, metrics, stores } = planning([reply('g1')]);
    const first = await plan('run_00000001');
    const again = await plan('run_00000002', { goal: `  ${question.toUpperCase()} ` });
    expect(prompts).toHaveLength(1);
    expect(first).toMatchObject({ cached: false, tasks: [{ id: 'g1', metadata_filters: { expert_domain: 'science' } }, { id: 'x1' }] });
    const { complexity, signals, tasks, searchQuestion } = first;
    expect(complexity).not.toBe('trivial');
    expect(again).toMatchObject({ cached: true, complexity, signals, tasks, searchQuestion, usage: { calls: 0 }, fallback: false });
    expect(await metrics.text()).toContain('conclave_cache_hits_total{cache="plan"} 1');
    const shown = await stores.connect('two').stream.read('run_00000002', 0, 100);
    expect(JSON.stringify(shown.entries)).toContain('plan cache');
  });

  it('is neither read nor written by a re-plan', async () => {
    const { plan, rePlan, prompts } = planning([reply('g1'), reply('narrow'), reply('narrow2')]);
    await plan('run_00000001');
    expect(await rePlan('run_00000001')).toMatchObject({ cached: false, tasks: [{ id: 'narrow' }, {}] });
    expect(await plan('run_00000002')).toMatchObject({ cached: true, tasks: [{ id: 'g1' }, {}] });
    expect(await rePlan('run_00000002')).toMatchObject({ cached: false, tasks: [{ id: 'narrow2' }, {}] });
    expect(prompts).toHaveLength(3);
  });

  it.each<[string, Partial<PlanRequested['data']>]>([
    ['another tenant', { caller: { tenant: 'other', actor: 'me' } }],
    ['another template', { template: { ...template, id: 'other' } }],
    ['another version of the template', { template: { ...template, version: 'v2' } }],
    ['other tools', { template: { ...template, tools: [{ name: 's.t', description: 'd', signature: '' }] } }],
    ['other collections', { template: { ...template, collections: [{ name: 'c', description: 'd' }] } }],
    ['other capabilities', { template: { ...template, capabilities: ['graph'] } }],
    ['a history', { conversation: [{ role: 'user', content: 'Hi' }] }],
    ['other instructions', { system: 'Rhyme.' }],
    ['a changed number', { goal: `${question} Use 3 sentences.` }],
    ['an attachment', { attachments: [{ kind: 'image', mime: 'image/png', name: null, blob: 'b', url: null }] }],
    ['a client that wants no cache', { caching: null }],
    ['a template without a plan cache', { template: { ...template, caches: { ...template.caches!, plan: false } } }],
  ])('gives nothing to %s', async (_what, over) => {
    const { plan, prompts } = planning([reply('g1'), reply('g2'), reply('g3')]);
    await plan('run_00000001', { goal: over.goal ? `${question} Use 2 sentences.` : question });
    expect(await plan('run_00000002', over)).toMatchObject({ cached: false, tasks: [{ id: 'g2' }, {}] });
    expect(prompts).toHaveLength(2);
  });

  it.each<[string, Partial<PlanRequested['data']>]>([
    ['of a client that wants no cache', { caching: null }],
    ['for an attachment', { attachments: [{ kind: 'image', mime: 'image/png', name: null, blob: 'b', url: null }] }],
  ])('keeps no plan %s', async (_what, over) => {
    const { plan } = planning([reply('g1'), reply('g2')]);
    await plan('run_00000001', over);
    expect(await plan('run_00000002')).toMatchObject({ cached: false });
  });

  it('keeps no plan that no model made', async () => {
    const { plan, prompts } = planning(['chat', 'chat', 'chat', reply('g1')]);
    expect(await plan('run_00000001')).toMatchObject({ fallback: true });
    expect(await plan('run_00000002')).toMatchObject({ cached: false, fallback: false });
    expect(prompts).toHaveLength(4);
  });

  it('is stable for a run: a repeat takes the plan of the first time, whatever the cache holds now', async () => {
    const { handle, request, plan, stores, prompts } = planning([reply('g1'), reply('g2')]);
    const missed = await request('run_00000001');
    const first = await handle(missed);
    // The run has filled the cache itself meanwhile, and its repeat may not hit that.
    expect(await handle(missed)).toEqual(first);
    const hit = await request('run_00000002');
    const second = await handle(hit);
    expect(second).toMatchObject({ cached: true, tasks: first.tasks });
    await stores.caches.removeTagged('acme', runTag('run_00000001'));
    expect(await handle(hit)).toEqual(second);
    expect(await plan('run_00000003')).toMatchObject({ cached: false, tasks: [{ id: 'g2' }, {}] });
    expect(prompts).toHaveLength(2);
  });

  it('takes what it cannot read for nothing', async () => {
    const { plan, stores } = planning([reply('g1'), reply('g2')]);
    const { write } = stores.caches;
    stores.caches.write = (entry) => write.call(stores.caches, { ...entry, value: { tasks: 'none' } });
    await plan('run_00000001');
    expect(await plan('run_00000002')).toMatchObject({ cached: false, tasks: [{ id: 'g2' }, {}] });
  });
});
