import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime, type SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Span, SpanReference } from '@conclave/ports';

const kinds: Readonly<Record<Span['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Seconds and nanoseconds. */
const timeOf = (ms: number): HrTime => {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
};

const contextOf = ({ traceId, spanId }: SpanReference): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });

const scope = { name: 'conclave' };

/** The span in the form that the SDK passes to an exporter. The SDK's spans have random ids; ours are derived from event ids. */
export function readableSpan(span: Span, resource: Resource): ReadableSpan {
  const { parentId, error, links = [], events = [] } = span;
  const context = contextOf(span);
  const to = Math.max(span.from, span.to);
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => context,
    ...(parentId === undefined ? {} : { parentSpanContext: contextOf({ traceId: span.traceId, spanId: parentId }) }),
    startTime: timeOf(span.from),
    endTime: timeOf(to),
    duration: timeOf(to - span.from),
    ended: true,
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR },
    attributes: attributesOf(span),
    links: links.map((link) => ({ context: contextOf(link) })),
    events: events.map(({ name, at, attributes }) => ({ name, time: timeOf(at), attributes: { ...attributes } as Attributes })),
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const attributesOf = ({ attributes, error, service }: Span): Attributes => ({
  ...(attributes as Attributes),
  'conclave.service': service,
  ...(error === undefined ? {} : { 'error.type': error }),
});
