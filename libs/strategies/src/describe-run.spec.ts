import { expect, it } from '@jest/globals';
import { RunView } from '@conclave/contracts';
import { describeRun } from './describe-run.js';
import { strategyOf } from './registry.js';
import { expert, oneCall, research, runId, Scenario } from './testing/scenario.js';

const seen = (run: Scenario): RunView => RunView.parse(describeRun(run.state, strategyOf));

it('shows rounds, tasks, decisions, the answer and what every call cost', () => {
  const run = new Scenario({ max_agentic_rounds: 0 });
  run.requested();
  run.planned(0, [research('r1', 'who'), expert('x1', 'answer', ['r1'])]);
  run.found('r1', 'Ana did.');
  run.result('x1', { output: { kind: 'answer', text: 'Ana', finding: 'Ana' }, confidence: 0.9, gaps: ['when'] });
  expect(seen(run)).toMatchObject({ status: 'composing', terminal: false, outcome: null, answer: null, assessed: null });
  run.composed('Ana.');
  const view = seen(run);
  expect(view).toMatchObject({
    status: 'completed',
    terminal: true,
    outcome: 'completed',
    rule: 'D6',
    answer: 'Ana.',
    complexity: 'moderate',
  });
  expect(view.startedAt).toBe(run.state!.request.requestedAt);
  expect(view.completedAt).toBe(run.now);
  expect(view.rounds[0]?.tasks).toMatchObject([
    { id: `${runId}/0/r1`, status: 'ok', facts: 1 },
    { id: `${runId}/0/x1`, status: 'ok', gaps: ['when'], usage: oneCall },
    { id: `${runId}/0/judge.synthesis`, status: 'ok' },
  ]);
  expect(view.usage.items.map(({ owner }) => owner)).toEqual(['plan', 'x1', 'judge.synthesis'].map((name) => `${runId}/0/${name}`));
  expect(view.usage.total.calls).toBe(3);
});

it('says what a run is doing while it is under way', () => {
  const run = new Scenario();
  run.requested();
  const words = [seen(run).status];
  run.planned(0, [expert('x1', 'answer')]);
  words.push(seen(run).status);
  run.answered('x1', 'yes');
  words.push(seen(run).status);
  run.command(1, { name: 'pause' });
  words.push(seen(run).status);
  expect(words).toEqual(['planning', 'collecting', 'assessing', 'paused']);
});

it('names the budget that was used most, also if none was nearly used up, or several were', () => {
  const used = (limits: Parameters<Scenario['requested']>[0]): string => {
    const run = new Scenario({ max_agentic_rounds: 0 });
    run.requested(limits);
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'Ana');
    run.composed('Ana.');
    return seen(run).otherRules.find(({ rule }) => rule === 'D2')!.sentence;
  };
  expect(used({ tokens: 600 })).toBe('The budget that was used most: 360 of 600 tokens.');
  expect(used({ model_calls: 4, tokens: 370 })).toBe('The budget that was used most: 360 of 370 tokens.');
  expect(used({ model_calls: 4, tokens: 600 })).toBe('The budget that was used most: 3 of 4 model calls.');
});

it('lists every call also if plans came to nothing, or there was none', () => {
  const failed = new Scenario({ max_agentic_rounds: 0 });
  failed.requested();
  failed.planFailed(0, oneCall);
  failed.result('fallback', { output: { kind: 'answer', text: 'Ana', finding: 'Ana' }, confidence: 0.9 });
  const ofPlan = { owner: runId, capability: 'plan', model: null };
  expect(seen(failed).usage.items).toContainEqual({ ...ofPlan, usage: expect.objectContaining({ calls: oneCall.calls }) });

  const bare = new Scenario({ strategy: 'waves', capabilities: ['mcp'] });
  bare.requested({ model_calls: 1 });
  bare.composed('Ana.');
  const [only] = seen(bare).rounds;
  expect(only).toMatchObject({ epoch: 0, planned: false, tasks: [{ capability: 'judge.synthesis', usage: oneCall }] });
  expect(seen(bare)).toMatchObject({ outcome: 'limit_reached', roundsUsed: 0 });

  for (const run of [failed, bare]) {
    const { items, total } = seen(run).usage;
    expect(items.reduce((sum, { usage }) => sum + usage.calls, 0)).toBe(total.calls);
  }
});

it('counts rounds as the decisions do', () => {
  const run = new Scenario({ max_agentic_rounds: 0 });
  run.requested();
  run.planned(0, [expert('x1', 'answer')]);
  expect(seen(run)).toMatchObject({ roundsUsed: 0, rounds: [{ planned: true }] });
  run.answered('x1', 'Ana');
  run.composed('Ana.');
  expect(seen(run).roundsUsed).toBe(1);
});
