import { failures, type CallRecorded, type FailureCode } from '@conclave/contracts';
import type { Span, SpanAttributes } from '@conclave/ports';
import { spanIdOf } from './trace-context.js';

/** Where a span belongs: its trace, its parent span, and the service that did the work. */
export interface SpanPlace {
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly service: string;
}

export interface CallPlace extends SpanPlace {
  /** Template of its run; null or absent if unknown. */
  readonly workflow?: string | null;
}

/** Error type of a failure code, from the closed list that the metrics use. */
export const errorTypeOf = (code: string): string => failures[code as FailureCode]?.errorType ?? '_other';

/** Tools have no `@` in their name. */
const isModel = (name: string): boolean => name.includes('@');

/** Purposes of tool calls that only read: a search, the graph, a collection. */
const retrievals = /^(research|graph|collections|subtopic|documents?|plan\.lookup)\b/;

/**
 * The span of a call of a model or tool, by OpenTelemetry's conventions for generative AI, with a child span for each try if the first one
 * failed. The record contains prompt and reply; the spans do not.
 */
export function callSpans(
  { id, data: call }: Pick<CallRecorded, 'id' | 'data'>,
  { workflow = null, ...place }: CallPlace,
): readonly Span[] {
  const spanId = spanIdOf('call', id);
  const [from, to] = [call.startedAt, call.startedAt + call.durationMs];
  const error = call.status === 'cancelled' || call.status === 'ok' ? undefined : errorTypeOf(call.failure?.code ?? 'CALL_TIMEOUT');
  const span: Span = {
    ...place,
    spanId,
    ...(isModel(call.model) ? ofModel(call, workflow) : ofTool(call)),
    from,
    to,
    error,
    ...(call.status === 'cancelled' ? { events: [{ name: 'cancelled', at: to }] } : {}),
  };
  return [span, ...tries(call, span)];
}

function ofModel(call: CallRecorded['data'], workflow: string | null): Pick<Span, 'name' | 'kind' | 'attributes'> {
  const [model, provider] = partsOf(call.model);
  const { usage } = call;
  const attributes: SpanAttributes = {
    ...common(call),
    'gen_ai.operation.name': 'chat',
    ...(workflow === null ? {} : { 'gen_ai.workflow.name': workflow }),
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    ...(call.reportedModel === null ? {} : { 'gen_ai.response.model': call.reportedModel }),
    'gen_ai.usage.input_tokens': usage.prompt,
    'gen_ai.usage.output_tokens': usage.completion,
    ...(usage.reasoning > 0 ? { 'gen_ai.usage.reasoning.output_tokens': usage.reasoning } : {}),
    ...(call.firstTokenMs === null ? {} : { 'gen_ai.response.time_to_first_chunk': call.firstTokenMs / 1_000 }),
    'conclave.call.requests': usage.calls,
    'conclave.cost': usage.cost,
  };
  return { name: `chat ${model}`, kind: 'client', attributes };
}

function ofTool(call: CallRecorded['data']): Pick<Span, 'name' | 'kind' | 'attributes'> {
  const isRetrieval = retrievals.test(call.purpose);
  const operation = isRetrieval ? 'retrieval' : 'execute_tool';
  const attributes = {
    ...common(call),
    'gen_ai.operation.name': operation,
    ...(isRetrieval ? { 'gen_ai.data_source.id': call.model } : { 'gen_ai.tool.name': call.model }),
  };
  return { name: `${operation} ${call.model}`, kind: 'internal', attributes };
}

const common = (call: CallRecorded['data']): SpanAttributes => ({
  'conclave.call.step': call.step,
  'conclave.call.attempt': call.attempt,
  'conclave.call.purpose': call.purpose,
  'conclave.call.status': call.status,
});

/** Model names may contain an `@` themselves; the provider follows the last one. */
function partsOf(ref: string): readonly [model: string, provider: string] {
  const at = ref.lastIndexOf('@');
  return [ref.slice(0, at), ref.slice(at + 1)];
}

function tries(call: CallRecorded['data'], whole: Span): readonly Span[] {
  const { retries = [] } = call;
  if (retries.length === 0) return [];
  const spans: Span[] = [];
  let from = whole.from;
  for (const [index, { code, failedMs, waitMs }] of retries.entries()) {
    const to = Math.min(whole.to, whole.from + failedMs);
    spans.push({ ...attempt(whole, index + 1, from, to), error: errorTypeOf(code) });
    from = Math.min(whole.to, to + waitMs);
  }
  return [...spans, { ...attempt(whole, retries.length + 1, from, whole.to), error: whole.error }];
}

const attempt = (whole: Span, number: number, from: number, to: number): Span => ({
  traceId: whole.traceId,
  spanId: spanIdOf('call', `${whole.spanId}/${number}`),
  parentId: whole.spanId,
  name: `attempt ${number}`,
  kind: 'client',
  service: whole.service,
  from,
  to,
  attributes: { 'conclave.call.request': number },
});
