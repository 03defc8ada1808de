import { describe, expect, it } from '@jest/globals';
import type { Strategy } from '@conclave/loop';
import { Scenario } from '../testing/scenario.js';
import { describeStrategy, type StrategyDescription } from './describe-strategy.js';

/** A strategy that plans once and ends. */
const written = (planner: object): Strategy =>
  describeStrategy({
    id: 'written',
    planner,
    next: ({ run }) => {
      if (run.ending) return [{ do: 'say', draft: 'It is so.' }];
      return run.plan === null ? [{ do: 'plan' }] : [{ do: 'decide', reading: { by: 'assessment', sufficient: true } }];
    },
  } as StrategyDescription<object>) as Strategy;

describe('the budget of a strategy of an extension', () => {
  const limited = (calls: number, planner: object): Scenario => {
    const run = new Scenario({ strategy: 'written' }, written({ faults: () => [], ...planner }));
    run.requested({ model_calls: calls });
    return run;
  };

  it('keeps one call for the answer, or as many as the strategy names', () => {
    expect(limited(2, {}).state!.awaiting).not.toBeNull();
    expect(limited(1, {}).completed()).toMatchObject({ rule: 'D2', answer: 'It is so.' });
    expect(limited(3, { keeps: 3 }).completed()).toMatchObject({
      ...{ outcome: 'limit_reached', reason: 'The budget leaves no model call for a plan besides the answer.' },
    });
    expect(limited(4, { keeps: 3 }).state!.awaiting).not.toBeNull();
  });

  it('is known to its fallback, after whose plan the run says that there was no other', () => {
    const why: unknown[] = [];
    const fallback = (_view: unknown, reason: string) => (
      why.push(reason),
      { tasks: [{ id: 'x', capability: 'expert.general', task: 'Say it' }] }
    );
    const run = limited(2, { keeps: 2, fallback });
    run.answered('x', 'It is so.');
    expect(why).toEqual(['budget']);
    expect(run.completed()!['reason']).toContain('no model call for a plan');
  });

  it.each([2, 8])('ends a run whose strategy opens tasks for which none of %d calls is left, with what was found before', (calls) => {
    const tireless = describeStrategy({
      id: 'written',
      next: ({ run }) => {
        if (run.ending) return [];
        const id = `x${Object.keys(run.tasks).length}`;
        return [{ do: 'dispatch', tasks: [{ id, capability: 'expert.general', task: 'Say it', mayRepeat: true }] }];
      },
    }) as Strategy;
    const run = new Scenario({ strategy: 'written' }, tireless);
    run.requested({ model_calls: calls });
    for (let n = 0; run.completed() === undefined && n < calls; n += 1) run.answered(`x${n}`, 'It is so.');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_model_calls' });
    expect(run.completed()!['answer']).toContain('It is so.');
  });

  it('is refused at the start if it is no number of calls', () => {
    expect(() => written({ keeps: 'two' })).toThrow('has a `planner` whose `keeps` is no whole number of model calls');
  });
});
