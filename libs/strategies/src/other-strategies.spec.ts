import { describe, expect, it } from '@jest/globals';
import { noUsage, type Draft, type Reading, type RuleId, type RequestedTask, type Template } from '@conclave/contracts';
import type { Strategy, View } from '@conclave/loop';
import { actionOf } from './plan-rules.js';
import { expert, research, runId, Scenario } from './testing/scenario.js';

const draft = ({ run }: View, text: string): Draft => ({ text, sources: [], insight: null, cutShort: false, epoch: run.epoch });
const requested = (id: string, task: string): RequestedTask => {
  const spec = research(id, task);
  return { spec, action: actionOf(spec, [spec]), models: [], learn: 'settled', stream: 'held' };
};

/** A strategy unlike the committee: one task after the other, with readings from a list. */
const toy = (readings: readonly Reading[], limits: Partial<ReturnType<Strategy['limits']>> = {}): Strategy => ({
  id: 'reasoning',
  commands: ['answer', 'override_step', 'steer'],
  limits: () => ({ rounds: 9, adjusts: 3, stuck: 3, stall: 2, end: 'limit_reached', asks: true, ...limits }),
  planner: { ask: () => ({}), faults: () => [] },
  judges: {},
  initial: () => null,
  task: (_view, _ref, { spec }) => ({ kind: 'research', task: spec.task, query: spec.query ?? '', limit: 1 }),
  onPlan: ({ run }, plan) => [{ do: 'dispatch', tasks: plan.tasks.map(({ id, query }) => requested(`${id}.${run.epoch}`, query ?? id)) }],
  next: (view) => {
    const { run } = view;
    if (run.ending) return [{ do: 'say', draft: draft(view, `said after ${run.rounds}`) }];
    if (run.plan === null) return [{ do: 'plan' }];
    return [{ do: 'decide', reading: readings[run.decisions.length] ?? { by: 'assessment', sufficient: true } }];
  },
  onDecided: ({ run, own }, then) => {
    if (then === 'continue') return [{ do: 'dispatch', tasks: [requested(`more.${run.rounds}`, `step ${run.rounds}`)] }];
    if (then === 'ask_user') return [{ do: 'ask', question: 'Which one?' }];
    return [{ do: 'note', data: { then, own } }, { do: 'plan' }];
  },
  onCommand: ({ run }, command) =>
    command.name === 'override_step'
      ? [{ do: 'dispatch', tasks: [requested(`own.${run.rounds}`, command.input)] }]
      : [{ do: 'dispatch', tasks: [requested(`answered.${run.rounds}`, 'with the answer')] }],
  lastAnswer: (view, reason) => draft(view, reason),
  summary: () => ({ planSummary: '', findings: '' }),
  report: () => ({ complexity: 'moderate', review: 'none' }),
});

const open: Reading = { by: 'assessment', sufficient: false, open: 'more' };
const begun = (readings: readonly Reading[], limits = {}, changes: Partial<Template> = {}): Scenario => {
  const run = new Scenario({ strategy: 'reasoning', ...changes }, toy(readings, limits));
  run.requested();
  run.planned(0, [research('r', 'first')]);
  run.found('r.0', 'a fact');
  return run;
};
const rules = (run: Scenario): readonly RuleId[] => run.state!.decisions.map(({ rule }) => rule);

