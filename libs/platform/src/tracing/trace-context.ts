import { hash } from 'node:crypto';
import type { Event } from '@conclave/contracts';

const digest = (text: string, hexDigits: number): string => {
  const hex = hash('sha256', text).slice(0, hexDigits);
  return /^0+$/.test(hex) ? hex.replace(/.$/, '1') : hex;
};

/** The content of a W3C `traceparent`. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Span of the sender, 16 hex digits. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly sampled: boolean;
}

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Undefined when the header is absent, malformed or all zeros. */
export function traceContextOf(traceparent: string | undefined): TraceContext | undefined {
  const match = traceparent ? pattern.exec(traceparent) : null;
  if (!match || /^0+$/.test(match[1]!) || /^0+$/.test(match[2]!)) return undefined;
  return { traceId: match[1]!, spanId: match[2]!, sampled: (Number.parseInt(match[3]!, 16) & 1) === 1 };
}

/** Trace id of a W3C `traceparent`; undefined when it is absent, malformed or all zeros. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceContextOf(traceparent)?.traceId;

/** Default trace of a run: derived from its id, so that every process names the same trace. */
export const traceIdOfRun = (runId: string): string => digest(`trace ${runId}`, 32);

/** Id of a span, derived from what it represents: every process computes the same id, and a repeat creates no second span. */
export const spanIdOf = (what: 'span' | 'run' | 'handle' | 'step' | 'task' | 'plan' | 'call', id: string): string =>
  digest(`${what} ${id}`, 16);

type Trace = Pick<TraceContext, 'traceId' | 'sampled'>;

/**
 * W3C `traceparent` of an event: the given trace, or the run's own, and a span id derived from the event id, so that a repeated handler
 * returns the same header. That span is the sending of the event.
 */
export const traceparentFor = (event: { readonly id: string; readonly runId: string }, trace?: Trace): string =>
  `00-${trace?.traceId ?? traceIdOfRun(event.runId)}-${spanIdOf('span', event.id)}-${trace?.sampled === false ? '00' : '01'}`;

/** `traceparent` of an event that no other event of the run caused: a timer, a command. `request` is the run's header, if known. */
export const traceparentIn = (request: Pick<Event, 'traceparent'> | null, event: { readonly id: string; readonly runId: string }): string =>
  traceparentFor(event, traceContextOf(request?.traceparent));

/** Outputs in the trace of their cause, each with its own span. An output that has a trace keeps it. */
export function traced(cause: Pick<Event, 'runId' | 'traceparent'>, outputs: readonly Event[]): readonly Event[] {
  const trace = traceContextOf(cause.traceparent) ?? { traceId: traceIdOfRun(cause.runId), sampled: true };
  return outputs.map((output) => (output.traceparent ? output : { ...output, traceparent: traceparentFor(output, trace) }));
}
