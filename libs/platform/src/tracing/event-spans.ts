import { parentTaskOf, type AnyEvent, type Event, type RunCompleted, type TaskDispatched } from '@conclave/contracts';
import type { Span, SpanAttributes, SpanReference } from '@conclave/ports';
import { callSpans, errorTypeOf, type SpanPlace } from './call-spans.js';
import { spanIdOf, traceContextOf, traceIdOfRun, type TraceContext } from './trace-context.js';

/** A record that a handler has finished or failed. */
export interface Handled {
  readonly event: Event;
  readonly group: string;
  readonly service: string;
  readonly messagingSystem: string;
  /** Id of the process. */
  readonly process: string;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly appendedAt: number;
  readonly from: number;
  readonly to: number;
  /** Ids of the results that an engine step has joined. */
  readonly joined?: readonly string[];
  /** Template of the run; null or absent if unknown. */
  readonly workflow?: string | null;
  /** Code of the failure, if the handler failed. */
  readonly failure?: string;
}

/** Trace context of an event. Its span is the sending of the event. */
export const contextOf = (event: Pick<Event, 'id' | 'runId' | 'traceparent'>): TraceContext =>
  traceContextOf(event.traceparent) ?? { traceId: traceIdOfRun(event.runId), spanId: spanIdOf('span', event.id), sampled: true };

/** Id of the span of a whole run, the ancestor of all other spans of the run. */
export const runSpanId = (runId: string): string => spanIdOf('run', runId);

/** Records of the audit, a step or a call, have spans of their own kinds. */
const isSent = ({ topic }: Event): boolean => topic !== 'audit';

/**
 * The spans of one handled record: the handling, what it did (step, plan, task, calls), and what it sent. Empty if the trace is not
 * recorded. All ids are derived from the ids of events, so that a redelivered record creates no second run, step, task or call.
 */
export function spansOfDelivery(handled: Handled, outputs: readonly Event[]): readonly Span[] {
  const { event, group, service, attempt, from, to } = handled;
  const { traceId, spanId: sentId, sampled } = contextOf(event);
  if (!sampled) return [];
  const handling: Span = {
    traceId,
    spanId: spanIdOf('handle', `${group} ${event.id} ${attempt}`),
    parentId: sentId,
    name: `process ${event.topic}`,
    kind: 'consumer',
    service,
    from,
    to,
    attributes: {
      ...ofRecord(event, handled.messagingSystem),
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.consumer.group.name': group,
      'conclave.delivery.attempt': attempt,
      'conclave.queue_wait_ms': Math.max(0, Math.round(from - handled.appendedAt)),
      'conclave.process': handled.process,
    },
    error: handled.failure === undefined ? undefined : errorTypeOf(handled.failure),
    ...(event.type === 'CommandIssued' ? { events: [commandEvent(event as AnyEvent, from)] } : {}),
  };
  const place: SpanPlace = { traceId, parentId: handling.spanId, service };
  const work = outputs.map((output) => workSpan(output as AnyEvent, handled, place)).find((span) => span !== null) ?? null;
  const inside: SpanPlace = work ? { ...place, parentId: work.spanId } : place;
  return [
    handling,
    ...(work ? [work] : []),
    ...outputs.flatMap((output) =>
      output.type === 'CallRecorded'
        ? callSpans(output as Extract<AnyEvent, { type: 'CallRecorded' }>, { ...inside, workflow: handled.workflow ?? null })
        : [],
    ),
    ...outputs.filter(isSent).map((output) => sendSpan(output, { ...inside, from: to, to, messagingSystem: handled.messagingSystem })),
    ...outputs.flatMap((output) => (output.type === 'RunCompleted' ? [runSpan(output as RunCompleted, service)] : [])),
  ];
}

/** The span of the sending of an event. The request of a run is below the run, whichever process sends it. */
export function sendSpan(
  event: Event,
  {
    from,
    to,
    messagingSystem,
    service,
    ...place
  }: Omit<SpanPlace, 'traceId'> & {
    readonly from: number;
    readonly to: number;
    readonly messagingSystem: string;
    readonly error?: string | undefined;
  },
): Span {
  const { traceId, spanId } = contextOf(event);
  return {
    ...place,
    ...(event.type === 'PlanRequested' ? { parentId: runSpanId(event.runId) } : {}),
    traceId,
    spanId,
    name: `send ${event.topic}`,
    kind: 'producer',
    service,
    from,
    to,
    attributes: { ...ofRecord(event, messagingSystem), 'messaging.operation.type': 'send', 'messaging.operation.name': 'send' },
  };
}

const ofRecord = (event: Event, system: string): SpanAttributes => ({
  'messaging.system': system,
  'messaging.destination.name': event.topic,
  'messaging.message.id': event.id,
  'conclave.event.type': event.type,
  'conclave.run.id': event.runId,
});

/** What the handler of a record did as a whole: one step of the engine, one plan or one task. */
function workSpan(output: AnyEvent, handled: Handled, place: SpanPlace): Span | null {
  const { from, to, event } = handled;
  const run = { 'conclave.run.id': event.runId };
  switch (output.type) {
    case 'StepRecorded':
      return stepSpan(output, handled, place);
    case 'PlanCreated': {
      const { epoch, complexity, tasks, cached, fallback, reAsks, failure, usage } = output.data;
      return {
        ...place,
        spanId: spanIdOf('plan', output.id),
        name: 'plan',
        kind: 'internal',
        from,
        to,
        attributes: {
          ...run,
          ...templateOf(event),
          'conclave.epoch': epoch,
          'conclave.plan.complexity': complexity,
          'conclave.plan.tasks': tasks.length,
          'conclave.plan.cached': cached,
          'conclave.plan.fallback': fallback,
          'conclave.plan.re_asks': reAsks,
          'gen_ai.usage.input_tokens': usage.prompt,
          'gen_ai.usage.output_tokens': usage.completion,
        },
        error: failure ? errorTypeOf(failure.code) : undefined,
      };
    }
    case 'ResultReady':
      return event.type === 'TaskDispatched' && output.data.taskId === event.id
        ? taskSpan(output, event as TaskDispatched, handled, place)
        : null;
    default:
      return null;
  }
}

