import { describe, expect, it } from '@jest/globals';
import { noUsage, type PlanCreated } from '@conclave/contracts';
import { expert, Scenario } from '../testing/scenario.js';

const caching = { exact: null, scope: null, plan: 'plan/1' };

describe('the plan that a run leaves for an equal question', () => {
  const planned = (
    more: Partial<PlanCreated['data']> = {},
    usage?: PlanCreated['data']['usage'],
    keys: typeof caching | null = caching,
  ) => {
    const run = new Scenario({ max_agentic_rounds: 0 });
    run.requested({}, keys ? { caching: keys } : {});
    run.planned(0, [expert('x1', 'answer')], usage, { signals: ['words:many'], searchQuestion: 'who', ...more });
    return run;
  };
  const ended = (run: Scenario): unknown => {
    run.answered('x1', 'It is so.', 0.9);
    expect(run.completed()).toMatchObject({ outcome: 'completed' });
    return run.completed()!['plan'];
  };

  it('is its first one, published with its end and not before', () => {
    const run = planned();
    expect(run.types()).not.toContain('RunCompleted');
    expect(ended(run)).toEqual({
      complexity: 'moderate',
      signals: ['words:many'],
      tasks: [expert('x1', 'answer')],
      searchQuestion: 'who',
    });
  });

  it.each([
    ['came from a cache or from no model', planned({ cached: true }, noUsage)],
    ['stands for replies that could not be used', planned({ fallback: true })],
    ['may not be kept', planned({}, undefined, null)],
  ])('is absent if the plan is one that %s', (_what, run) => {
    expect(ended(run)).toBeNull();
  });
});
