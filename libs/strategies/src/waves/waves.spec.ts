import { describe, expect, it } from '@jest/globals';
import type { GapDetected, PlannedTask, TaskDispatched, Template } from '@conclave/contracts';
import { oneCall, Scenario } from '../testing/scenario.js';
import type { WaveContent } from './wave-plan.js';
import { waves } from './waves.js';

const tools = [
  { name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true },
  { name: 'stock.order', description: 'Orders', signature: 'item: string', repeatable: false },
];
const begun = (changes: Partial<Template> = {}, limits = {}): Scenario => {
  const run = new Scenario({ strategy: 'waves', tools, ...changes });
  run.requested(limits);
  return run;
};
const call = (id: string, tool: string, args: Record<string, unknown> = {}, needs: string[] = []): PlannedTask => ({
  ...{ id, capability: 'mcp', task: `Call ${tool}`, query: null, needs, tool, args, metadata_filters: null },
});
const wave = (run: Scenario, epoch: number, status: WaveContent['status'], tasks: PlannedTask[], more: Partial<WaveContent> = {}) =>
  run.planned(epoch, tasks, oneCall, { content: { status, action: `wave ${epoch + 1}`, slots: {}, reasoning: '', ...more } });
const asked = (run: Scenario): GapDetected['data']['asked'] =>
  (run.outputs.filter(({ type }) => type === 'GapDetected').at(-1)!.data as GapDetected['data']).asked;
const wavesOf = (run: Scenario): number => run.outputs.filter(({ type }) => type === 'GapDetected').length + 1;
const tasks = (run: Scenario): string[] => run.dispatched().filter((id) => !id.includes('judge.'));

