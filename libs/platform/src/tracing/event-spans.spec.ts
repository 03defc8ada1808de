import { describe, expect, it } from '@jest/globals';
import * as incubating from '@opentelemetry/semantic-conventions/incubating';
import {
  noUsage,
  type CallRecorded,
  type Event,
  type ResultReady,
  type RunCompleted,
  type StepRecorded,
  type TaskDispatched,
} from '@conclave/contracts';
import { runSpan, runSpanId, spansOfDelivery, type Handled } from './event-spans.js';
import { spanIdOf, traceContextOf, traceparentFor } from './trace-context.js';

const runId = 'run_00000001';
const taskId = `${runId}/0/x1`;
const address = (type: string, id: string, topic: string) => ({
  id,
  type,
  runId,
  topic,
  key: runId,
  source: 'merger' as const,
  time: 1_000,
});

const task = {
  ...address('TaskDispatched', taskId, 'tasks.dispatched.expert'),
  traceparent: traceparentFor({ id: taskId, runId }),
  data: {
    taskId,
    capability: 'expert.general',
    tier: 't1',
    epoch: 0,
    models: ['m@p'],
    input: { kind: 'expert', evidence: [{ taskId: `${runId}/0/r1` }] },
  },
} as unknown as TaskDispatched;
const result = {
  ...address('ResultReady', `${taskId}/result`, 'results.ready'),
  data: { taskId, epoch: 0, status: 'ok', confidence: 0.5, failure: null, usage: noUsage },
} as unknown as ResultReady;
const call = (over: Partial<CallRecorded['data']> = {}) =>
  ({
    ...address('CallRecorded', `${taskId}/0/1`, 'audit'),
    data: {
      ...{
        step: `${taskId}/0`,
        attempt: 1,
        purpose: 'expert.general',
        model: 'vendor/m@v1@p',
        reportedModel: 'm-2',
        status: 'ok',
        failure: null,
      },
      ...{ usage: { ...noUsage, prompt: 3, completion: 5, reasoning: 2, calls: 2 }, startedAt: 2_000, durationMs: 100, firstTokenMs: 10 },
      ...{ request: 'a secret prompt', reply: 'a secret reply', requestHash: '' },
      ...over,
    },
  }) as unknown as CallRecorded;
const handled = (event: Event, over: Partial<Handled> = {}): Handled => ({
  ...{ event, group: 'tasks.expert', service: 'experts', messagingSystem: 'kafka', process: 'experts-1', attempt: 1 },
  ...{ appendedAt: 1_000, from: 1_500, to: 3_000 },
  ...over,
});
const completed = (over: Partial<RunCompleted['data']> = {}, id = runId) =>
  ({
    ...address('RunCompleted', `${id}/completed`, 'run.completed'),
    runId: id,
    data: {
      ...{
        template: { id: 'conclave', version: '1', strategy: 'agentic' },
        outcome: 'completed',
        usage: noUsage,
        failure: null,
        rule: 'D3',
      },
      ...{ reasonCode: 'sufficient', rounds: 2, cached: null, startedAt: 1_000, completedAt: 9_000, question: 'a secret question' },
      ...over,
    },
  }) as unknown as RunCompleted;

