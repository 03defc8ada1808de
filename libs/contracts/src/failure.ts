import { failures, type FailureCode, type FailureSpec } from './failures.js';
import type { FailureNote } from './values.js';

/** Details of one occurrence of a failure. */
export interface FailureOptions {
  readonly cause?: unknown;
  /** Small values for logs. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The request field it is about. */
  readonly param?: string | undefined;
  /** Milliseconds that the other side asked us to wait. */
  readonly retryAfterMs?: number;
  readonly upstream?: UpstreamRefusal;
  /** No further attempt can succeed: the record being handled becomes a dead letter at once. */
  readonly final?: boolean;
  /** Work for the request was paid for before it failed, so that a repeat would pay again. */
  readonly paid?: boolean;
  /** The call was certainly not made: nothing was sent. */
  readonly unsent?: true | undefined;
}

/** The model server's message about a request that the client wrote itself. Only that client may see it: it may quote the prompt. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** A failure from the table. `detail` is a sentence for people about this occurrence (no prompt text, no keys). */
export class Failure extends Error {
  readonly spec: FailureSpec;
  constructor(
    readonly code: FailureCode,
    readonly detail?: string,
    readonly options: FailureOptions = {},
  ) {
    super(detail ? `${failures[code].message} ${detail}` : failures[code].message, { cause: options.cause });
    this.name = 'Failure';
    this.spec = failures[code];
  }
  get retriable(): boolean {
    return this.spec.retriable;
  }
}

/** What events record of a failure. */
export const noteOf = ({ code, message, retriable, options: { retryAfterMs, unsent } }: Failure): FailureNote => ({
  ...{ code, message, retriable },
  ...(unsent ? { unsent } : {}),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(0, retryAfterMs) }),
});

/** Whether our own log, state or stream store is failing. */
export const isOutage = (error: unknown): boolean => error instanceof Failure && error.spec.outage;

/** Whether a model, search, page or tool server is unavailable and may come back. */
export const isUpstreamOutage = ({ retriable, spec }: Failure): boolean => retriable && spec.type === 'upstream_error';
