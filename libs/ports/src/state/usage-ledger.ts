import { dayOf, type Caller, type CallRecorded, type Usage } from '@conclave/contracts';

/** Usage of a call attempt, and when it ended. */
export interface Paid {
  readonly usage: Usage;
  /** When it ended, in milliseconds since 1970: decides the day (UTC) it is counted for. */
  readonly at: number;
  /** The model that was called, as `model@provider`. */
  readonly model?: string;
}

/** A call attempt as it is added to the ledger. */
export interface PaidCall extends Paid {
  /** The run it was made for, or the id of a call that a gateway made directly for a client. */
  readonly runId: string;
  /** Journal step of the call. */
  readonly step: string;
  readonly attempt: number;
  /** The account to charge; absent for a call of a run, whose request names it. */
  readonly caller?: Caller;
}

/** A call from its audit record: the same attempt that its journal recorded. */
export const paidCallOf = ({ runId, data }: Pick<CallRecorded, 'runId' | 'data'>): PaidCall => ({
  runId,
  step: data.step,
  attempt: data.attempt,
  usage: data.usage,
  model: data.model,
  at: data.startedAt + data.durationMs,
  ...(data.caller ? { caller: data.caller } : {}),
});

/** The account to sum, and over which day or month (UTC). */
export interface AccountPeriod {
  readonly tenant: string;
  /** One caller of the tenant, as `Caller.actor` names it; all callers if absent. */
  readonly actor?: string;
  /** One end user of that caller, as `Caller.user` names it; all, and calls that name none, if absent. */
  readonly user?: string;
  readonly period: 'day' | 'month';
  /** Milliseconds since 1970: a moment in that day or month. */
  readonly at: number;
}

/** Days (UTC, as `2026-11-22`) whose usage is listed, including the first and the last. */
export interface UsagePeriod {
  readonly tenant: string;
  /** One caller of the tenant; all callers if absent. */
  readonly actor?: string;
  readonly from: string;
  readonly to: string;
}

/** Usage of one model by one caller, or by one end user of it, in a day. */
export interface UsageItem {
  readonly day: string;
  readonly actor: string;
  /** Null for calls that were reported without a model. */
  readonly model: string | null;
  /** Hash of the end user behind a shared key; null if none was named. */
  readonly user: string | null;
  readonly usage: Usage;
}

/**
 * Usage of every call, whatever happens to its run and its reply: accounts settle from these sums. Each attempt of a call counts once. The
 * journal adds the usage it gets with an outcome; `add` is for calls without a journal, and for a rebuilt store.
 */
export interface UsageLedger {
  /** Adds nothing if the ledger already has this attempt: attempts are remembered for `StoreTtl.retentionMs` from the end of their run. */
  add(call: PaidCall): Promise<void>;
  /** Sum over the calls of a run; zeros if it is unknown or expired. */
  ofRun(runId: string): Promise<Usage>;
  /** Sum of an account, kept for `accountMs` from its day. No account includes calls of a run whose request this store never saw. */
  ofAccount(account: AccountPeriod): Promise<Usage>;
  /** The same sums by day, caller, model and end user, in no order. */
  items(period: UsagePeriod): Promise<readonly UsageItem[]>;
}

/** Milliseconds for which account sums are kept: this month and the twelve before it. */
export const accountMs = 400 * 24 * 60 * 60 * 1000;

const dayMs = 24 * 60 * 60 * 1000;

/** Every day of the period, in order. */
export function daysOf({ period, at }: Pick<AccountPeriod, 'period' | 'at'>): readonly string[] {
  const day = dayOf(at);
  if (period === 'day') return [day];
  const [year, month] = day.split('-').map(Number) as [number, number];
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Array.from({ length }, (_, n) => `${day.slice(0, 8)}${String(n + 1).padStart(2, '0')}`);
}

/** Every day of a listed period, in order. */
export const daysFrom = ({ from, to }: Pick<UsagePeriod, 'from' | 'to'>): readonly string[] => {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return Array.from({ length: Math.max(0, Math.round((last - first) / dayMs) + 1) }, (_, n) => dayOf(first + n * dayMs));
};

/** Tool calls and cache look-ups cost nothing and are not in the ledger. */
export const isPaid = ({ calls, prompt, completion, cost }: Usage): boolean => calls + prompt + completion + cost > 0;