describe('the spans of a handled record', () => {
  it('put the work below the handling, the handling below the sending, and sent events below the work', () => {
    const spans = spansOfDelivery(handled(task), [call(), result]);
    const [handling, work, chat, sent] = spans;
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['process tasks.dispatched.expert', 'consumer'],
      ['invoke_agent expert.general', 'internal'],
      ['chat vendor/m@v1', 'client'],
      ['send results.ready', 'producer'],
    ]);
    expect(handling!.parentId).toBe(traceContextOf(task.traceparent)!.spanId);
    expect([work!.parentId, chat!.parentId, sent!.parentId]).toEqual([handling!.spanId, work!.spanId, work!.spanId]);
    expect(sent!.spanId).toBe(traceContextOf(traceparentFor(result))!.spanId);
    expect(work!.links).toEqual([{ traceId: handling!.traceId, spanId: spanIdOf('span', `${runId}/0/r1/result`) }]);
    expect(chat!.attributes).toMatchObject({
      'gen_ai.provider.name': 'p',
      'gen_ai.response.model': 'm-2',
      'gen_ai.usage.output_tokens': 5,
    });
    expect(JSON.stringify(spans)).not.toContain('secret');
    // The workflow is that of the run, on each call of a model, and on no tool.
    expect(chat!.attributes).not.toHaveProperty('gen_ai.workflow.name');
    const named = spansOfDelivery(handled(task, { workflow: 'conclave' }), [call(), call({ model: 'calculator', purpose: 'math' })]);
    expect(named.slice(1).map(({ attributes }) => attributes['gen_ai.workflow.name'])).toEqual(['conclave', undefined]);
  });

  it('are the same for a redelivered record, and none for a trace that is not recorded', () => {
    expect(spansOfDelivery(handled(task), [call(), result])).toEqual(spansOfDelivery(handled(task), [call(), result]));
    expect(spansOfDelivery(handled({ ...task, traceparent: task.traceparent!.replace(/01$/, '00') }), [call(), result])).toEqual([]);
  });

  it('show the tries of a call within it, a failure by its class, and a cancel without an error', () => {
    const ofCall = (over: Partial<CallRecorded['data']>) => spansOfDelivery(handled(task), [call(over)]).slice(1);
    const [whole, first, second] = ofCall({ retries: [{ code: 'PROVIDER_STREAM_BROKEN', failedMs: 20, waitMs: 30 }] });
    expect([whole!.error, first!.error, second!.error]).toEqual([undefined, expect.stringMatching(/^provider_/), undefined]);
    expect([first!.from, first!.to, second!.from, second!.to]).toEqual([2_000, 2_020, 2_050, 2_100]);
    const failure = { code: 'no such code', message: 'a secret', retriable: false };
    expect(ofCall({ status: 'error', failure })).toEqual([expect.objectContaining({ error: '_other' })]);
    expect(ofCall({ status: 'cancelled', failure })).toEqual([
      expect.objectContaining({ error: undefined, events: [{ name: 'cancelled', at: 2_100 }] }),
    ]);
  });

  it('show a failed handler, and a step with its rule, its re-plan and what it joined', () => {
    expect(spansOfDelivery(handled(task, { failure: 'RECORD_DEAD' }), [])).toEqual([
      expect.objectContaining({ error: expect.any(String) }),
    ]);
    const step = {
      ...address('StepRecorded', `${runId}/step/4`, 'audit'),
      data: { version: 4, rule: 'D9', facts: [{ kind: 'Decided', epoch: 1 }], outputs: [{ id: `${runId}/1/gap`, type: 'GapDetected' }] },
    } as unknown as StepRecorded;
    const [, work] = spansOfDelivery(handled(result, { group: 'merger', service: 'merger', joined: [`${taskId}/result`] }), [step]);
    expect(work).toMatchObject({
      name: 'engine step D9',
      attributes: { 'conclave.step': 4, 'conclave.rule': 'D9', 'conclave.epoch': 1, 'conclave.facts': ['Decided'] },
      links: [{ spanId: spanIdOf('span', `${taskId}/result`) }],
      events: [{ name: 're-plan' }],
    });
  });

  it('use no name of a convention that the conventions do not know', () => {
    const spans = [
      ...spansOfDelivery(handled(task), [
        call(),
        call({ model: 'calculator', purpose: 'math' }),
        call({ model: 'search.web', purpose: 'research' }),
        result,
      ]),
      runSpan(completed(), 'merger'),
    ];
    const known = new Set<unknown>(Object.values(incubating));
    const names = [...new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))].filter((name) => !name.startsWith('conclave.'));
    expect(names.length).toBeGreaterThan(12);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    const values = spans.flatMap(({ attributes }) => [attributes['gen_ai.operation.name'], attributes['messaging.operation.type']]);
    expect([...new Set(values)].filter((value) => value !== undefined && !known.has(value))).toEqual([]);
    for (const name of ['http.request.method', 'http.route', 'http.response.status_code', 'error.type']) expect(known.has(name)).toBe(true);
  });
});

describe('the span of a run', () => {
  it('is the root, hangs under the span of the client, or under the task that a child run serves', () => {
    expect(runSpan(completed(), 'merger')).toMatchObject({
      spanId: runSpanId(runId),
      parentId: undefined,
      from: 1_000,
      to: 9_000,
      error: undefined,
    });
    expect(runSpan(completed({ parentSpan: 'c'.repeat(16) }), 'merger').parentId).toBe('c'.repeat(16));
    expect(runSpan(completed({}, `${runId}~0.x1`), 'merger').parentId).toBe(traceContextOf(task.traceparent)!.spanId);
    expect(
      runSpan(completed({ outcome: 'failed', failure: { code: 'RUN_FAILED', message: '', retriable: true } }), 'merger').error,
    ).toBeDefined();
  });
});
