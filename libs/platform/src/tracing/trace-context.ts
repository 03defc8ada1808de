import { hash } from 'node:crypto';
import type { Event } from '@conclave/contracts';

const digest = (text: string, hexDigits: number): string => {
  const hex = hash('sha256', text).slice(0, hexDigits);
  return /^0+$/.test(hex) ? hex.replace(/.$/, '1') : hex;
};

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Trace id of a W3C `traceparent`; undefined when it is absent, malformed or all zeros. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const match = traceparent ? pattern.exec(traceparent) : null;
  return match && !/^0+$/.test(match[1]!) && !/^0+$/.test(match[2]!) ? match[1] : undefined;
}

/** Default trace of a run: derived from its id, so that every process names the same trace. */
export const traceIdOfRun = (runId: string): string => digest(`trace ${runId}`, 32);

/**
 * W3C `traceparent` of an event: the given trace, or the run's own, and a span id derived from the event id, so that a repeated handler
 * returns the same header.
 */
export const traceparentFor = (event: { readonly id: string; readonly runId: string }, traceId?: string): string =>
  `00-${traceId ?? traceIdOfRun(event.runId)}-${digest(`span ${event.id}`, 16)}-01`;

/** `traceparent` of an event that no other event of the run caused: a timer, a command. `request` is the run's header, if known. */
export const traceparentIn = (request: Pick<Event, 'traceparent'> | null, event: { readonly id: string; readonly runId: string }): string =>
  traceparentFor(event, traceIdOf(request?.traceparent));

/** Outputs in the trace of their cause, each with its own span. An output that has a trace keeps it. */
export function traced(cause: Pick<Event, 'runId' | 'traceparent'>, outputs: readonly Event[]): readonly Event[] {
  const trace = traceIdOf(cause.traceparent) ?? traceIdOfRun(cause.runId);
  return outputs.map((output) => (output.traceparent ? output : { ...output, traceparent: traceparentFor(output, trace) }));
}
