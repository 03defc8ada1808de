import { Failure } from '@conclave/contracts';
import type { Logger, Metrics } from '@conclave/platform';
import { type BreakerSettings, type CallHealth, type Models, phaseOf, providerNameOf, type StateStore } from '@conclave/ports';
import { CircuitBreakers, type Gate } from './circuit-breakers.js';

export interface BreakerParts {
  readonly state: Pick<StateStore, 'breakers'>;
  readonly models: Pick<Models, 'providers'>;
  readonly metrics: Pick<Metrics, 'count' | 'set' | 'onCollect'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

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
export function healthOf(error: unknown, timeoutMs: number, codes: ReadonlySet<string> = unwellCodes): CallHealth {
  if (!(error instanceof Failure)) return 'neither';
  return codes.has(error.code) || (error.code === 'CALL_TIMEOUT' && timeoutMs >= fairTimeMs) ? 'unwell' : 'neither';
}

/** The circuit breakers of all providers, as one process sees them. A provider without a breaker lets every call through. */
export class ProviderBreakers {
  private readonly breakers: CircuitBreakers;
  /** Why the last call in this process failed, by provider. A refusal contains the reason, so that people know what to fix. */
  private readonly reasons = new Map<string, string>();

  constructor(private readonly parts: BreakerParts) {
    this.breakers = new CircuitBreakers(parts);
    parts.metrics.onCollect(() => this.measure());
  }

  /** Keeps the failure of a call that showed that its provider is unwell. */
  noteFailure(model: string, { message }: Failure): void {
    this.reasons.set(providerNameOf(model), message);
  }

  /** `by` is the id of the call. Refusals are PROVIDER_UNWELL. */
  gate(model: string, by: string): Gate {
    const { metrics, logger } = this.parts;
    const provider = providerNameOf(model);
    return this.breakers.gate(
      {
        name: provider,
        settings: () => this.settingsOf(provider),
        refusal: (retryInMs) =>
          new Failure('PROVIDER_UNWELL', `Provider ${provider} is retried in ${Math.ceil(retryInMs / 1000)} s.${this.reasonOf(provider)}`, {
            retryAfterMs: retryInMs,
          }),
        onOpened: (call) => {
          metrics.count('provider_breaker_openings_total', { provider });
          logger.warn('A provider failed too often and gets no calls for a while.', { provider, call });
        },
        onClosed: () => logger.info('A provider answers again.', { provider }),
      },
      by,
    );
  }

  private reasonOf(provider: string): string {
    const reason = this.reasons.get(provider);
    return reason === undefined ? '' : ` Its last failure: ${reason}`;
  }

  private async settingsOf(provider: string): Promise<BreakerSettings | undefined> {
    return (await this.parts.models.providers()).find(({ name }) => name === provider)?.breaker;
  }

  /** Current breaker states of all providers this process has called. */
  private async measure(): Promise<void> {
    for (const provider of this.breakers.names) {
      const settings = await this.settingsOf(provider);
      if (!settings) continue;
      const { state, now } = await this.parts.state.breakers.read(provider);
      this.parts.metrics.set('provider_breaker', { provider }, phases[phaseOf(state, now, settings.openMs)]);
    }
  }
}
