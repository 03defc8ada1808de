/** When a provider's breaker opens, and for how long. */
export interface BreakerSettings {
  /** Consecutive failed calls that open the breaker. */
  readonly failures: number;
  /** Number of most recent calls considered. */
  readonly window: number;
  /** Share of failed calls in the window that opens it, above 0 and up to 1. */
  readonly share: number;
  /** Milliseconds it stays open before one probe call is let through; also how long that probe is awaited. */
  readonly openMs: number;
}

export const defaultBreaker: BreakerSettings = { failures: 5, window: 20, share: 0.5, openMs: 30_000 };

/** When it was opened, in milliseconds since 1970 by the store's clock, and by which call. */
export interface BreakerOpening {
  readonly at: number;
  readonly by: string;
}

/** No stored state (null) is a closed breaker without failures. */
export type BreakerState =
  /**
   * `failed`: for the most recent calls, oldest first, whether each failed; empty if none did. Calls that began before `since` are ignored.
   */
  | { readonly kind: 'closed'; readonly since: number; readonly failed: readonly boolean[] }
  | { readonly kind: 'open'; readonly opened: BreakerOpening }
  /** One call, the probe, is testing whether the provider has recovered. */
  | { readonly kind: 'half-open'; readonly opened: BreakerOpening; readonly probe: { readonly by: string; readonly since: number } };

export type Admission =
  | { readonly kind: 'go' }
  /** The call becomes the probe once `next` is stored. */
  | { readonly kind: 'probe'; readonly next: BreakerState }
  | { readonly kind: 'refused'; readonly retryInMs: number };

/** Whether call `by` may be made at `now`. */
export function admit(state: BreakerState | null, { by, now }: { readonly by: string; readonly now: number }, openMs: number): Admission {
  if (state === null || state.kind === 'closed') return { kind: 'go' };
  // A probe whose process died is awaited no longer than the first opening lasted.
  const leftMs = (state.kind === 'open' ? state.opened.at : state.probe.since) + openMs - now;
  if (leftMs > 0) return { kind: 'refused', retryInMs: leftMs };
  return { kind: 'probe', next: { kind: 'half-open', opened: state.opened, probe: { by, since: now } } };
}

/** What a call shows about its provider; `neither` if the call was cancelled, or refused because of its content. */
export type CallHealth = 'well' | 'unwell' | 'neither';

export interface EndedProviderCall {
  readonly by: string;
  /** Both in milliseconds since 1970 by the store's clock. */
  readonly begunAt: number;
  readonly now: number;
  readonly health: CallHealth;
}

/** State after a call has ended; returns the same object if the call changes nothing. */
export function settle(state: BreakerState | null, call: EndedProviderCall, settings: BreakerSettings): BreakerState | null {
  const opened: BreakerState = { kind: 'open', opened: { at: call.now, by: call.by } };
  if (state === null || state.kind === 'closed') {
    const { since, failed: before } = state ?? { since: 0, failed: [] };
    if (call.health === 'neither' || call.begunAt < since || (call.health === 'well' && before.length === 0)) return state;
    const failed = [...before, call.health === 'unwell'].slice(-Math.max(settings.window, settings.failures));
    if (isTooMuch(failed, settings)) return opened;
    return { kind: 'closed', since, failed: failed.includes(true) ? failed : [] };
  }
  // Calls that were in flight when it opened show nothing new.
  if (state.kind === 'open' || state.probe.by !== call.by) return state;
  if (call.health === 'well') return { kind: 'closed', since: call.now, failed: [] };
  // An inconclusive probe makes room for the next one at once.
  return call.health === 'unwell' ? opened : { kind: 'open', opened: state.opened };
}

/** Missing calls count as successful: half of the last 20 are 10, however few there were. */
function isTooMuch(failed: readonly boolean[], { failures, window, share }: BreakerSettings): boolean {
  if (failed.length >= failures && failed.slice(-failures).every(Boolean)) return true;
  return failed.slice(-window).filter(Boolean).length >= window * share;
}

/** The phase shown to people: an open breaker whose time is over is waiting for its probe. */
export function phaseOf(state: BreakerState | null, now: number, openMs: number): 'closed' | 'open' | 'half-open' {
  if (state?.kind === 'open') return now < state.opened.at + openMs ? 'open' : 'half-open';
  return state?.kind ?? 'closed';
}

/** Stored state of one provider's breaker. */
export interface HeldBreaker {
  /** Rises with every write, from 1; 0 if nothing is stored. */
  readonly version: number;
  readonly state: BreakerState | null;
  /** Milliseconds since 1970 by the store's clock. */
  readonly now: number;
}

/** Circuit breakers of the providers, shared by all processes. State not written for a day may be dropped. */
export interface Breakers {
  read(provider: string): Promise<HeldBreaker>;
  /**
   * Writes `next` if the version is still `version`. Returns the state after the call as `held`. Compares version and nonce, never the
   * value: two processes that decide the same at the same moment are distinct. Repeating a nonce returns the same answer.
   */
  swap(write: {
    readonly provider: string;
    readonly version: number;
    readonly next: BreakerState;
    readonly nonce: string;
  }): Promise<{ readonly swapped: boolean; readonly held: HeldBreaker }>;
}

/** Number of remembered write nonces per provider. */
export const breakerNonces = 50;
