/** Ids of a span, by which spans of two processes are connected. */
export interface SpanReference {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A finished piece of work, as OpenTelemetry describes it. Never contains prompts, replies, questions or keys. */
export interface Span extends SpanReference {
  /** Absent: the root of its trace. */
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Service that did the work. */
  readonly service: string;
  /** Milliseconds since 1970, with fractions. */
  readonly from: number;
  readonly to: number;
  readonly attributes: SpanAttributes;
  /** A closed code that says why it failed; absent if it did not. */
  readonly error?: string | undefined;
  readonly links?: readonly SpanReference[];
  readonly events?: readonly { readonly name: string; readonly at: number; readonly attributes?: SpanAttributes }[];
}

/** Exports spans. A process without tracing has none. */
export interface Tracer {
  /** Name of the log in the spans of its records, such as `kafka`. */
  readonly messagingSystem: string;
  /** Whether a new trace is recorded. `parent`: the client's own span, if it sent one. */
  samples(traceId: string, parent: { readonly spanId: string; readonly sampled: boolean } | undefined): boolean;
  /** Queues a span. Never throws and never waits: a full queue drops it. A recently recorded span id is not recorded again. */
  record(span: Span): void;
  /** Exports the queued spans, for at most a few seconds. Never rejects. */
  close(): Promise<void>;
}
