import type { Caller, CallRecorded, Usage } from '@conclave/contracts';

/** What an attempt of a call has used, and when it ended. */
export interface Paid {
  readonly usage: Usage;
  /** Milliseconds since 1970 when it ended: the day (UTC) it is counted for. */
  readonly at: number;
}

/** An attempt of a call, as it joins the ledger. */
export interface PaidCall extends Paid {
  /** Run it was made for, or the id of a call that a gateway made for a client directly. */
  readonly runId: string;
  /** Journal step of the call. */
  readonly step: string;
  readonly attempt: number;
  /** Who is charged; absent for a call of a run, whose request says it. */
  readonly caller?: Caller;
}

/** A call as its audit record tells it: the same attempt as the one its journal told. */
export const paidCallOf = ({ runId, data }: Pick<CallRecorded, 'runId' | 'data'>): PaidCall => ({
  runId,
  step: data.step,
  attempt: data.attempt,
  usage: data.usage,
  at: data.startedAt + data.durationMs,
  ...(data.caller ? { caller: data.caller } : {}),
});

/** Whose usage is asked for, and of which day or month (UTC). */
export interface AccountPeriod {
  readonly tenant: string;
  /** One of those who ask for the tenant, as `Caller.actor` names them; everybody unless given. */
  readonly actor?: string;
  readonly period: 'day' | 'month';
  /** Milliseconds since 1970: a moment in that day or month. */
  readonly at: number;
}

/**
 * What every call has used, whatever became of its run and its reply: the sums that accounts settle from. Each attempt of a call counts
 * once. The journal adds what it is told with an outcome; `add` is for whatever has no journal, and for a rebuilt store.
 */
export interface UsageLedger {
  /** Adds nothing when this attempt is in it: it is known for `StoreTtl.retentionMs` from the end of its run. */
  add(call: PaidCall): Promise<void>;
  /** Sum over the calls of a run; zeros for one that is not known or has expired. */
  ofRun(runId: string): Promise<Usage>;
  /** Kept for `accountMs` from the day it was counted for. Calls of a run whose request this store never saw are in no account. */
  ofAccount(account: AccountPeriod): Promise<Usage>;
}

/** Milliseconds for which sums of accounts are kept: this month and the twelve before it. */
export const accountMs = 400 * 24 * 60 * 60 * 1000;

/** Day of a moment by UTC, as `2026-11-22`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Every day of the period, in order. */
export function daysOf({ period, at }: Pick<AccountPeriod, 'period' | 'at'>): readonly string[] {
  const day = dayOf(at);
  if (period === 'day') return [day];
  const [year, month] = day.split('-').map(Number) as [number, number];
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Array.from({ length }, (_, n) => `${day.slice(0, 8)}${String(n + 1).padStart(2, '0')}`);
}

/** Calls of tools and looks into caches cost nothing and stand in no ledger. */
export const isPaid = ({ calls, prompt, completion, cost }: Usage): boolean => calls + prompt + completion + cost > 0;
