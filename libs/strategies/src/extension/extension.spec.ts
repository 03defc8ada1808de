import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { noUsage, type PlanRequested } from '@conclave/contracts';
import { research, Scenario, template } from '../testing/scenario.js';
import { anyRoom } from '../asks/ask.js';
import { describeCapability } from './describe-capability.js';
import { describePlanAsk, describeQuestion } from './describe-question.js';
import { describeStrategy, writer, type StrategyDescription, type Written } from './describe-strategy.js';

const once = describeStrategy<Written>({
  id: 'once',
  judges: { write: writer },
  next: ({ run, own }) => {
    if (run.ending)
      return own.draft ? [{ do: 'say', draft: own.draft }] : own.unwritten === undefined ? [{ do: 'judge', name: 'write' }] : [];
    return run.plan === null ? [{ do: 'plan' }] : [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }];
  },
});
const begun = (): Scenario => {
  const run = new Scenario({ strategy: 'once' }, once);
  run.requested();
  run.planned(0, [research('r', 'first')]);
  run.found('r', 'a fact');
  return run;
};

describe('a strategy with only the required members', () => {
  it('plans, works and writes like the committee', () => {
    const run = begun();
    run.composed('It is so.', 'judge.write');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'It is so.' });
    expect(run.dispatched()).toEqual(['0/r', '0/judge.write']);
  });

  it('answers from what was found if the writer fails', () => {
    const run = begun();
    run.failed('judge.write');
    expect(run.completed()).toMatchObject({
      ...{ outcome: 'completed', answer: expect.stringContaining('a fact') },
      ...{ reasonCode: 'composer_failed', reason: expect.stringContaining('could not be written by a model (') },
    });
  });

  it('refuses a plan that the committee would refuse', () => {
    const run = new Scenario({ strategy: 'once' }, once);
    run.requested();
    run.planned(0, [{ ...research('r', 'first'), capability: 'divination' }]);
    run.failed('judge.write');
    expect(run.completed()).toMatchObject({ outcome: 'failed' });
  });
});

describe('a strategy whose run finds nothing', () => {
  const looking = (more: object = {}): Scenario => {
    const strategy = describeStrategy<object>({
      id: 'looking',
      next: ({ run }) => (run.ending ? [] : run.plan === null ? [{ do: 'plan' }] : [{ do: 'decide', reading: { by: 'rounds' } }]),
      ...more,
    });
    const run = new Scenario({ strategy: 'looking' }, strategy);
    run.requested();
    run.planned(0, [research('r', 'first')]);
    run.found('r');
    return run;
  };

  it('is answered by one call, which is told so', () => {
    const run = looking();
    const asked = run.outputs.findLast(({ type }) => type === 'TaskDispatched')!.data as { input: object; stream: string };
    expect(asked).toMatchObject({ stream: 'live', input: { kind: 'synthesis', facts: [], unsourced: expect.any(String) } });
    run.composed('It is so, I think.', 'judge.knowledge');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', answer: 'It is so, I think.' });
    expect(run.dispatched()).toEqual(['0/r', '0/judge.knowledge']);
  });

  it('fails if no model writes, and if the strategy says itself that it has no last answer', () => {
    const run = looking();
    run.failed('judge.knowledge');
    expect(run.completed()).toMatchObject({ outcome: 'failed', failure: { code: 'PROVIDER_FAILED' } });
    expect(looking({ lastAnswer: () => null }).completed()).toMatchObject({ outcome: 'failed', reasonCode: 'empty_ledger' });
  });

  it('fails if its own code failed, whose author has to see that', () => {
    const next = ({ run }: { run: { ending: unknown } }) => (run.ending ? [] : [{ do: 'plan' }]);
    const run = new Scenario({ strategy: 'looking' }, describeStrategy<object>({ id: 'looking', next } as StrategyDescription<object>));
    run.requested();
    const failure = { code: 'STRATEGY_FAILED' as const, message: 'It failed in `planner.ask`.', retriable: false };
    run.planned(0, [], noUsage, { failure });
    expect(run.completed()).toMatchObject({ outcome: 'failed', failure });
  });

  it('cannot have a judge of its own with the name of that call', () => {
    expect(() => looking({ judges: { knowledge: writer } })).toThrow('has the judge "knowledge", a name that is taken');
  });
});

describe('a question of an extension', () => {
  const { ask } = describeQuestion({
    name: 'vote',
    prompt: ({ n }) => [{ role: 'user', content: `Vote ${String(n)}` }],
    read: ({ json }) => (json ? { output: json as Record<string, unknown> } : { faults: ['No JSON.'] }),
  });
  const input = { kind: 'values', values: { n: 3 } };

  it('receives values and returns values', () => {
    expect(ask.prompt(ask.input.parse(input), anyRoom)).toEqual([{ role: 'user', content: 'Vote 3' }]);
    expect(ask.read({ text: 'So: {"for": 2}', cutShort: false }, input)).toEqual({ output: { kind: 'values', values: { for: 2 } } });
    expect(ask.read({ text: 'two', cutShort: false }, input)).toEqual({ faults: ['No JSON.'] });
  });

  it('of a planner consists of tasks and the further content of the plan', () => {
    const plan = describePlanAsk({
      name: 'own',
      temperature: 0,
      prompt: ({ request, asked }) => [{ role: 'user', content: `${request.goal} ${String(asked['step'])}` }],
      read: ({ text }) => ({ output: { tasks: [research('r', text)], content: { step: 1 } } }),
    });
    const given = { request: { goal: 'Why?', template: template() } as unknown as PlanRequested['data'], asked: { step: 0 } };
    expect(plan.prompt(given, anyRoom)).toEqual([{ role: 'user', content: 'Why? 0' }]);
    expect(plan.read({ text: 'words', cutShort: false }, given)).toMatchObject({
      output: { tasks: [{ query: 'words' }], content: { step: 1 } },
    });
    expect(plan).toMatchObject({ reAsks: 2, call: { temperature: 0 } });
  });
});

describe('a capability of an extension', () => {
  const { declaration, repeatable } = describeCapability({
    name: 'tides',
    forPlanner: 'tides',
    args: z.strictObject({ harbour: z.string() }),
    perform: () => Promise.resolve({ facts: [] }),
  });
  const task = (args: Record<string, unknown>) => ({ ...research('t', ''), capability: 'tides', args });

  it('says what is wrong with the arguments of a plan', () => {
    expect(declaration.faults!(task({ harbour: 'Brest' }), template())).toEqual([]);
    expect(declaration.faults!(task({ town: 'Brest' }), template())).toEqual(expect.arrayContaining([expect.stringContaining('harbour')]));
    expect(repeatable).toBe(false);
  });
});