const templateOf = (event: Event): SpanAttributes =>
  event.type === 'PlanRequested'
    ? { 'gen_ai.workflow.name': (event as Extract<AnyEvent, { type: 'PlanRequested' }>).data.template.id }
    : {};

function stepSpan({ id, data }: Extract<AnyEvent, { type: 'StepRecorded' }>, handled: Handled, place: SpanPlace): Span {
  const { from, to, event, joined = [] } = handled;
  const epoch = [...data.facts].reverse().find(({ epoch: of }) => typeof of === 'number')?.['epoch'] as number | undefined;
  const replans = data.outputs.filter(({ type }) => type === 'GapDetected');
  return {
    ...place,
    spanId: spanIdOf('step', id),
    name: data.rule === null ? 'engine step' : `engine step ${data.rule}`,
    kind: 'internal',
    from,
    to,
    attributes: {
      'conclave.run.id': event.runId,
      ...templateOf(event),
      'conclave.step': data.version,
      ...(data.rule === null ? {} : { 'conclave.rule': data.rule }),
      ...(epoch === undefined ? {} : { 'conclave.epoch': epoch }),
      'conclave.facts': data.facts.slice(0, 32).map(({ kind }) => String(kind)),
    },
    links: joined.map((resultId): SpanReference => ({ traceId: place.traceId, spanId: spanIdOf('span', resultId) })),
    events: replans.map((gap) => ({ name: 're-plan', at: to, attributes: { 'conclave.gap.id': gap.id } })),
  };
}

function taskSpan(
  { data }: Extract<AnyEvent, { type: 'ResultReady' }>,
  task: TaskDispatched,
  { from, to }: Handled,
  place: SpanPlace,
): Span {
  const { capability, tier, epoch, models } = task.data;
  const byModel = models.length > 0;
  return {
    ...place,
    spanId: spanIdOf('task', data.taskId),
    name: byModel ? `invoke_agent ${capability}` : `task ${capability}`,
    kind: 'internal',
    from,
    to,
    attributes: {
      'conclave.run.id': task.runId,
      'conclave.task.id': data.taskId,
      'conclave.task.capability': capability,
      'conclave.task.status': data.status,
      'conclave.task.tier': tier,
      'conclave.epoch': epoch,
      ...(data.confidence === null ? {} : { 'conclave.task.confidence': data.confidence }),
      ...(byModel
        ? {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': capability,
            'gen_ai.usage.input_tokens': data.usage.prompt,
            'gen_ai.usage.output_tokens': data.usage.completion,
          }
        : {}),
    },
    error: data.status === 'ok' || data.status === 'cancelled' ? undefined : errorTypeOf(data.failure?.code ?? 'CALL_TIMEOUT'),
    links: evidenceOf(task),
    ...(data.status === 'cancelled' ? { events: [{ name: 'cancelled', at: to }] } : {}),
  };
}

/** Results whose facts the task works on. */
function evidenceOf({ runId, traceparent, id, data: { input } }: TaskDispatched): readonly SpanReference[] {
  const { traceId } = contextOf({ id, runId, ...(traceparent ? { traceparent } : {}) });
  const facts = 'facts' in input ? input.facts : 'evidence' in input ? input.evidence : [];
  const tasks = new Set(facts.map(({ taskId }) => taskId));
  return [...tasks].map((taskId) => ({ traceId, spanId: spanIdOf('span', `${taskId}/result`) }));
}

const commandEvent = (event: AnyEvent, at: number) => ({
  name: event.type === 'CommandIssued' ? event.data.command.name : event.type,
  at,
});

/**
 * The root of a run's trace, or the child of the client's span, or of the task that a child run serves. It depends only on the run's end,
 * so that a repeat of the record creates the same span.
 */
export function runSpan(event: RunCompleted, service: string): Span {
  const { data, runId } = event;
  const { template, outcome, usage, failure } = data;
  const task = parentTaskOf(runId);
  const failed = outcome === 'failed';
  return {
    traceId: contextOf(event).traceId,
    spanId: runSpanId(runId),
    parentId: task ? spanIdOf('span', task.taskId) : data.parentSpan,
    name: `invoke_workflow ${template.id}`,
    kind: 'internal',
    service,
    from: data.startedAt,
    to: Math.max(data.startedAt, data.completedAt),
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': template.id,
      'gen_ai.usage.input_tokens': usage.prompt,
      'gen_ai.usage.output_tokens': usage.completion,
      'conclave.run.id': runId,
      'conclave.run.strategy': template.strategy,
      'conclave.run.template_version': template.version,
      'conclave.run.outcome': outcome,
      'conclave.run.reason_code': data.reasonCode,
      'conclave.run.rounds': data.rounds,
      'conclave.run.calls': usage.calls,
      'conclave.cost': usage.cost,
      ...(data.rule === null ? {} : { 'conclave.rule': data.rule }),
      ...(data.cached === null ? {} : { 'conclave.run.cached': data.cached.origin }),
    },
    error: failed ? errorTypeOf(failure?.code ?? 'RUN_FAILED') : undefined,
    ...(outcome === 'cancelled' ? { events: [{ name: 'cancelled', at: data.completedAt }] } : {}),
  };
}