describe('another strategy', () => {
  it('continues with the plan it holds while rounds are clean (D5)', () => {
    const run = begun([
      { ...open, held: 2 },
      { ...open, held: 1 },
    ]);
    run.found('more.1', 'another');
    expect(rules(run)).toEqual(['D5', 'D5']);
    run.found('more.2', 'the last');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'said after 3' });
  });

  it('reports that it is sufficient only once nothing is held', () => {
    const run = begun([{ by: 'assessment', sufficient: true, held: 1 }]);
    expect(rules(run)).toEqual(['D5']);
  });

  it('asks the user what only the user can say, and continues with the answer; its clock stops in the meantime (D10)', () => {
    const run = begun([{ by: 'assessment', question: 'Which one?' }]);
    expect(rules(run)).toEqual(['D10']);
    expect(run.state!.question).toMatchObject({ text: 'Which one?' });
    run.now += 590_000;
    run.command(1, { name: 'answer', text: 'The red one.' });
    expect(run.state!.memory.userInputs).toEqual([{ seq: 1, text: 'The red one.' }]);
    run.found('answered.1', 'It is red.');
    expect(run.completed()).toMatchObject({ rule: 'D3' });
  });

  it('ends with what it has if nobody answers in time', () => {
    const run = begun([{ by: 'assessment', question: 'Which one?' }]);
    run.fired();
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', reasonCode: 'no_answer' });
  });

  it.each(['continue', 'adjust'] as const)('does what the model says if no rule applies: %s (D11)', (model) => {
    const run = begun([{ by: 'assessment', model }]);
    expect(rules(run)).toEqual(['D11']);
    expect(run.state!.awaiting === null).toBe(model === 'continue');
  });

  it('is stuck if the model says so (D4)', () => {
    expect(begun([{ ...open, model: 'stuck' }]).completed()).toMatchObject({ outcome: 'stuck', reasonCode: 'said_stuck' });
  });

  it('counts an unreadable reply of the decider as a failed round, and is stuck after three', () => {
    const run = begun(
      [
        { ...open, invalid: true },
        { ...open, invalid: true },
        { ...open, invalid: true },
      ],
      { stall: null },
    );
    for (const epoch of [1, 2]) {
      run.planned(epoch, [research('r', `query ${epoch}`)]);
      run.failed(`r.${epoch}`);
    }
    expect(run.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4' });
  });

  it('plans again once if it stalls, and ends stalled if it stalls again (D7, D8)', () => {
    const run = begun(
      Array.from({ length: 9 }, () => open),
      { adjusts: 9 },
    );
    for (const epoch of [1, 2, 3]) {
      run.planned(epoch, [research('r', `query number ${'abc'[epoch - 1]}`)]);
      run.found(`r.${epoch}`);
    }
    expect(rules(run)).toEqual(['D9', 'D9', 'D7', 'D8']);
    expect(run.completed()).toMatchObject({ outcome: 'stalled', reasonCode: 'no_new_facts' });
    expect(run.completed()!['reason']).toContain('again');
  });

  it('handles a command in its turn', () => {
    const run = begun([{ ...open, held: 1 }]);
    run.command(1, { name: 'override_step', skill: 's', input: 'do this' });
    expect(run.state!.owed).toEqual([]);
    expect(run.dispatched()).toContain('0/own.1');
  });

  it('refuses a command while the answer is being written', () => {
    const usual = toy([]);
    const writing: Strategy = {
      ...usual,
      next: (view) =>
        view.run.ending && view.run.tasks[`${runId}/0/written`]?.status !== 'settled'
          ? [{ do: 'dispatch', tasks: [requested('written', 'write')] }]
          : usual.next(view),
    };
    const run = new Scenario({ strategy: 'reasoning' }, writing);
    run.requested();
    run.planned(0, [research('r', 'first')]);
    run.found('r.0', 'a fact');
    expect(run.state!.ending).not.toBeNull();
    run.command(1, { name: 'override_step', skill: 's', input: 'do this' });
    expect(run.state!.commands.at(-1)).toMatchObject({ status: 'rejected', reason: 'The answer is being written.' });
    run.found('written');
    expect(run.completed()).toMatchObject({ outcome: 'completed' });
    expect(run.dispatched()).not.toContain('0/own.0');
  });

  it('that returns no move when it must is a fault, not a run that hangs', () => {
    const silent: Strategy = { ...toy([]), next: () => [] };
    const run = new Scenario({ strategy: 'reasoning' }, silent);
    run.requested();
    expect(run.completed()).toMatchObject({
      ...{ outcome: 'failed', reasonCode: 'strategy_failed' },
      failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining('returned no move although nothing is open') },
    });
  });

  it('that goes in circles by itself is ended after 200 turns', () => {
    const endless: Strategy = { ...toy([]), next: ({ run }) => [{ do: 'note', data: { n: run.rounds } }] };
    const run = new Scenario({ strategy: 'reasoning' }, endless);
    run.requested();
    expect(run.completed()).toMatchObject({ outcome: 'failed', reasonCode: 'strategy_loops' });
  });

  it('does not use an id twice: that is a fault of the strategy', () => {
    const twice: Strategy = { ...toy([]), onPlan: () => [{ do: 'dispatch', tasks: [requested('a', 'one'), requested('a', 'two')] }] };
    const run = new Scenario({ strategy: 'reasoning' }, twice);
    run.requested();
    run.planned(0, [expert('x', 'y')], noUsage);
    expect(run.completed()).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('the task id "a" is used twice in plan 0'),
    });
  });
});
