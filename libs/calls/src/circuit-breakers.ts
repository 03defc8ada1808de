import { randomUUID } from 'node:crypto';
import type { Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import {
  admit,
  type BreakerSettings,
  type BreakerState,
  type CallHealth,
  type HeldBreaker,
  settle,
  type StateStore,
} from '@conclave/ports';

/** A target that may get no calls for a while. */
export interface Guarded {
  /** Name of its breaker in the state store. */
  readonly name: string;
  /** Undefined: it has no breaker, and every call is let through. */
  settings(): Promise<BreakerSettings | undefined>;
  refusal(retryInMs: number): Failure;
  /** Called when the breaker has opened because of call `by`. */
  onOpened(by: string): void;
  /** Called when a probe has shown that the target works again. */
  onClosed(): void;
}

/** The gate of one call. */
export interface Gate {
  /** Throws the refusal if the call would be refused now. At most one round trip per second and process. */
  look(): Promise<void>;
  /**
   * Lets the call through, as the probe if one is due, or throws the refusal. The returned function must be called with the call's
   * outcome.
   */
  enter(): Promise<(health: CallHealth) => Promise<void>>;
}

/** Milliseconds for which the last known state of a breaker counts as current. */
const currentMs = 1_000;
/** Maximum tries of a contended write. An outcome that is lost after so many is one of many at the same moment. */
const swaps = 50;

interface Seen {
  readonly held: HeldBreaker;
  /** By this process's clock. */
  readonly at: number;
}

/**
 * Circuit breakers as one process sees them. A healthy target costs one read per second; each failing call, and each success soon after
 * a failure, costs one write.
 */
export class CircuitBreakers {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly parts: { readonly state: Pick<StateStore, 'breakers'>; readonly logger: Pick<Logger, 'warn'> }) {}

  /** `by` is the id of the call. */
  gate(guarded: Guarded, by: string): Gate {
    let asked: Promise<BreakerSettings | undefined> | null = null;
    const settings = (): Promise<BreakerSettings | undefined> => (asked ??= guarded.settings());
    return {
      look: async () => {
        const known = await settings();
        if (!known) return;
        const seen = await this.current(guarded.name);
        const admission = admit(seen.held.state, { by, now: nowBy(seen) }, known.openMs);
        if (admission.kind === 'refused') throw guarded.refusal(admission.retryInMs);
      },
      enter: async () => {
        const known = await settings();
        if (!known) return async () => undefined;
        const begunAt = await this.admitted(guarded, by, known);
        return async (health) => {
          // The call is made and paid: its outcome is valid even if the count fails.
          await this.settled(guarded, { by, begunAt, health }, known).catch((error: unknown) =>
            this.parts.logger.warn('The outcome of a call could not be counted by its circuit breaker.', { breaker: guarded.name, error }),
          );
        };
      },
    };
  }

  /** Names of all breakers that this process has read. */
  get names(): readonly string[] {
    return [...this.seen.keys()];
  }

  /** Returns when the call began, by the store's clock. */
  private async admitted(guarded: Guarded, by: string, { openMs }: BreakerSettings): Promise<number> {
    let seen = await this.current(guarded.name);
    for (let tried = 0; tried < swaps; tried += 1) {
      const now = nowBy(seen);
      const admission = admit(seen.held.state, { by, now }, openMs);
      if (admission.kind === 'go') return now;
      if (admission.kind === 'refused') throw guarded.refusal(admission.retryInMs);
      const written = await this.write(guarded.name, seen, admission.next);
      if (written.swapped) return now;
      seen = written.seen;
    }
    throw guarded.refusal(openMs);
  }

  private async settled(
    guarded: Guarded,
    call: { readonly by: string; readonly begunAt: number; readonly health: CallHealth },
    settings: BreakerSettings,
  ): Promise<void> {
    let seen = this.seen.get(guarded.name) ?? (await this.current(guarded.name));
    for (let tried = 0; tried < swaps; tried += 1) {
      const before = seen.held.state;
      const next = settle(before, { ...call, now: nowBy(seen) }, settings);
      if (next === null || next === before) return;
      const written = await this.write(guarded.name, seen, next);
      if (written.swapped) {
        if (next.kind === 'open' && call.health === 'unwell') guarded.onOpened(call.by);
        if (next.kind === 'closed' && before?.kind === 'half-open') guarded.onClosed();
        return;
      }
      seen = written.seen;
    }
  }

  private async current(name: string): Promise<Seen> {
    const seen = this.seen.get(name);
    if (seen && performance.now() - seen.at < currentMs) return seen;
    return this.remember(name, await this.parts.state.breakers.read(name));
  }

  private async write(name: string, { held }: Seen, next: BreakerState): Promise<{ readonly swapped: boolean; readonly seen: Seen }> {
    const write = { provider: name, version: held.version, next, nonce: randomUUID() };
    const { swapped, held: after } = await this.parts.state.breakers.swap(write);
    return { swapped, seen: this.remember(name, after) };
  }

  private remember(name: string, held: HeldBreaker): Seen {
    const seen = { held, at: performance.now() };
    this.seen.set(name, seen);
    return seen;
  }
}

const nowBy = ({ held, at }: Seen): number => Math.round(held.now + performance.now() - at);
