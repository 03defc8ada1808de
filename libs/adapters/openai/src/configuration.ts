import type { BreakerSettings } from '@conclave/ports';

/** One OpenAI-compatible server, with its secrets already read. */
export interface ProviderConfig {
  /** Such as `http://127.0.0.1:11434/v1`. */
  readonly base_url: string;
  /** Sent as bearer token to the origin of `base_url` and nowhere else. */
  readonly api_key?: string;
  /** Calls at the same time in this process. 1 for a local server, 8 for others. */
  readonly max_concurrency?: number;
  /** Upper bound of one call on top of what the caller says, milliseconds. */
  readonly timeout_ms?: number;
  /** Instead of the bounds of `CallTimeouts`; also for a local server, which has no bound for its first sign of life otherwise. */
  readonly first_token_ms?: number;
  readonly idle_ms?: number;
  /** Runs on this machine or network: one call at a time unless said otherwise, and slow to the first token. */
  readonly local: boolean;
  /** When it is left alone for a while, as far as that is not usual. Kept by whoever calls. */
  readonly breaker?: Partial<BreakerSettings>;
  readonly paid: boolean;
}

export interface ModelPrice {
  /** Currency units per million tokens. */
  readonly input: number;
  readonly output: number;
}

/** What is said about one model; its bounds win over those of its provider. */
export interface KnownModel extends Pick<ProviderConfig, 'first_token_ms' | 'idle_ms'> {
  readonly context?: number;
  readonly price?: ModelPrice;
}

export interface ProvidersConfig {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** `model@provider` -> what is known of it. What stands here wins over what a server says. */
  readonly models?: Readonly<Record<string, KnownModel>>;
  readonly timeouts?: Partial<CallTimeouts>;
  readonly retry?: Partial<RetrySettings>;
  /** Hears that calls to a model (`model@provider`) go without something from now on, for ten minutes, because its server refuses it. */
  readonly onConceded?: (ref: string, what: string) => void;
}

/** Milliseconds. */
export interface CallTimeouts {
  /**
   * From sending to the first text or thinking of a server that is not local, and between two signs of life before it. A local one may
   * be loading its model: only the call's own bound counts.
   */
  readonly first_token_ms: number;
  /** Longest silence after it: nothing came, no comment either. */
  readonly idle_ms: number;
  /** Wait for the usage chunk after the last token. */
  readonly usage_ms: number;
  /** Bound of each question about models. */
  readonly list_ms: number;
  /** How long the list of models is taken as current. */
  readonly list_ttl_ms: number;
}

export interface RetrySettings {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  readonly base_ms: number;
  readonly cap_ms: number;
  /** A server that asks for a longer wait than this is not waited for. */
  readonly longest_wait_ms: number;
}

export const defaultTimeouts: CallTimeouts = {
  first_token_ms: 300_000,
  idle_ms: 120_000,
  usage_ms: 2_000,
  list_ms: 2_000,
  list_ttl_ms: 10_000,
};
export const defaultRetry: RetrySettings = { attempts: 4, base_ms: 500, cap_ms: 8_000, longest_wait_ms: 60_000 };
export const defaultConcurrency = (local: boolean): number => (local ? 1 : 8);

/** `model@provider` in its parts; null where it is not of that form. The last `@` counts. */
export function splitRef(ref: string): { readonly model: string; readonly provider: string } | null {
  const at = ref.lastIndexOf('@');
  return at > 0 && at < ref.length - 1 ? { model: ref.slice(0, at), provider: ref.slice(at + 1) } : null;
}
