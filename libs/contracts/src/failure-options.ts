/** What is known of one occurrence of a failure. */
export interface FailureOptions {
  readonly cause?: unknown;
  /** Small values for logs. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Field of the request it is about. */
  readonly param?: string | undefined;
  /** How long the other side asked us to wait. */
  readonly retryAfterMs?: number;
  readonly upstream?: UpstreamRefusal;
}

/** What a model server said about a request that the client wrote itself, for that client alone: it may quote the prompt. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}
