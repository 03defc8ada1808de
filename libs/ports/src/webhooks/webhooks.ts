import type { Outcome, Source } from '@conclave/contracts';

/** The result of a run, for whoever is told of it. */
export interface RunResult {
  readonly run: string;
  readonly template: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly question: string;
  /** Null where the run has none. */
  readonly answer: string | null;
  readonly sources: readonly Source[];
  readonly rounds: number;
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly completedAt: number;
}

export interface Posting {
  /** Name under `webhooks`. */
  readonly webhook: string;
  /** Equal for all attempts: a receiver that knows it drops the repeat. */
  readonly id: string;
  readonly result: RunResult;
  readonly signal: AbortSignal;
}

/** Places outside that are told of results. */
export interface Webhooks {
  /**
   * Sends a result, with bounded attempts and time. Returns how many attempts it took. Throws WEBHOOK_UNKNOWN, WEBHOOK_REFUSED (the
   * receiver refuses it, or its address may not be asked), WEBHOOK_UNAVAILABLE after the last attempt, SHUTTING_DOWN, CALL_CANCELLED.
   */
  post(posting: Posting): Promise<{ readonly attempts: number }>;
  close(): Promise<void>;
}