describe('waves', () => {
  it('plan the next wave from the results of the last, and end when the planner is done with its calls', () => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' }), call('b', 'stock.count', { item: 'bolt' })], { slots: { x: 1 } });
    expect(tasks(run)).toEqual(['0/a', '0/b']);
    run.found('b', '7 bolts');
    expect(wavesOf(run)).toBe(1);
    run.found('a', '3 nuts');
    expect(asked(run)).toEqual({
      ...{ wave: 2, of: 5, slots: { x: 1 }, said: [{ action: 'wave 1', reasoning: '' }] },
      calls: [
        { id: 'a', wave: 1, tool: 'stock.count', args: { item: 'nut' }, status: 'ok', text: '3 nuts' },
        { id: 'b', wave: 1, tool: 'stock.count', args: { item: 'bolt' }, status: 'ok', text: '7 bolts' },
      ],
    });
    wave(run, 1, 'done', [call('c', 'stock.count', { item: 'saw' }, ['a'])], { slots: { y: 2 } });
    run.found('c', 'no saw');
    expect(wavesOf(run)).toBe(2);
    run.composed('3 nuts, 7 bolts, no saw');
    expect(run.completed()).toMatchObject({
      outcome: 'completed',
      rule: 'D3',
      rounds: 2,
      answer: '3 nuts, 7 bolts, no saw',
      assessed: true,
    });
    expect(run.state!.decisions.map(({ rule }) => rule)).toEqual(['D11', 'D3']);
  });

  it.each(['done', 'continue'] as const)('end without a call if the planner wants none (%s)', (status) => {
    const run = begun();
    wave(run, 0, status, []);
    run.composed('Nothing to call.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'Nothing to call.' });
  });

  it('say that a wave repeats answered calls or names none, and not that the planner is done', () => {
    const ended = (change: Partial<WaveContent>, status: WaveContent['status'] = 'continue') => {
      const run = begun();
      wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' })]);
      run.found('a', '3 nuts');
      wave(run, 1, status, [], { action: 'same', ...change });
      run.composed('3 nuts.');
      const { outcome, reason } = run.completed()!;
      return {
        outcome,
        reason,
        said: run.facts.flatMap((fact) => (fact.kind === 'Turn' && fact.plan ? [fact.plan.says] : [])),
      };
    };
    const before = 'All calls that the planner wants were answered before';
    expect(ended({ answered: 1 }, 'done')).toEqual({
      ...{ outcome: 'completed', reason: `Nothing more is done after 1 round. ${before}.`, said: ['wave 1', `same. ${before}`] },
    });
    expect(ended({}).reason).toBe('Nothing more is done after 1 round. The planner wants more, but names no call.');
    expect(ended({}, 'done').reason).toBe('The planner says that nothing more is needed after 1 round.');
  });

  it.each([
    [5, {}],
    [2, { options: { max_waves: 2 } }],
  ])('end at the limit after wave %i, and the planner is not asked again', (most, changes) => {
    const run = begun(changes);
    for (let epoch = 0; epoch < most; epoch += 1) {
      wave(run, epoch, 'continue', [call(`c${epoch}`, 'stock.count', { item: epoch })]);
      run.found(`c${epoch}`, `found ${epoch}`);
    }
    expect(wavesOf(run)).toBe(most);
    run.composed('So far.');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D6', answer: 'So far.' });
  });

  it('show the planner a call that failed, and continue', () => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' }), call('b', 'stock.count', { item: '?' })]);
    run.failed('b');
    run.found('a', '3 nuts');
    expect(asked(run)).toMatchObject({
      calls: [
        { id: 'a', status: 'ok' },
        { id: 'b', status: 'error', text: 'broken' },
      ],
    });
  });

  it.each(['ok', 'failed'] as const)('make one call of two equal ones in a wave, however it ends (%s)', (end) => {
    const run = begun();
    wave(run, 0, 'done', [call('a', 'stock.order', { item: 'nut' }), call('b', 'stock.order', { item: 'nut' })]);
    expect(tasks(run)).toEqual(['0/a']);
    if (end === 'ok') run.found('a', 'ordered');
    else run.failed('a');
    expect(tasks(run)).toEqual(['0/a']);
    run.composed('That is that.');
    expect(run.completed()).toMatchObject({ rounds: 1 });
  });

  it('make one change of calls that only spell it in other ways, also in a later wave', () => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', 'stock.order', { item_id: 5 }), call('b', 'stock.order', { itemId: '5' })]);
    run.found('a', 'ordered');
    wave(run, 1, 'continue', [call('c', 'stock.order', { args: { item_id: 5 } }), call('d', 'stock.order', { item_id: 6 })]);
    expect(tasks(run)).toEqual(['0/a', '1/d']);
    run.found('d', 'ordered, too');
    const same = { status: 'ok', text: 'The same as a.' };
    expect(asked(run)).toMatchObject({ calls: [{ id: 'a' }, { id: 'b', ...same }, { id: 'c', ...same }, { id: 'd', status: 'ok' }] });
  });

  it.each(['done', 'continue'] as const)('do not send arguments that stand for a result, and plan another wave (%s)', (status) => {
    const run = begun();
    wave(run, 0, status, [call('a', 'stock.count', { item: 'nut' }), call('b', 'stock.order', { item: '{{a.item_id}}' })]);
    const inputs = run.outputs.flatMap(({ type, data }) => (type === 'TaskDispatched' ? [(data as TaskDispatched['data']).input] : []));
    expect(inputs[0]).not.toHaveProperty('refused');
    expect(inputs[1]).toMatchObject({
      refused: expect.stringContaining('in "item", "{{a.item_id}}" stands for a value that is not filled in.'),
      refusedAs: 'TOOL_ARGUMENTS_INVALID',
    });
    run.found('a', '3 nuts');
    run.failed('b');
    expect(wavesOf(run)).toBe(2);
    wave(run, 1, 'done', [call('c', 'stock.order', { item: 'n7' })]);
    run.found('c', 'ordered');
    run.composed('Ordered.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3' });
  });

  it('tell the composer which changes failed, unless a later wave made one', () => {
    const undone = (more: (run: Scenario) => void) => {
      const run = begun();
      wave(run, 0, 'continue', [
        call('a', 'stock.order', { item: 'nut' }),
        call('b', 'stock.order', { item: 'saw' }),
        call('c', 'stock.count'),
      ]);
      run.failed('a');
      run.failed('c');
      run.found('b', 'ordered');
      more(run);
      const { input } = run.outputs.filter(({ type }) => type === 'TaskDispatched').at(-1)!.data as TaskDispatched['data'];
      return (input as Extract<typeof input, { kind: 'synthesis' }>).undone;
    };
    expect(undone((run) => wave(run, 1, 'done', []))).toEqual([{ call: 'stock.order (item: nut)', reason: 'broken' }]);
    const failure = { code: 'TOOL_ARGUMENTS_INVALID', message: 'Say it so: item: string', retriable: false, unsent: true as const };
    const unsent = undone((run) => {
      wave(run, 1, 'done', [call('e', 'stock.order', { thing: 'nut' })]);
      run.result('e', { status: 'error', output: null, failure });
    });
    expect(unsent?.at(1)).toEqual({
      call: 'stock.order (thing: nut)',
      reason: 'The arguments do not match what the tool expects.',
      unsent: true,
    });
    const after = (args: Record<string, unknown>) =>
      undone((run) => {
        wave(run, 1, 'done', [call('d', 'stock.order', args)]);
        run.found('d', 'ordered');
      });
    expect(after({ Thing: ' nut' })).toBeUndefined();
    // A change for something else says nothing about the one that failed.
    expect(after({ item: 'bolt' })).toEqual([{ call: 'stock.order (item: nut)', reason: 'broken' }]);
  });

  it('take values from the results of earlier waves, and nothing from calls that failed or of the same wave', () => {
    const known = (id: string, status: 'ok' | 'error', text: string) => ({ id, wave: 2, tool: 'stock.count', args: {}, status, text });
    const said = {
      tasks: [call('c', 'stock.order', { item: '{{a.item_id}}', note: '{{b.id}}', other: '{{c.id}}' })],
      content: {},
    };
    const asked = {
      wave: 3,
      of: 5,
      slots: {},
      said: [],
      calls: [known('a', 'ok', '{"item":{"item_id":7}}'), known('b', 'error', '{"id":1}')],
    };
    const taken = waves.planTakes!.values(said, { asked } as never);
    expect(taken).toMatchObject([{ said: '{{a.item_id}}', task: { epoch: 1, id: 'a' }, isWhole: true }]);
    const values = new Map(taken.map(({ said: words, known: text, of }) => [words, of(text)]));
    expect(waves.planTakes!.filled(said, values).tasks[0]!.args).toEqual({ item: 7, note: '{{b.id}}', other: '{{c.id}}' });
  });

  it('make a change again that was certainly not made, and no other', () => {
    const after = (more: { unsent?: true }) => {
      const run = begun();
      wave(run, 0, 'continue', [call('a', 'stock.order', { item: 'nut' })]);
      const failure = { code: 'TOOL_SERVER_UNAVAILABLE', message: 'away', retriable: true, ...more };
      run.result('a', { status: 'error', output: null, failure });
      wave(run, 1, 'continue', [call('b', 'stock.order', { Item: 'nut' })]);
      return tasks(run);
    };
    expect(after({ unsent: true })).toEqual(['0/a', '1/b']);
    expect(after({})).toEqual(['0/a']);
  });

  it('name the tools first that a wrong name may mean', () => {
    const named = (tool: string) => {
      const many = Array.from({ length: 20 }, (_, n) => ({ name: `misc.thing${n}`, description: '', signature: '' }));
      const run = begun({
        tools: [
          ...many,
          ...tools,
          { name: 'shop.sum', description: '', signature: '' },
          { name: 'bank.sum', description: '', signature: '' },
        ],
      });
      wave(run, 0, 'continue', [call('a', tool)]);
      const { input } = run.outputs.find(({ type }) => type === 'TaskDispatched')!.data as TaskDispatched['data'];
      return (input as Extract<typeof input, { kind: 'mcp' }>).refused;
    };
    expect(named('stock.count_items')).toContain('Use one of: stock.count, stock.order, misc.thing0,');
    expect(named('sum')).toContain('Use one of: shop.sum, bank.sum, ');
    expect(named('createOrders')).toMatch(/Use one of: stock\.order, .*, or another of the 24 that are listed\.$/);
  });

  it('are stuck after three waves in which every call failed', () => {
    const run = begun();
    for (let epoch = 0; epoch < 3; epoch += 1) {
      wave(run, epoch, 'continue', [call(`c${epoch}`, 'stock.count', { item: epoch })]);
      run.failed(`c${epoch}`);
    }
    run.composed('No tool works.');
    expect(run.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4' });
  });

  it('fail a call of a tool that is not offered without making it', () => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', 'bank.pay', { sum: 9 })]);
    const task = run.outputs.find(({ type }) => type === 'TaskDispatched')!;
    expect(task.data).toMatchObject({ input: { refused: expect.stringContaining('Use one of: stock.count, stock.order') } });
  });

  it('make an equal call once: the result is known', () => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' })]);
    run.found('a', '3 nuts');
    wave(run, 1, 'continue', [call('b', 'stock.count', { item: 'nut' })]);
    expect(tasks(run)).toEqual(['0/a']);
    expect(asked(run)).toMatchObject({ calls: [{ id: 'a' }, { id: 'b', status: 'ok', text: 'The same as a.' }] });
  });

  it.each([
    ['stock.count', ['0/a', '1/b']],
    ['stock.order', ['0/a']],
  ])('repeat a failed call of %s only if that changes nothing', (tool, made) => {
    const run = begun();
    wave(run, 0, 'continue', [call('a', tool, { item: 'nut' })]);
    run.failed('a');
    wave(run, 1, 'done', [call('b', tool, { item: 'nut' })]);
    expect(tasks(run)).toEqual(made);
  });

  it('refuse a plan that uses an id of an earlier wave, or needs a call of the same wave', () => {
    for (const second of [call('a', 'stock.count', { item: 'saw' }), call('b', 'stock.count', {}, ['b'])]) {
      const run = begun();
      wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' })]);
      run.found('a', '3 nuts');
      wave(run, 1, 'continue', [second]);
      run.composed('3 nuts.');
      expect(run.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4', answer: '3 nuts.' });
    }
  });

  it('tell the composer each call that never worked, also if the tool worked for other arguments', () => {
    const run = begun();
    const count = (id: string, item: string) => call(id, 'stock.count', { item });
    wave(run, 0, 'continue', [count('a', 'nut'), count('b', 'saw'), count('c', 'bolt')]);
    run.found('a', '3 nuts');
    run.failed('b');
    run.failed('c');
    wave(run, 1, 'done', [count('d', 'saw'), count('e', 'bolt')]);
    run.failed('d');
    run.found('e', '7 bolts');
    const { input } = run.outputs.filter(({ type }) => type === 'TaskDispatched').at(-1)!.data as TaskDispatched['data'];
    expect(input).toMatchObject({
      kind: 'synthesis',
      failed: [{ capability: 'mcp', task: 'Call stock.count (item: saw)', reason: 'broken' }],
    });
  });

  it('list what was found, and why they ended, if no model could write the answer', () => {
    const run = begun();
    wave(run, 0, 'done', [call('a', 'stock.count', { item: 'nut' })], { action: 'Counting the nuts.' });
    run.found('a', '3 nuts');
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({
      outcome: 'completed',
      reasonCode: 'composer_failed',
      answer: expect.stringMatching(
        /^What was found so far:\n- 3 nuts \[1\]\n\nWhy it stopped: .+ by a model \(broken\).+\n\nSources:\n\[1\] doc$/,
      ),
      sources: [{ title: 'doc', n: 1 }],
    });
  });

  it('fail if nothing was found and no model could write the answer', () => {
    const run = begun();
    wave(run, 0, 'done', [], { action: 'All is known' });
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({ outcome: 'failed', answer: null, failure: { message: 'broken' } });
  });

  it('keep the last model call for the answer', () => {
    const run = begun({}, { model_calls: 3 });
    for (const epoch of [0, 1]) {
      wave(run, epoch, 'continue', [call(`c${epoch}`, 'stock.count', { item: epoch })]);
      run.result(`c${epoch}`, { usage: { ...oneCall, calls: 0 } });
    }
    expect(wavesOf(run)).toBe(2);
    run.composed('So far.');
    expect(run.completed()).toMatchObject({
      outcome: 'limit_reached',
      rule: 'D2',
      reasonCode: 'budget_model_calls',
      reason: 'The budget leaves no model call for another wave besides the answer.',
      answer: 'So far.',
    });
  });

  it('answer from what the model knows if not even a first plan arrived', () => {
    const run = begun();
    run.planFailed(0);
    run.composed('Three, I think.');
    expect(run.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4', answer: 'Three, I think.' });
  });

  it('fail if no model writes that answer', () => {
    const run = begun();
    run.planFailed(0);
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({ outcome: 'failed', answer: null });
  });

  it('limit a call to the seconds of the options, and do not cache an answer that rests on calls', () => {
    const run = begun({ options: { call_timeout_s: 7 } });
    wave(run, 0, 'done', [call('a', 'stock.count', { item: 'nut' })]);
    expect(run.outputs.find(({ type }) => type === 'TaskDispatched')!.data).toMatchObject({ timeoutS: 7 });
    run.found('a', '3 nuts');
    run.composed('3 nuts.');
    expect(run.completed()).toMatchObject({ caching: null });
  });

  it('write from what there is when the time of the run is nearly used up', () => {
    const run = begun({}, { wall_time_s: 100 });
    wave(run, 0, 'continue', [call('a', 'stock.count', { item: 'nut' })]);
    run.now += 90_000;
    run.found('a', '3 nuts');
    run.composed('3 nuts.');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', answer: '3 nuts.' });
    expect(wavesOf(run)).toBe(1);
  });
});
