import { describe, expect, it } from '@jest/globals';
import { keptPlan, planning, template } from './__fixtures__/planning.js';

const two = { ...template, experts: { general: { t1: ['a@fake', 'b@fake'], prompt: '' }, science: { t1: ['c@fake'], prompt: '' } } };
const reply = JSON.stringify({
  tasks: [
    { id: 'x1', task: 'One.', capability: 'expert.general' },
    { id: 'x2', task: 'Two.', capability: 'expert.science' },
  ],
});
const learned = (tenant: string) => ({
  eventId: `learned/${tenant}`,
  tenant,
  updates: [{ category: 'general', model: 'a@fake', positive: 0, negative: 50 }],
});

describe('the order in which first-tier models are asked', () => {
  it('is drawn for the categories of the plan that have a choice, and skips a model that is known to be bad', async () => {
    const { plan, stores } = planning([reply]);
    await stores.scores.add(learned('acme'));
    expect((await plan('run_00000001', { template: two })).choices).toEqual({ general: ['b@fake'] });
  });

  it('follows the scores of its own tenant', async () => {
    const { plan, stores } = planning([reply]);
    await stores.scores.add(learned('other'));
    expect([...(await plan('run_00000001', { template: two })).choices['general']!].sort()).toEqual(['a@fake', 'b@fake']);
  });

  it('is drawn once for a plan: a repeat uses the same order, whatever was learned in the meantime', async () => {
    let draws = 0;
    const { handle, request, stores } = planning([reply], () => ((draws += 1) % 97) / 97);
    const header = await request('run_00000001', { template: two });
    const first = await handle(header);
    const drawn = draws;
    expect(first.choices['general']).toHaveLength(2);
    await stores.scores.add(learned('acme'));
    expect(await handle(header)).toEqual(first);
    expect(draws).toBe(drawn);
  });

  it('is drawn for a trivial question and for a cached plan too', async () => {
    const { plan, stores, prompts } = planning([]);
    await stores.scores.add(learned('acme'));
    const trivial = await plan('run_00000001', { template: two, goal: 'What is the capital of France?' });
    expect(trivial).toMatchObject({ complexity: 'trivial', choices: { general: ['b@fake'] } });
    expect(await plan('run_00000002', { template: two, plan: keptPlan })).toMatchObject({ cached: true, choices: { general: ['b@fake'] } });
    expect(prompts).toEqual([]);
  });

  it('leaves a category with a single model, even when it is named twice, unchanged, and reads no scores', async () => {
    const { plan, stores } = planning([reply]);
    stores.scores.read = () => Promise.reject(new Error('Nobody needs them.'));
    const same = { ...two, experts: { ...two.experts, general: { t1: ['a@fake', 'a@fake'], prompt: '' } } };
    expect((await plan('run_00000001', { template: same })).choices).toEqual({});
  });
});
