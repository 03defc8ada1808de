import { randomUUID } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { Logger, Metrics } from '@conclave/platform';
import {
  admit,
  type BreakerSettings,
  type BreakerState,
  type CallHealth,
  type HeldBreaker,
  type Models,
  phaseOf,
  settle,
  type StateStore,
} from '@conclave/ports';

export interface BreakerParts {
  readonly state: Pick<StateStore, 'breakers'>;
  readonly models: Pick<Models, 'providers'>;
  readonly metrics: Pick<Metrics, 'count' | 'set' | 'onCollect'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** The gate of one call to its provider. A provider without a breaker lets every call through. */
export interface ProviderGate {
  /** Throws PROVIDER_UNWELL if the call would be refused now. At most one round trip per second and process. */
  look(): Promise<void>;
  /**
   * Lets the call through, as the probe if one is due, or throws PROVIDER_UNWELL. The returned function must be called with the call's
   * outcome.
   */
  enter(): Promise<(health: CallHealth) => Promise<void>>;
}

/** Milliseconds for which the last known state of a breaker counts as current. */
const currentMs = 1_000;
/** Maximum tries of a contended write. An outcome lost after that is one of many at the same moment. */
const swaps = 50;
/** A call with a time limit below this, in milliseconds, shows nothing about its provider when it times out. */
const fairTimeMs = 10_000;

const phases = { closed: 0, 'half-open': 1, open: 2 } as const;
const unwellCodes: ReadonlySet<string> = new Set([
  'PROVIDER_UNREACHABLE',
  'PROVIDER_FAILED',
  'PROVIDER_STREAM_BROKEN',
  'PROVIDER_RATE_LIMITED',
]);

/** What a failed call with the limit `timeoutMs` shows about its provider. Failures due to the request or its key do not count. */
export function healthOf(error: unknown, timeoutMs: number): CallHealth {
  if (!(error instanceof Failure)) return 'neither';
  return unwellCodes.has(error.code) || (error.code === 'CALL_TIMEOUT' && timeoutMs >= fairTimeMs) ? 'unwell' : 'neither';
}

interface Seen {
  readonly held: HeldBreaker;
  /** By this process's clock. */
  readonly at: number;
}

/**
 * The circuit breakers of all providers, as one process sees them. A healthy provider costs one read per second; each failing call, and
 * each success soon after a failure, costs one write.
 */
export class ProviderBreakers {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly parts: BreakerParts) {
    parts.metrics.onCollect(() => this.measure());
  }

  /** `by` is the id of the call. */
  gate(model: string, by: string): ProviderGate {
    const provider = model.slice(model.lastIndexOf('@') + 1);
    let asked: Promise<BreakerSettings | undefined> | null = null;
    const settings = (): Promise<BreakerSettings | undefined> => (asked ??= this.settingsOf(provider));
    return {
      look: async () => {
        const known = await settings();
        if (!known) return;
        const seen = await this.current(provider);
        const admission = admit(seen.held.state, { by, now: nowBy(seen) }, known.openMs);
        if (admission.kind === 'refused') throw unwell(provider, admission.retryInMs);
      },
      enter: async () => {
        const known = await settings();
        if (!known) return async () => undefined;
        const begunAt = await this.admitted(provider, by, known);
        return async (health) => {
          // The call is made and paid: its outcome stands even if the count fails.
          await this.settled(provider, { by, begunAt, health }, known).catch((error: unknown) =>
            this.parts.logger.warn('The outcome of a call could not be counted for its provider.', { provider, error }),
          );
        };
      },
    };
  }

  private async settingsOf(provider: string): Promise<BreakerSettings | undefined> {
    return (await this.parts.models.providers()).find(({ name }) => name === provider)?.breaker;
  }

  /** Returns when the call began, by the store's clock. */
  private async admitted(provider: string, by: string, { openMs }: BreakerSettings): Promise<number> {
    let seen = await this.current(provider);
    for (let tried = 0; tried < swaps; tried += 1) {
      const now = nowBy(seen);
      const admission = admit(seen.held.state, { by, now }, openMs);
      if (admission.kind === 'go') return now;
      if (admission.kind === 'refused') throw unwell(provider, admission.retryInMs);
      const written = await this.write(provider, seen, admission.next);
      if (written.swapped) return now;
      seen = written.seen;
    }
    throw unwell(provider, openMs);
  }

  private async settled(
    provider: string,
    call: { readonly by: string; readonly begunAt: number; readonly health: CallHealth },
    settings: BreakerSettings,
  ): Promise<void> {
    let seen = this.seen.get(provider) ?? (await this.current(provider));
    for (let tried = 0; tried < swaps; tried += 1) {
      const before = seen.held.state;
      const next = settle(before, { ...call, now: nowBy(seen) }, settings);
      if (next === null || next === before) return;
      const written = await this.write(provider, seen, next);
      if (written.swapped) return this.tell(provider, before, next, call.health);
      seen = written.seen;
    }
  }

  private tell(provider: string, before: BreakerState | null, next: BreakerState, health: CallHealth): void {
    const { metrics, logger } = this.parts;
    if (next.kind === 'open' && health === 'unwell') {
      metrics.count('provider_breaker_openings_total', { provider });
      logger.warn('A provider failed too often and gets no calls for a while.', { provider, call: next.opened.by });
    }
    if (next.kind === 'closed' && before?.kind === 'half-open') logger.info('A provider answers again.', { provider });
  }

  private async current(provider: string): Promise<Seen> {
    const seen = this.seen.get(provider);
    if (seen && performance.now() - seen.at < currentMs) return seen;
    return this.remember(provider, await this.parts.state.breakers.read(provider));
  }

  private async write(provider: string, { held }: Seen, next: BreakerState): Promise<{ readonly swapped: boolean; readonly seen: Seen }> {
    const write = { provider, version: held.version, next, nonce: randomUUID() };
    const { swapped, held: after } = await this.parts.state.breakers.swap(write);
    return { swapped, seen: this.remember(provider, after) };
  }

  private remember(provider: string, held: HeldBreaker): Seen {
    const seen = { held, at: performance.now() };
    this.seen.set(provider, seen);
    return seen;
  }

  /** Current breaker states of all providers this process has called. */
  private async measure(): Promise<void> {
    for (const provider of this.seen.keys()) {
      const settings = await this.settingsOf(provider);
      if (!settings) continue;
      const { state, now } = await this.parts.state.breakers.read(provider);
      this.parts.metrics.set('provider_breaker', { provider }, phases[phaseOf(state, now, settings.openMs)]);
    }
  }
}

const nowBy = ({ held, at }: Seen): number => Math.round(held.now + performance.now() - at);

const unwell = (provider: string, retryInMs: number): Failure =>
  new Failure('PROVIDER_UNWELL', `Provider ${provider} is retried in ${Math.ceil(retryInMs / 1000)} s.`, { retryAfterMs: retryInMs });
