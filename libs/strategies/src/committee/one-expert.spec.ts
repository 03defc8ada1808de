import { describe, expect, it } from '@jest/globals';
import type { RunLimits, TaskDispatched, Template } from '@conclave/contracts';
import { firstPlanAsked } from '@conclave/loop';
import { research, oneCall, Scenario } from '../testing/scenario.js';

const experts = { general: { t1: ['m@fake'], prompt: '', t2: ['big@fake'], always: ['also@fake'] } };
const began = (limits: Partial<RunLimits>, changes: Partial<Template> = {}, more = {}): Scenario => {
  const run = new Scenario(changes);
  run.requested(limits, more);
  return run;
};
const capabilities = (run: Scenario): readonly string[] =>
  run.outputs.filter((event): event is TaskDispatched => event.type === 'TaskDispatched').map(({ data }) => data.capability);

describe('a budget below a plan, one expert and the answer', () => {
  it.each([
    [1, 'agentic', {}],
    [2, 'agentic', {}],
    [1, 'single-pass', {}],
    [2, 'single-pass', { experts }],
    [1, 'adaptive', {}],
    [2, 'adaptive', { experts }],
  ] as const)('of %i calls: one expert answers a run of %s, without a plan', (calls, strategy, changes) => {
    const run = new Scenario({ strategy, ...changes });
    expect(firstPlanAsked(run.request({ model_calls: calls }), run.strategies)).toBeNull();
    run.requested({ model_calls: calls });
    expect([run.state!.awaiting, run.dispatched()]).toEqual([null, ['0/x1']]);
    run.answered('x1', 'It was Ana.', 0.3);
    expect(run.dispatched()).toEqual(['0/x1']);
    expect(run.completed()).toMatchObject({
      ...{ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_model_calls', answer: 'It was Ana.', usage: { calls: 1 } },
      reason: calls === 1 ? expect.stringContaining('1 of 1') : 'The budget leaves no model call for a plan.',
    });
  });

  it('ends the run of a question that needs no plan as any other', () => {
    const run = began({ model_calls: 2 }, { complexity: 'auto' }, { goal: 'What is a sextant?' });
    run.answered('x1', 'An instrument.', 0.9);
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'An instrument.' });
    const thanks = began({ model_calls: 2 }, {}, { goal: 'Thanks!' });
    thanks.answered('x1', 'You are welcome.', 0.9);
    expect(thanks.completed()).toMatchObject({ outcome: 'completed' });
  });

  it('asks the expert that the words or the image name, and says if a review was due', () => {
    const named = {
      general: { t1: ['m@fake'], prompt: '' },
      medical_consult: { t1: ['m@fake'], prompt: '' },
      vision: { t1: ['m@fake'], prompt: '' },
    };
    const critic = { categories: ['medical_consult'] };
    const ill = began({ model_calls: 1 }, { experts: named, critic }, { goal: 'Which dose of ibuprofen is safe for a child with fever?' });
    expect(capabilities(ill)).toEqual(['expert.medical_consult']);
    ill.answered('x1', `Ask a doctor. ${'word '.repeat(40)}`);
    expect(ill.completed()!['answer']).toContain('it was not reviewed');
    const image = { kind: 'image', name: null, mime: 'image/png', blob: 'i', url: null };
    expect(capabilities(began({ model_calls: 1 }, { experts: named }, { attachments: [image] }))).toEqual(['expert.vision']);
  });

  it('is enough for a cached plan with two calls, and for a plan with three', () => {
    const plan = { complexity: 'moderate' as const, signals: [], tasks: [research('r1', 'who')], searchQuestion: null };
    expect(began({ model_calls: 2 }, {}, { plan }).state!.awaiting).not.toBeNull();
    expect(began({ model_calls: 3 }).state!.awaiting).not.toBeNull();
  });

  it('is what the calls of the tools of the client leave, whose results the expert sees', () => {
    const clientTools = {
      ...{ model: 'm@fake', usage: oneCall, said: null },
      calls: [{ id: 'call_00000001_0', name: 'look', call: { function: { name: 'look', arguments: '{}' } } }],
    };
    const run = began({ model_calls: 3 }, {}, { clientTools });
    run.command(1, { name: 'answer', text: 'Results.', results: [{ id: 'call_00000001_0', text: 'It is there.' }] });
    expect(run.dispatched()).toEqual(['0/x1']);
    const [task] = run.outputs.filter((event): event is TaskDispatched => event.type === 'TaskDispatched');
    expect(JSON.stringify(task!.data.input)).toContain('It is there.');
  });

  it('ends a run whose expert fails as failed, with the reason', () => {
    const run = began({ model_calls: 2 });
    run.failed('x1');
    expect(run.completed()).toMatchObject({ outcome: 'failed', rule: 'D2', failure: { code: 'PROVIDER_FAILED' } });
  });

  it('does not let a dangerous question pass unreviewed because its planner did not reply in time', () => {
    const critic = { categories: ['medical_consult'] };
    const run = began({}, { critic }, { goal: 'Which dose of ibuprofen is safe for a child with fever?' });
    run.fired();
    expect(run.dispatched()).toEqual(['0/fallback']);
    run.answered('fallback', `Ask a doctor. ${'word '.repeat(40)}`, 0.9);
    run.judged('complete');
    if (run.dispatched().at(-1) === '0/judge.synthesis') run.composed(`Ask a doctor. ${'word '.repeat(40)}`);
    expect(run.dispatched().at(-1)).toBe('0/judge.critic');
  });
});
