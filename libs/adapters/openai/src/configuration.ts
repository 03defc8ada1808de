import type { BreakerSettings } from '@conclave/ports';

/** One OpenAI-compatible server, with its secrets already read. */
export interface ProviderConfig {
  /** Such as `http://127.0.0.1:11434/v1`. */
  readonly base_url: string;
  /** Sent as bearer token (on Azure as `api-key`), only to the origin of `base_url`. */
  readonly api_key?: string;
  /** Sent with each request, to the same origin; may contain secrets. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `api-version` of the older form of Azure's API, in which the model is a deployment in the address. */
  readonly azure_api_version?: string;
  /** Concurrent calls of this process; default 1 for a local server, 8 for others. */
  readonly max_concurrency?: number;
  /** Upper bound of one call in milliseconds, in addition to the caller's own. */
  readonly timeout_ms?: number;
  /** Replaces the bound in `CallTimeouts`; also applies to a local server, whose first token otherwise has no bound. */
  readonly first_token_ms?: number;
  readonly idle_ms?: number;
  /** Runs on this machine or network: one call at a time by default, and slow to the first token. */
  readonly local: boolean;
  /** Overrides of the circuit breaker's defaults. The caller keeps the breaker. */
  readonly breaker?: Partial<BreakerSettings>;
  readonly paid: boolean;
}

export interface ModelPrice {
  /** Currency units per million tokens. */
  readonly input: number;
  readonly output: number;
}

/** Configuration of one model; its bounds override those of its provider. */
export interface KnownModel extends Pick<ProviderConfig, 'first_token_ms' | 'idle_ms'> {
  readonly context?: number;
  readonly price?: ModelPrice;
}

export interface ProvidersConfig {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** By `model@provider`. Overrides what a server reports. */
  readonly models?: Readonly<Record<string, KnownModel>>;
  readonly timeouts?: Partial<CallTimeouts>;
  readonly retry?: Partial<RetrySettings>;
  /** Called when calls to a model (`model@provider`) start to leave something out, for ten minutes, because its server refuses it. */
  readonly onConceded?: (ref: string, what: string) => void;
}

/** Milliseconds. */
export interface CallTimeouts {
  /**
   * Longest wait for a non-local server's first text or thinking, restarted by each sign of life before it. A local server may
   * be loading its model, so only the call's own bound applies.
   */
  readonly first_token_ms: number;
  /** Longest silence after the first token; comments count as a sign of life. */
  readonly idle_ms: number;
  /** Longest wait for the usage chunk after the last token. */
  readonly usage_ms: number;
  /** Bound of each request about models. */
  readonly list_ms: number;
  /** How long the list of models stays cached. */
  readonly list_ttl_ms: number;
  /** How long the failure to read it stays cached. */
  readonly list_failed_ttl_ms: number;
}

export interface RetrySettings {
  /** Total attempts, including the first. */
  readonly attempts: number;
  readonly base_ms: number;
  readonly cap_ms: number;
  /** If a server asks for a longer wait, the call is not retried. */
  readonly longest_wait_ms: number;
}

export const defaultTimeouts: CallTimeouts = {
  first_token_ms: 300_000,
  idle_ms: 120_000,
  usage_ms: 2_000,
  list_ms: 2_000,
  list_ttl_ms: 10_000,
  list_failed_ttl_ms: 1_000,
};
export const defaultRetry: RetrySettings = { attempts: 4, base_ms: 500, cap_ms: 8_000, longest_wait_ms: 60_000 };
export const defaultConcurrency = (local: boolean): number => (local ? 1 : 8);

/** Splits `model@provider` at the last `@`; null for any other form. */
export function splitRef(ref: string): { readonly model: string; readonly provider: string } | null {
  const at = ref.lastIndexOf('@');
  return at > 0 && at < ref.length - 1 ? { model: ref.slice(0, at), provider: ref.slice(at + 1) } : null;
}
