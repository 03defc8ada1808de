import { describe, expect, it } from '@jest/globals';
import { noUsage, RunView } from '@conclave/contracts';
import { unborn, type RunState } from './state.js';
import { describeRun } from './describe-run.js';

const usage = { ...noUsage, calls: 1, prompt: 10, completion: 5 };
const run: RunState = {
  ...unborn('run_12345678'),
  phase: 'done',
  goal: 'Who?',
  startedAt: 100,
  completedAt: 200,
  plans: [{ epoch: 0, complexity: 'moderate', fallback: false, taskIds: ['run_12345678/0/r1'], usage, failure: null }],
  tasks: {
    'run_12345678/0/r1': {
      spec: { id: 'r1', capability: 'research', task: 'Look.', query: 'who', needs: [], metadata_filters: null },
      epoch: 0,
      taskClass: 'evidence',
      status: 'settled',
      allowance: null,
      openedAt: 110,
      result: {
        status: 'ok',
        text: 'Ana',
        confidence: 0.9,
        facts: 1,
        gaps: ['when'],
        notes: ['A page was not read.'],
        model: null,
        failure: null,
        usage: noUsage,
        attempt: 1,
        durationMs: 7,
        settledAt: 120,
      },
      lateUsage: usage,
    },
  },
  decisions: [{ epoch: 0, rule: 'D3', sentence: 'Sufficient.', at: 150 }],
  spent: { ...usage, calls: 2 },
  ending: { outcome: 'completed', rule: 'D3', reason: 'Sufficient.', reasonCode: 'sufficient' },
  answer: { text: 'Ana.', sources: [], insight: null, cutShort: false, epoch: 0 },
};

describe('a run as people read it', () => {
  it('shows rounds, tasks, decisions, the answer and what every call cost', () => {
    const view = RunView.parse(describeRun(run));
    expect(view).toMatchObject({
      status: 'completed',
      terminal: true,
      outcome: 'completed',
      rule: 'D3',
      answer: 'Ana.',
      startedAt: 100,
      completedAt: 200,
    });
    expect(view.rounds).toHaveLength(1);
    expect(view.rounds[0]?.tasks[0]).toMatchObject({
      id: 'run_12345678/0/r1',
      status: 'ok',
      facts: 1,
      gaps: ['when'],
      notes: ['A page was not read.'],
      usage,
    });
    expect(view.usage.items.map(({ owner }) => owner)).toEqual(['run_12345678/0/plan', 'run_12345678/0/r1']);
    expect(view.usage.total.calls).toBe(2);
  });

  it('can show a run that nothing but an early event is known of', () => {
    expect(RunView.parse(describeRun(unborn('run_12345678')))).toMatchObject({
      status: 'unborn',
      terminal: false,
      outcome: null,
      answer: null,
    });
  });
});
