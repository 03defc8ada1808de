import { describe, expect, it } from '@jest/globals';
import type { RunLimits } from '@conclave/contracts';
import { planAllowance } from './plan-allowance.js';

const limits: RunLimits = { wall_time_s: 300, model_calls: 10, prompt_tokens: 80_000, tokens: 1_000, cost: 2, concurrent_tasks: 8 };
const planner = { ask: () => ({}), faults: () => [] };

describe('what a plan may use', () => {
  it('leaves the calls that follow it, and the reserve of tokens and cost', () => {
    const left = { model_calls: 6, tokens: 1_000, wall_time_s: 9, cost: 1 };
    expect(planAllowance(left, limits, { ...planner, keeps: 2 })).toEqual({ calls: 4, tokens: 850, cost: 0.7 });
    expect(planAllowance(left, { ...limits, cost: null }, planner)).toEqual({ calls: 5, tokens: 850, cost: null });
  });

  it('is never less than nothing, and counts from the limit of cost if an older record does not say what is left', () => {
    expect(planAllowance({ model_calls: 1, tokens: 100, wall_time_s: 9 }, limits, { ...planner, keeps: 2 })).toEqual({
      ...{ calls: 0, tokens: 0, cost: 1.7 },
    });
  });
});
