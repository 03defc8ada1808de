import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Span, Tracer } from '@conclave/ports';
import { traceContextOf, traceIdOfRun, type TraceContext } from './trace-context.js';

/** The span of one HTTP request of a client, and the trace to which it belongs, which depends on what the request starts. */
export class RequestTrace {
  readonly spanId = randomBytes(8).toString('hex');
  private readonly from = now();
  /** Set by the first thing that the request starts; a run takes precedence over the calls before it. */
  private began: { readonly trace: Pick<TraceContext, 'traceId' | 'sampled'>; readonly parentId: string | undefined } | null = null;

  private end: { readonly method: string; readonly route: string; readonly status: number; readonly at: number } | null = null;

  constructor(
    private readonly tracer: Tracer,
    /** The client's span, if it sent one. */
    private readonly client: TraceContext | undefined,
  ) {}

  /** Notes that the request began a run: its span is then below the run. */
  beganRun(trace: Pick<TraceContext, 'traceId' | 'sampled'>, runSpan: string): void {
    this.began = { trace, parentId: runSpan };
  }

  /** Returns the trace of a call that the request itself made; `id` is the id of the call. */
  beganCall(id: string): Pick<TraceContext, 'traceId' | 'sampled'> {
    if (this.began) return this.began.trace;
    this.began = { trace: this.ownTrace(id), parentId: this.client?.spanId };
    this.record();
    return this.began.trace;
  }

  private ownTrace(id: string): Pick<TraceContext, 'traceId' | 'sampled'> {
    const traceId = this.client?.traceId ?? traceIdOfRun(id);
    return { traceId, sampled: this.tracer.samples(traceId, this.client) };
  }

  /** Ends the request. A request that began nothing is recorded only if its client traces it. */
  ended(how: { readonly method: string; readonly route: string; readonly status: number }): void {
    if (this.client) this.began ??= { trace: this.ownTrace(''), parentId: this.client.spanId };
    this.end = { ...how, at: now() };
    this.record();
  }

  /** A call is known once its record is written, which may be after the response was sent. */
  private record(): void {
    if (!this.end || !this.began?.trace.sampled) return;
    const { method, route, status, at } = this.end;
    const span: Span = {
      traceId: this.began.trace.traceId,
      spanId: this.spanId,
      parentId: this.began.parentId,
      name: `${method} ${route}`,
      kind: 'server',
      service: 'gateway',
      from: this.from,
      to: at,
      attributes: { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
      error: status >= 500 ? String(status) : undefined,
    };
    this.tracer.record(span);
  }
}

const requests = new AsyncLocalStorage<RequestTrace>();

/** Runs `act` as part of a traced request. */
export function traceRequest<T>(tracer: Tracer, traceparent: string | undefined, act: (request: RequestTrace) => T): T {
  const request = new RequestTrace(tracer, traceContextOf(traceparent));
  return requests.run(request, () => act(request));
}

/** The request that the caller works for, if it is traced. */
export const tracedRequest = (): RequestTrace | undefined => requests.getStore();

/** Milliseconds since 1970, with fractions. */
export const now = (): number => performance.timeOrigin + performance.now();
