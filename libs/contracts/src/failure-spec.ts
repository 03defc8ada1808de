/** One row per failure a person or a caller can meet. */
export interface FailureSpec {
  /** HTTP status when it reaches a client before the response head. */
  readonly status: number;
  /** OpenAI error `type`. */
  readonly type:
    'invalid_request_error' | 'authentication_error' | 'not_found_error' | 'rate_limit_error' | 'server_error' | 'upstream_error';
  /** Whether the same request can succeed when tried again. */
  readonly retriable: boolean;
  /** Closed vocabulary for metrics: who has to act. */
  readonly errorType: string;
  /** Sentence that says what happened and what to do. */
  readonly message: string;
}
