import { Failure } from '@conclave/contracts';
import type { CallTimeouts } from './configuration.js';

/** Why we aborted an attempt. `usage` is not a failure: the reply was complete, only its usage was missing. */
export type AbortReason = 'cancelled' | 'timeout' | 'first_token' | 'idle' | 'usage';

/** The abort controller of one attempt and the timers that trigger it. */
export class Watchdog {
  readonly controller = new AbortController();
  cut: AbortReason | null = null;
  private ending = false;
  /** Whether the server has shown no sign of life yet. */
  private silent = true;
  private timer: NodeJS.Timeout | undefined;
  private readonly whole: NodeJS.Timeout;
  private readonly leave = (): void => this.pull('cancelled');

  /** `leftMs`: time left for the call. `firstTokenMs`: null means only `leftMs` applies. */
  constructor(
    private readonly signal: AbortSignal,
    private readonly leftMs: number,
    private readonly firstTokenMs: number | null,
    private readonly timeouts: CallTimeouts,
  ) {
    this.whole = setTimeout(() => this.pull('timeout'), Math.max(0, leftMs));
    if (firstTokenMs !== null) this.arm('first_token', firstTokenMs);
    if (signal.aborted) this.leave();
    else signal.addEventListener('abort', this.leave, { once: true });
  }

  /** Reports a sign of life: text, thinking, an empty chunk, a comment. `begun`: text or thinking has already arrived. */
  heard(begun: boolean): void {
    this.silent = false;
    if (this.ending) return;
    if (begun) this.arm('idle', this.timeouts.idle_ms);
    else if (this.firstTokenMs !== null) this.arm('first_token', this.firstTokenMs);
  }

  /** The answer is complete; only usage and the end of the stream, which some servers keep open, are still awaited. */
  finishing(hasUsage: boolean): void {
    this.ending = true;
    this.arm('usage', hasUsage ? Math.min(250, this.timeouts.usage_ms) : this.timeouts.usage_ms);
  }

  /** The failure for an aborted attempt; null if we did not abort it or its reply was complete. */
  failure(provider: string): Failure | null {
    switch (this.cut) {
      case null:
      case 'usage':
        return null;
      case 'cancelled':
        return new Failure('CALL_CANCELLED');
      case 'timeout':
        return new Failure(
          'CALL_TIMEOUT',
          `Provider ${provider} ${this.silent ? stuck(this.leftMs) : `had not finished after ${seconds(this.leftMs)}, the time limit of the call`}.`,
        );
      case 'first_token':
        return new Failure(
          'CALL_TIMEOUT',
          `Provider ${provider} sent nothing for ${seconds(this.firstTokenMs!)}, the limit of \`first_token_s\`.`,
        );
      case 'idle':
        return new Failure(
          'CALL_TIMEOUT',
          `Provider ${provider} was silent for ${seconds(this.timeouts.idle_ms)} in the middle of its answer, the limit of \`idle_s\`.`,
        );
    }
  }

  close(): void {
    clearTimeout(this.whole);
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.leave);
  }

  private arm(cut: AbortReason, ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pull(cut), ms);
  }

  private pull(cut: AbortReason): void {
    if (this.cut) return;
    this.cut = cut;
    this.controller.abort();
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
/** A server that hangs cannot be told from one that is slow: people can. */
const stuck = (ms: number): string =>
  `sent nothing for ${seconds(ms)}, the time limit of the call. Check that it is not stuck; a slow model needs a longer limit`;
