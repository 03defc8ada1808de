import type { KeyLimits, Usage } from '@conclave/contracts';
import { daysOf } from './usage-ledger.js';

/** An API key, or all keys of a tenant together, with its limits. */
export interface LimitedAccount {
  /** Unique in its tenant, and the same for as long as the key or the tenant exists. */
  readonly id: string;
  /** The actor whose usage in the ledger counts; absent: the whole tenant. */
  readonly actor?: string;
  /** The one end user of the actor whose usage counts; absent: all of them. */
  readonly user?: string;
  readonly limits: KeyLimits;
}

/** Tokens and cost, reserved or spent. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

/** Amounts that a request for work reserves before it begins. */
export interface Reservation {
  readonly tenant: string;
  /** The run, or the id of a call that a gateway makes directly. Reserving it again returns the first answer. */
  readonly runId: string;
  readonly accounts: readonly LimitedAccount[];
  /** The kind of work, such as a template or a model: the amount to reserve is learned from earlier work of this kind. */
  readonly kind: string;
  /** Amount to reserve for a kind of work that was not seen before. */
  readonly guess: Amount;
  /** Minimum amount to reserve. */
  readonly least: Amount;
  /** Milliseconds until the reservation ends unless it is renewed. */
  readonly leaseMs: number;
}

/** Usage of an account in the last minute, and the reserved and spent parts of its budgets. */
export interface AccountUse {
  /** Requests and tokens by second, oldest first; only seconds that still count. */
  readonly minute: readonly { readonly second: number; readonly requests: number; readonly tokens: number }[];
  readonly held: Amount & { readonly runs: number };
  readonly day: Amount;
  readonly month: Amount;
}

export interface LimitRefusal {
  /** Id of the account that is at its limit. */
  readonly account: string;
  readonly limit: keyof KeyLimits;
  /** Whether the budget is spent, and not only reserved by work that has not ended. */
  readonly spent: boolean;
  /** Milliseconds until the request can be granted; null if that depends on other work. */
  readonly retryAfterMs: number | null;
}

/** State of the tightest limit of requests or of tokens, for clients. */
export interface Headroom {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole limit is available again. */
  readonly resetMs: number;
}
export interface Headrooms {
  readonly requests: Headroom | null;
  /** Per minute; if only budgets of tokens are set, the tightest of these. */
  readonly tokens: Headroom | null;
}

export type Reserved =
  | {
      readonly kind: 'granted';
      /** The rest of the budgets, including this reservation; null without a limit. Never below the reservation. */
      readonly room: { readonly tokens: number | null; readonly cost: number | null };
      readonly headrooms: Headrooms;
    }
  | ({ readonly kind: 'refused'; readonly headrooms: Headrooms } & LimitRefusal);

/**
 * Limits of accounts over all gateways. A request is granted if each limit has something left. So spending never exceeds a budget by more
 * than one reservation, provided that work stays within its reservation. Work that spends more counts with its actual usage.
 */
export interface Allowances {
  /** Grants or refuses over all accounts at once. A refusal changes nothing. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /** Keeps a reservation for another `leaseMs` and charges the total that its work has spent so far. */
  renew(spent: Settlement & { readonly leaseMs: number }): Promise<void>;
  /**
   * Ends a reservation and charges the total that its work has spent. Idempotent; a later call with more charges the difference. Usage of a
   * reservation that was not renewed is charged from the ledger when its accounts are next used.
   */
  settle(spent: Settlement): Promise<void>;
}
export interface Settlement {
  readonly tenant: string;
  readonly runId: string;
  readonly usage: Usage;
}

/** Number of seconds in which a request counts towards its minute, including the second it arrived in. */
export const minuteSeconds = 61;

/** Tokens and cost of a usage. */
export const amountOf = ({ prompt, completion, cost }: Usage): Amount => ({ tokens: prompt + completion, cost });

/**
 * The next amount to reserve for a kind, from the amount so far and what was spent now: it rises at once, so that reservations cover what
 * is spent, and falls slowly.
 */
export const learned = (before: Amount | null, spent: Amount): Amount => ({
  tokens: Math.max(spent.tokens, Math.ceil(0.9 * (before?.tokens ?? 0) + 0.1 * spent.tokens)),
  cost: Math.max(spent.cost, 0.9 * (before?.cost ?? 0) + 0.1 * spent.cost),
});

interface Window {
  readonly limit: keyof KeyLimits;
  readonly most: number;
  readonly of: 'requests' | 'tokens';
}
interface Budget {
  readonly limit: keyof KeyLimits;
  readonly most: number;
  readonly of: keyof Amount;
  readonly period: 'day' | 'month';
}

const set = <T extends { readonly most: number | null }>(rows: readonly T[]): (T & { readonly most: number })[] =>
  rows.filter((row): row is T & { readonly most: number } => row.most !== null);

const windowsOf = ({ requests_per_minute, tokens_per_minute }: KeyLimits): readonly Window[] =>
  set([
    { limit: 'requests_per_minute', most: requests_per_minute, of: 'requests' },
    { limit: 'tokens_per_minute', most: tokens_per_minute, of: 'tokens' },
  ] as const);

