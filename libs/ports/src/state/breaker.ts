/** When a provider counts as unwell, and how long it is left alone then. */
export interface BreakerSettings {
  /** Failed calls in a row that open the breaker. */
  readonly failures: number;
  /** How many of the last calls are looked at. */
  readonly window: number;
  /** The part of them that opens it when it failed, above 0 and up to 1. */
  readonly share: number;
  /** Milliseconds it stays open before one call is let through to see; also how long that call is waited for. */
  readonly openMs: number;
}

export const defaultBreaker: BreakerSettings = { failures: 5, window: 20, share: 0.5, openMs: 30_000 };

/** When it was opened, in milliseconds since 1970 by the store's clock, and by whose call. */
export interface Opening {
  readonly at: number;
  readonly by: string;
}

/** Nothing held (null) is a closed breaker of which nothing bad is known. */
export type BreakerState =
  /** `failed`: of the last calls, oldest first, which failed; empty when none did. Calls that began before `since` do not count. */
  | { readonly kind: 'closed'; readonly since: number; readonly failed: readonly boolean[] }
  | { readonly kind: 'open'; readonly opened: Opening }
  /** One call, the probe, is out to see whether the provider is well again. */
  | { readonly kind: 'half-open'; readonly opened: Opening; readonly probe: { readonly by: string; readonly since: number } };

export type Admission =
  | { readonly kind: 'go' }
  /** The call may be the probe: it is once `next` is what is held. */
  | { readonly kind: 'probe'; readonly next: BreakerState }
  | { readonly kind: 'refused'; readonly retryInMs: number };

/** Whether the call `by` may be made at `now`. */
export function admit(state: BreakerState | null, { by, now }: { readonly by: string; readonly now: number }, openMs: number): Admission {
  if (state === null || state.kind === 'closed') return { kind: 'go' };
  // A probe whose process died is not waited for longer than the first one was.
  const leftMs = (state.kind === 'open' ? state.opened.at : state.probe.since) + openMs - now;
  if (leftMs > 0) return { kind: 'refused', retryInMs: leftMs };
  return { kind: 'probe', next: { kind: 'half-open', opened: state.opened, probe: { by, since: now } } };
}

/** What a call says about its provider; `neither` where it was cancelled, or refused for what stood in it. */
export type CallHealth = 'well' | 'unwell' | 'neither';

export interface EndedCall {
  readonly by: string;
  /** Both in milliseconds since 1970 by the store's clock. */
  readonly begunAt: number;
  readonly now: number;
  readonly health: CallHealth;
}

/** What is held after a call has ended; the same object where the call changes nothing. */
export function settle(state: BreakerState | null, call: EndedCall, settings: BreakerSettings): BreakerState | null {
  const opened: BreakerState = { kind: 'open', opened: { at: call.now, by: call.by } };
  if (state === null || state.kind === 'closed') {
    const { since, failed: before } = state ?? { since: 0, failed: [] };
    if (call.health === 'neither' || call.begunAt < since || (call.health === 'well' && before.length === 0)) return state;
    const failed = [...before, call.health === 'unwell'].slice(-Math.max(settings.window, settings.failures));
    if (isTooMuch(failed, settings)) return opened;
    return { kind: 'closed', since, failed: failed.includes(true) ? failed : [] };
  }
  // Calls that were under way when it opened say nothing new.
  if (state.kind === 'open' || state.probe.by !== call.by) return state;
  if (call.health === 'well') return { kind: 'closed', since: call.now, failed: [] };
  // A probe that says nothing makes room for the next one at once.
  return call.health === 'unwell' ? opened : { kind: 'open', opened: state.opened };
}

/** Calls that nothing is known of count as well: half of the last 20 are 10, however many there were. */
function isTooMuch(failed: readonly boolean[], { failures, window, share }: BreakerSettings): boolean {
  if (failed.length >= failures && failed.slice(-failures).every(Boolean)) return true;
  return failed.slice(-window).filter(Boolean).length >= window * share;
}

/** As people see it: an open breaker whose time is over waits for its probe. */
export function phaseOf(state: BreakerState | null, now: number, openMs: number): 'closed' | 'open' | 'half-open' {
  if (state?.kind === 'open') return now < state.opened.at + openMs ? 'open' : 'half-open';
  return state?.kind ?? 'closed';
}

/** What is held of one provider. */
export interface HeldBreaker {
  /** Rises with every write, from 1; 0 where nothing is held. */
  readonly version: number;
  readonly state: BreakerState | null;
  /** Milliseconds since 1970 by the store's clock. */
  readonly now: number;
}

/** Circuit breakers of the providers, shared by all processes. What was not written for a day may be forgotten. */
export interface Breakers {
  read(provider: string): Promise<HeldBreaker>;
  /**
   * Writes `next` where the version is still `version`. `held` is what is held after the call. By version and nonce, never by value: two
   * processes that decide the same at the same moment are still two. The same nonce gets the same answer again.
   */
  swap(write: {
    readonly provider: string;
    readonly version: number;
    readonly next: BreakerState;
    readonly nonce: string;
  }): Promise<{ readonly swapped: boolean; readonly held: HeldBreaker }>;
}

/** Writes of one provider whose nonces are remembered. */
export const breakerNonces = 50;
