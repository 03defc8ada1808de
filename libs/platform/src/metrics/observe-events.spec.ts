import { describe, expect, it } from '@jest/globals';
import { commandId, type Event, type GapVerdict } from '@conclave/contracts';
import { openMetrics } from './metrics.js';
import { observeEvents } from './observe-events.js';

const event = (type: string, id: string, data: object): Event => ({ type, id, time: 0, data }) as unknown as Event;
const dispatched = event('TaskDispatched', 'task', { capability: 'judge.gap', tier: 't1' });
const step = (id: string, facts: readonly object[], now = 5_000): Event => ({
  ...event('StepRecorded', id, { rule: null, now, facts }),
  runId: 'run_1',
});
const verdict = (id: string, changes: Partial<GapVerdict> | null): Event =>
  event('ResultReady', id, {
    status: changes ? 'ok' : 'error',
    failure: null,
    confidence: null,
    durationMs: 5,
    output: changes && { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: true, ...changes } },
  });
const ended = (id: string, data: object): Event =>
  event('RunCompleted', id, {
    template: { id: 't', strategy: 'agentic' },
    outcome: 'completed',
    rounds: 1,
    failure: null,
    usage: { calls: 0 },
    startedAt: 1,
    completedAt: 2,
    ...data,
  });

describe('gap checks', () => {
  it('are counted by their verdict; unreadable and failed ones are separate from complete ones', async () => {
    const metrics = openMetrics();
    const observe = observeEvents(metrics);
    observe(dispatched, [
      verdict('1', {}),
      verdict('2', { verdict: 'needs_more_info' }),
      verdict('3', { parsed: false }),
      verdict('4', null),
    ]);
    const text = await metrics.text();
    for (const said of ['complete', 'needs_more_info', 'unreadable', 'failed'])
      expect(text).toContain(`conclave_gap_checks_total{verdict="${said}"} 1`);
  });

  it('that ended a run without a verdict are counted with the run', async () => {
    const metrics = openMetrics();
    observeEvents(metrics)(dispatched, [
      ended('1', { rule: 'D3', assessed: false }),
      ended('2', { rule: 'D3', assessed: true }),
      ended('3', { rule: 'D6', assessed: false }),
    ]);
    expect(await metrics.text()).toContain('conclave_unassessed_runs_total 1');
  });
});

describe('tasks', () => {
  it('of an expert are measured by tier: confidence, escalation, and the part of their time without a call', async () => {
    const metrics = openMetrics();
    const observe = observeEvents(metrics);
    const task = event('TaskDispatched', 't2-task', { capability: 'expert.code', tier: 't2' });
    observe(event('ResultReady', 'unsure', {}), [task]);
    const result = event('ResultReady', 'result', { status: 'ok', durationMs: 1_000, confidence: 0.4, failure: null, output: null });
    const call = event('CallRecorded', 'call', {
      ...{ model: 'm@p', purpose: 'expert.code', status: 'ok', firstTokenMs: 20, failure: null },
      ...{ startedAt: 9_100, durationMs: 700, usage: { prompt: 1, completion: 1, reasoning: 0, cost: 0 } },
    });
    observe(task, [{ ...result, time: 10_000 }, call]);
    const text = await metrics.text();
    expect(text).toContain('conclave_escalations_total{capability="expert.code"} 1');
    expect(text).toContain('conclave_tasks_total{capability="expert.code",status="ok",tier="t2"} 1');
    expect(text).toContain('conclave_expert_confidence_sum{capability="expert.code",tier="t2"} 0.4');
    expect(text).toContain('conclave_task_overhead_seconds_sum{capability="expert.code"} 0.3');
  });

  it('and plans and runs that fail are counted by a closed error type', async () => {
    const metrics = openMetrics();
    const observe = observeEvents(metrics);
    const failure = { code: 'PROVIDER_UNREACHABLE', message: '', retriable: true };
    observe(dispatched, [event('ResultReady', 'r', { status: 'error', durationMs: 1, confidence: null, failure, output: null })]);
    observe(dispatched, [ended('e', { outcome: 'failed', failure: { code: 'NOBODY_DECLARED_THIS', message: '', retriable: false } })]);
    const text = await metrics.text();
    expect(text).toContain('conclave_failures_total{stage="task",error_type="provider_unreachable"} 1');
    expect(text).toContain('conclave_failures_total{stage="run",error_type="_other"} 1');
  });
});

describe('commands', () => {
  const issued: Event = { ...event('CommandIssued', commandId('run_1', 3), { issuedAt: 1_000 }), runId: 'run_1' };

  it('are measured from their acceptance to the step that applies them, which may be a later one', async () => {
    const metrics = openMetrics();
    const observe = observeEvents(metrics);
    observe(issued, [step('s1', [{ kind: 'CommandAccepted', seq: 3, name: 'steer' }])]);
    observe(event('ResultReady', 'x', {}), [step('s2', [{ kind: 'CommandApplied', seq: 3, name: 'steer' }], 3_500)]);
    // Another process received this command.
    observe(event('ResultReady', 'y', {}), [step('s3', [{ kind: 'CommandApplied', seq: 4, name: 'steer' }])]);
    observe(event('ResultReady', 'z', {}), [step('s4', [{ kind: 'CommandRejected', seq: 5, name: 'pause' }])]);
    const text = await metrics.text();
    expect(text).toContain('conclave_command_seconds_sum{command="steer"} 2.5');
    expect(text).toContain('conclave_command_seconds_count{command="steer"} 1');
    expect(text).toContain('conclave_commands_rejected_total{command="pause"} 1');
  });
});

it('a model that does not exist gets no separate label value', async () => {
  const metrics = openMetrics();
  const call = event('CallRecorded', 'call', {
    ...{ model: 'whatever a client sends@p', purpose: 'direct', status: 'error', firstTokenMs: null, startedAt: 0, durationMs: 1 },
    ...{ failure: { code: 'MODEL_NOT_FOUND', message: '' }, usage: { prompt: 0, completion: 0, reasoning: 0, cost: 0 } },
  });
  observeEvents(metrics)(dispatched, [call]);
  const text = await metrics.text();
  expect(text).toContain('conclave_model_calls_total{model="_unknown@p"');
  expect(text).not.toContain('whatever');
});
