import type { Clock } from './clock.js';
import { backoff } from './retry.js';

export interface ProbePolicy {
  /** Milliseconds before the first probe, doubled with jitter up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Closed while our own stores do not answer. One probe at a time may pass; the gate opens when its owner reports success. */
export class OutageGate {
  private lastError: unknown = null;
  private isShut = false;
  private failedProbes = 0;
  private cancelTimer: (() => void) | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly policy: ProbePolicy,
    private readonly turned: (shut: boolean, error: unknown) => void,
    private readonly probe: () => void,
  ) {}

  get shut(): boolean {
    return this.isShut;
  }

  /** The error that closed the gate; null while it is open. */
  get error(): unknown {
    return this.lastError;
  }

  /** Records an outage. `byProbe`: hit by the record that was sent to test whether it is over. */
  trip(error: unknown, byProbe: boolean): void {
    this.lastError = error;
    if (!this.isShut) {
      this.isShut = true;
      this.failedProbes = 0;
      this.turned(true, error);
      this.schedule();
    } else if (byProbe) {
      this.failedProbes += 1;
      this.schedule();
    }
  }

  open(): void {
    if (!this.isShut) return;
    const error = this.lastError;
    this.stop();
    this.isShut = false;
    this.lastError = null;
    this.turned(false, error);
  }

  /** Sends no further probes; the gate keeps its state. */
  stop(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
  }

  private schedule(): void {
    this.stop();
    const wait = backoff({ backoffMs: this.policy.firstMs, maxBackoffMs: this.policy.maxMs }, this.failedProbes + 1, this.clock.random());
    this.cancelTimer = this.clock.after(wait, () => {
      this.cancelTimer = null;
      this.probe();
    });
  }
}
