import { describe, expect, it } from '@jest/globals';
import { expert, research, runId, Scenario, template } from '../testing/scenario.js';
import { describeStrategy, type StrategyDescription } from './describe-strategy.js';
import { readMoves } from './moves.js';

type View = Parameters<StrategyDescription<object>['next']>[0];
const decided: ReturnType<StrategyDescription<object>['next']> = [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }];

/** A strategy of an extension that takes a plan of the tasks `x` and `r`, with some of its functions replaced. */
function taken(change: object, tasks: readonly object[] = [expert('x', 'Say it'), research('r', 'tides')]): Scenario {
  const next = ({ run }: View) => (run.ending ? [] : run.plan === null ? [{ do: 'take', plan: { tasks } }] : decided);
  const strategy = describeStrategy<object>({ id: 'taking', next, ...change } as StrategyDescription<object>);
  const run = new Scenario({ strategy: 'taking' }, strategy);
  run.requested();
  return run;
}
const inputs = (run: Scenario): readonly unknown[] =>
  run.outputs.flatMap(({ type, data }) => (type === 'TaskDispatched' ? [(data as { input: unknown }).input] : []));

describe('the input of a task of an extension', () => {
  it('is the usual one, but for the members that the strategy gives', () => {
    const run = taken({
      task: (_view: View, _ref: string, { spec }: { spec: { id: string } }) => (spec.id === 'x' ? { prompt: 'Be brief.' } : {}),
    });
    expect(inputs(run)).toEqual([
      expect.objectContaining({ kind: 'expert', category: 'general', task: 'Say it', prompt: 'Be brief.' }),
      expect.objectContaining({ kind: 'research', query: 'tides' }),
    ]);
  });

  it.each([
    ['no object', 'Say it', 'It returned a string, not the input of a task, which is an object.'],
    ['a promise', Promise.resolve({}), 'a promise (it must not be `async`)'],
    ['another kind', { kind: 'values', values: {} }, 'of the kind "values" for the capability "expert.general", whose inputs are "expert"'],
    [
      'a misspelt member',
      { promt: 'Be brief.' },
      'the member `promt`, which no task "expert.general" has; there are: kind, category, task, ',
    ],
    ['a wrong type', { prompt: 5 }, 'a wrong input of the task "x": "prompt": Invalid input: expected string, received number.'],
  ])('that is %s ends the run with a sentence, because no worker could read it', (_what, given, words) => {
    const run = taken({ task: () => given });
    expect(run.completed()).toMatchObject({ failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining(words) } });
    expect(inputs(run)).toEqual([]);
  });
});

describe('a task that starts a run of another template', () => {
  const starting = (task: unknown): Scenario => {
    const next = ({ run }: View) =>
      run.ending
        ? []
        : Object.keys(run.tasks).length === 0
          ? [{ do: 'dispatch', tasks: [{ id: 'c', capability: 'run', task: 'Why?' }] }]
          : decided;
    const strategy = describeStrategy<object>({ id: 'starting', next, task } as StrategyDescription<object>);
    const run = new Scenario({ strategy: 'starting' }, strategy);
    run.requested({}, { children: { other: template({ id: 'other' }) } });
    return run;
  };

  it('needs only the template, and has the limits and the caller of its parent', () => {
    const run = starting(({ run: { request } }: View) => ({ template: request.children?.['other'] }));
    const { request, tasks } = run.state!;
    // Without a call of its own, the run could not begin.
    expect(tasks[`${runId}/0/c`]).toMatchObject({ calls: request.limits.model_calls, timeoutS: request.limits.wall_time_s });
    const opened = run.outputs.find(({ type }) => type === 'TaskDispatched')!.data as { allowance: { calls: number } };
    expect(opened.allowance.calls).toBeGreaterThan(0);
    expect(inputs(run)).toEqual([
      expect.objectContaining({
        kind: 'run',
        goal: 'Why?',
        limits: request.limits,
        caller: request.caller,
        template: template({ id: 'other' }),
      }),
    ]);
  });

  it('is refused where its run would be the fourth generation, because such a run has no id', () => {
    const { state } = starting(({ run: { request } }: View) => ({ template: request.children?.['other'] }));
    const opened = (of: string) => {
      const view = { run: { ...state!, runId: of }, own: {}, template: template(), budget: null, lastRound: false };
      return readMoves([{ do: 'dispatch', tasks: [{ id: 'c', capability: 'run', task: 'Why?' }] }], view, []);
    };
    expect(opened(`${runId}~0.a~0.b`)).toHaveLength(1);
    expect(() => opened(`${runId}~0.a~0.b~0.c`)).toThrow('would start a run 4 generations below the one that a client asked for');
  });

  it.each([
    ['no template', {}, 'a wrong input of the task "c": "template": '],
    ['the name of a template', { template: 'other' }, '"template": Invalid input: expected object, received string'],
    ['another kind', { kind: 'expert' }, 'of the kind "expert" for the capability "run", whose inputs are "run": return { template'],
  ])('with %s ends its run with a sentence', (_what, given, words) => {
    expect(starting(() => given).completed()).toMatchObject({ failure: { message: expect.stringContaining(words) } });
  });
});

describe('equal tasks of an extension', () => {
  const votes = ['v1', 'v2', 'v3'].map((id) => expert(id, 'In which town was she born?'));
  const opening = (more: object) => ({
    onPlan: () => [{ do: 'dispatch', tasks: votes.map(({ id, capability, task }) => ({ id, capability, task, ...more })) }],
  });

  it('are done once, also if its own plan contains them', () => {
    expect(taken({}, votes).dispatched()).toEqual(['0/v1']);
    expect(taken(opening({}), votes).dispatched()).toEqual(['0/v1']);
  });

  it('are all done if the strategy says that they may repeat each other', () => {
    const run = taken(opening({ mayRepeat: true }), votes);
    expect(run.dispatched()).toEqual(['0/v1', '0/v2', '0/v3']);
    for (const id of ['v1', 'v2', 'v3']) run.answered(id, 'Saint Orrin.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: expect.stringContaining('Saint Orrin.') });
  });
});

it('hundreds of tasks that the budget has no calls for are dropped, and the run ends with what was found', () => {
  const many = Array.from({ length: 220 }, (_, n) => expert(`t${n}`, `What is in room ${n}?`));
  const next = ({ run }: View) => (run.ending ? [] : run.plan === null ? [{ do: 'take', plan: { tasks: many } }] : decided);
  const run = new Scenario(
    { strategy: 'taking', limits: { ...template().limits, model_calls: 3, concurrent_tasks: 1 } },
    describeStrategy<object>({ id: 'taking', next } as StrategyDescription<object>),
  );
  run.requested();
  for (let n = 0; run.state!.tasks[`${runId}/0/t${n}`]?.status === 'open'; n += 1) run.answered(`t${n}`, `Room ${n} is empty.`);
  expect(run.completed()).toMatchObject({ outcome: 'completed', answer: expect.stringContaining('Room 0 is empty.') });
});
