import { Failure, type CallRecorded, type Event } from '@conclave/contracts';
import type { EventLog, Tracer } from '@conclave/ports';
import { overriding } from '../process/overriding.js';
import { callSpans, errorTypeOf } from './call-spans.js';
import { contextOf, runSpanId, sendSpan } from './event-spans.js';
import { now, tracedRequest } from './request-trace.js';

/**
 * A log that records the publication of events outside of handlers: requests of runs, commands, timers, documents, and calls that a gateway
 * made for a client directly. The transport records what handlers return.
 */
export const tracedLog = (log: EventLog, tracer: Tracer): EventLog =>
  overriding(log, {
    publish: async (events: readonly Event[]): Promise<void> => {
      const from = now();
      for (const event of events) noteRun(event);
      let error: string | undefined;
      try {
        await log.publish(events);
      } catch (failure) {
        error = errorTypeOf(failure instanceof Failure ? failure.code : 'INTERNAL');
        throw failure;
      } finally {
        const to = now();
        for (const event of events) recordSent(tracer, event, { from, to, error });
      }
    },
  });

function noteRun(event: Event): void {
  if (event.type === 'PlanRequested') tracedRequest()?.beganRun(contextOf(event), runSpanId(event.runId));
}

function recordSent(
  tracer: Tracer,
  event: Event,
  at: { readonly from: number; readonly to: number; readonly error: string | undefined },
): void {
  if (event.type === 'CallRecorded') return recordDirectCall(tracer, event as CallRecorded);
  if (event.topic === 'audit' || !contextOf(event).sampled) return;
  // An uploaded document belongs to no run: its sending is the root of its trace.
  const parentId = event.type === 'KnowledgeProposed' && isDocument(event) ? undefined : runSpanId(event.runId);
  tracer.record(sendSpan(event, { ...at, parentId, service: event.source, messagingSystem: tracer.messagingSystem }));
}

const isDocument = ({ data }: Event): boolean => (data as { readonly kind?: unknown }).kind === 'document';

function recordDirectCall(tracer: Tracer, event: CallRecorded): void {
  const request = tracedRequest();
  if (!request) return;
  const { traceId, sampled } = request.beganCall(event.runId);
  if (!sampled) return;
  for (const span of callSpans(event, { traceId, parentId: request.spanId, service: 'gateway' })) tracer.record(span);
}