const budgetsOf = (limits: KeyLimits): readonly Budget[] =>
  set([
    { limit: 'tokens_per_day', most: limits.tokens_per_day, of: 'tokens', period: 'day' },
    { limit: 'tokens_per_month', most: limits.tokens_per_month, of: 'tokens', period: 'month' },
    { limit: 'cost_per_day', most: limits.cost_per_day, of: 'cost', period: 'day' },
    { limit: 'cost_per_month', most: limits.cost_per_month, of: 'cost', period: 'month' },
  ] as const);

export const hasBudget = (limits: KeyLimits): boolean => budgetsOf(limits).length > 0;

/** Whether any of the limits is set. */
export const isLimited = (limits: KeyLimits): boolean => Object.values(limits).some((most) => most !== null);

const sumOf = ({ minute }: AccountUse, of: 'requests' | 'tokens'): number => minute.reduce((sum, second) => sum + second[of], 0);

const leavesAt = (second: number): number => (second + minuteSeconds) * 1000;

/** The limit that refuses a request for the longest time; null if each has something left. */
export function refusalOf(accounts: readonly LimitedAccount[], uses: readonly AccountUse[], now: number): LimitRefusal | null {
  const found = accounts.flatMap(({ id, limits }, n) => refusals(limits, uses[n]!, now).map((refusal) => ({ account: id, ...refusal })));
  const patience = ({ spent, retryAfterMs }: LimitRefusal): number => (spent ? Number.POSITIVE_INFINITY : (retryAfterMs ?? 0));
  return found.reduce<LimitRefusal | null>((longest, one) => (longest && patience(longest) >= patience(one) ? longest : one), null);
}

function refusals(limits: KeyLimits, use: AccountUse, now: number): Omit<LimitRefusal, 'account'>[] {
  const full: Omit<LimitRefusal, 'account'>[] = [];
  if (limits.concurrent_runs !== null && use.held.runs >= limits.concurrent_runs)
    full.push({ limit: 'concurrent_runs', spent: false, retryAfterMs: null });
  for (const { limit, most, of } of windowsOf(limits)) {
    let left = sumOf(use, of);
    if (left < most) continue;
    const until = use.minute.find((second) => (left -= second[of]) < most) ?? use.minute.at(-1)!;
    full.push({ limit, spent: false, retryAfterMs: Math.max(1, leavesAt(until.second) - now) });
  }
  for (const { limit, most, of, period } of budgetsOf(limits)) {
    const spent = use[period][of] >= most;
    if (spent) full.push({ limit, spent, retryAfterMs: endOf(period, now) - now });
    else if (use[period][of] + use.held[of] >= most) full.push({ limit, spent, retryAfterMs: null });
  }
  return full;
}

/** The rest of the budgets after a grant that reserves `held`, including this reservation. */
export function roomOf(
  accounts: readonly LimitedAccount[],
  uses: readonly AccountUse[],
  held: Amount,
): { readonly tokens: number | null; readonly cost: number | null } {
  const room = (of: keyof Amount): number | null => {
    const left = accounts.flatMap(({ limits }, n) =>
      budgetsOf(limits)
        .filter((budget) => budget.of === of)
        .map(({ most, period }) => most - uses[n]![period][of] - uses[n]!.held[of] + held[of]),
    );
    return left.length === 0 ? null : Math.max(held[of], Math.min(...left));
  };
  return { tokens: room('tokens'), cost: room('cost') };
}

/** The tightest limits of requests and of tokens at present. */
export function headroomsOf(accounts: readonly LimitedAccount[], uses: readonly AccountUse[], now: number): Headrooms {
  const windows = (of: 'requests' | 'tokens'): Headroom[] =>
    accounts.flatMap(({ limits }, n) =>
      windowsOf(limits)
        .filter((window) => window.of === of)
        .map(({ most }) => {
          const newest = uses[n]!.minute.filter((second) => second[of] > 0).at(-1);
          return headroom(most, sumOf(uses[n]!, of), newest ? leavesAt(newest.second) - now : 0);
        }),
    );
  const budgets = (): Headroom[] =>
    accounts.flatMap(({ limits }, n) =>
      budgetsOf(limits)
        .filter(({ of }) => of === 'tokens')
        .map(({ most, period }) => headroom(most, uses[n]![period].tokens + uses[n]!.held.tokens, endOf(period, now) - now)),
    );
  return { requests: tightest(windows('requests')), tokens: tightest(windows('tokens')) ?? tightest(budgets()) };
}

const headroom = (limit: number, used: number, resetMs: number): Headroom => ({
  ...{ limit, remaining: Math.max(0, limit - used), resetMs: Math.max(0, resetMs) },
});

const tightest = (rooms: readonly Headroom[]): Headroom | null =>
  rooms.reduce<Headroom | null>((least, room) => (least && least.remaining <= room.remaining ? least : room), null);

/** When the day or month (UTC) of a moment ends, in milliseconds since 1970. */
const endOf = (period: 'day' | 'month', at: number): number => Date.parse(daysOf({ period, at }).at(-1)!) + 24 * 60 * 60 * 1000;
