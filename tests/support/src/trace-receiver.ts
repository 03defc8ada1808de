import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: string;
  /** `service.name` of its resource. */
  readonly service: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** Ids of the spans to which it is linked. */
  readonly links: readonly string[];
  readonly events: readonly string[];
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly OtlpValue[] };
}
interface OtlpAttributes {
  readonly attributes?: readonly { readonly key: string; readonly value: OtlpValue }[];
}
interface OtlpSpan extends OtlpAttributes {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly links?: readonly { readonly spanId: string }[];
  readonly events?: readonly { readonly name: string }[];
}
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: OtlpAttributes;
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];

/** A collector on loopback that accepts OTLP over HTTP in JSON, and keeps what it received. */
export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** All bodies as they arrived. */
  readonly bodies: string[] = [];
  /** Headers of the last request. */
  headers: IncomingMessage['headers'] = {};
  /** The status it answers with. */
  status = 200;

  private constructor(private readonly server: Server) {}

  static async start(port = 0): Promise<TraceReceiver> {
    const server = createServer();
    const receiver = new TraceReceiver(server);
    server.on('request', (request, response) => {
      void receiver.take(request).then((status) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return receiver;
  }

  /** Value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async take(request: IncomingMessage): Promise<number> {
    this.headers = request.headers;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    if (request.method !== 'POST' || request.url !== '/v1/traces') return 404;
    if (this.status !== 200) return this.status;
    this.bodies.push(body);
    this.spans.push(...spansIn(JSON.parse(body) as OtlpBody));
    return 200;
  }

  /** Spans of one trace; a span that arrived twice counts once. */
  trace(traceId: string): readonly ReceivedSpan[] {
    return [...new Map(this.spans.filter((span) => span.traceId === traceId).map((span) => [span.spanId, span])).values()];
  }

  /** Ids of the traces that contain a span of this run. */
  tracesOf(runId: string): readonly string[] {
    return [...new Set(this.spans.filter(({ attributes }) => attributes['conclave.run.id'] === runId).map(({ traceId }) => traceId))];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

const spansIn = ({ resourceSpans }: OtlpBody): readonly ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: span.parentSpanId || null,
        name: span.name,
        kind: kinds[span.kind] ?? String(span.kind),
        service,
        from: Number(span.startTimeUnixNano) / 1e6,
        to: Number(span.endTimeUnixNano) / 1e6,
        attributes: attributesOf(span),
        isError: span.status?.code === 2,
        links: (span.links ?? []).map(({ spanId }) => spanId),
        events: (span.events ?? []).map(({ name }) => name),
      })),
    );
  });

const attributesOf = ({ attributes = [] }: OtlpAttributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

function valueOf(value: OtlpValue): unknown {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
