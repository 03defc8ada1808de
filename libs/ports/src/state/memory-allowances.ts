import {
  amountOf,
  headroomsOf,
  learned,
  minuteSeconds,
  refusalOf,
  roomOf,
  type AccountUse,
  type Allowances,
  type Amount,
  type LimitedAccount,
  type Reservation,
  type Reserved,
  type Settlement,
} from './allowances.js';
import { isPaid, type AccountPeriod } from './usage-ledger.js';

/** A ledger that answers synchronously, so that nothing is spent between reading it and the grant. */
export interface ReadLedger {
  account(account: AccountPeriod): Amount;
  run(runId: string): Amount;
}

interface Hold {
  readonly tenant: string;
  readonly runId: string;
  readonly kind: string;
  readonly accounts: readonly string[];
  readonly estimate: Amount;
  readonly second: number;
  reply: Reserved | null;
  /** When it ends, in milliseconds since 1970; null once settled. */
  until: number | null;
  forgetAt: number;
}

/** Milliseconds for which a settled reservation is remembered. */
const keepMs = 10 * 60_000;

/**
 * Reservations in memory, for stores with one owner. The spent amounts are read from the ledger, so nothing here has to survive a restart.
 */
export class MemoryAllowances implements Allowances {
  private readonly holds = new Map<string, Hold>();
  /** Account -> second -> use. */
  private readonly minutes = new Map<string, Map<number, { requests: number; tokens: number }>>();
  private readonly kinds = new Map<string, Amount>();
  private forgetAt = 0;

  constructor(
    private readonly now: () => number,
    private readonly ledger: ReadLedger,
  ) {}

  async reserve(reservation: Reservation): Promise<Reserved> {
    const { tenant, runId, accounts, kind, guess, least, leaseMs } = reservation;
    const known = this.holds.get(nameOf(tenant, runId));
    if (known?.reply) return known.reply;
    const now = this.now();
    this.forget(now);
    const before = this.usesOf(tenant, accounts, now);
    const refusal = refusalOf(accounts, before, now);
    if (refusal) return { kind: 'refused', ...refusal, headrooms: headroomsOf(accounts, before, now) };
    const typical = this.kinds.get(nameOf(tenant, kind)) ?? guess;
    const estimate = { tokens: Math.max(least.tokens, typical.tokens), cost: Math.max(least.cost, typical.cost) };
    const names = accounts.map(({ id }) => nameOf(tenant, id));
    const second = Math.floor(now / 1000);
    for (const name of names) this.count(name, second, 1, estimate.tokens);
    const hold: Hold = {
      ...{ tenant, runId, kind: nameOf(tenant, kind), accounts: names, estimate, second },
      ...{ reply: null, until: now + leaseMs, forgetAt: now + keepMs },
    };
    this.holds.set(nameOf(tenant, runId), hold);
    const after = this.usesOf(tenant, accounts, now);
    hold.reply = { kind: 'granted', room: roomOf(accounts, after, estimate), headrooms: headroomsOf(accounts, after, now) };
    return hold.reply;
  }

  async renew({ tenant, runId, leaseMs }: Settlement & { readonly leaseMs: number }): Promise<void> {
    const hold = this.holds.get(nameOf(tenant, runId));
    if (hold && hold.until !== null) hold.until = this.now() + leaseMs;
  }

  async settle({ tenant, runId, usage }: Settlement): Promise<void> {
    const hold = this.holds.get(nameOf(tenant, runId));
    if (!hold || hold.until === null) return;
    const now = this.now();
    hold.until = null;
    hold.forgetAt = now + keepMs;
    const spent = amountOf(usage);
    if (isPaid(usage)) this.kinds.set(hold.kind, learned(this.kinds.get(hold.kind) ?? null, spent));
    const more = spent.tokens - hold.estimate.tokens;
    // Tokens beyond the reservation count from now on; unused ones are subtracted in the second in which they were reserved.
    for (const name of hold.accounts) this.count(name, more > 0 ? Math.floor(now / 1000) : hold.second, 0, more);
  }

  private count(name: string, second: number, requests: number, tokens: number): void {
    const minute = this.minutes.get(name) ?? new Map<number, { requests: number; tokens: number }>();
    this.minutes.set(name, minute);
    const use = minute.get(second) ?? { requests: 0, tokens: 0 };
    minute.set(second, { requests: use.requests + requests, tokens: Math.max(0, use.tokens + tokens) });
  }

  private usesOf(tenant: string, accounts: readonly LimitedAccount[], now: number): AccountUse[] {
    const left = new Map<Hold, Amount>();
    for (const hold of this.holds.values()) {
      if (hold.tenant !== tenant || hold.until === null || hold.until <= now) continue;
      const spent = this.ledger.run(hold.runId);
      left.set(hold, {
        tokens: Math.max(0, hold.estimate.tokens - spent.tokens),
        cost: Math.max(0, hold.estimate.cost - spent.cost),
      });
    }
    return accounts.map(({ id, actor, user }) => {
      const name = nameOf(tenant, id);
      const held = [...left].filter(([{ accounts: names }]) => names.includes(name)).map(([, amount]) => amount);
      const spent = (period: 'day' | 'month'): Amount =>
        this.ledger.account({
          tenant,
          period,
          at: now,
          ...(actor === undefined ? {} : { actor }),
          ...(user === undefined ? {} : { user }),
        });
      return {
        minute: this.minuteOf(name, now),
        held: {
          runs: held.length,
          tokens: held.reduce((sum, { tokens }) => sum + tokens, 0),
          cost: held.reduce((sum, { cost }) => sum + cost, 0),
        },
        day: spent('day'),
        month: spent('month'),
      };
    });
  }

  private minuteOf(name: string, now: number): AccountUse['minute'] {
    const minute = this.minutes.get(name);
    if (!minute) return [];
    const first = Math.floor(now / 1000) - minuteSeconds + 1;
    for (const second of minute.keys()) if (second < first) minute.delete(second);
    return [...minute].map(([second, use]) => ({ second, ...use })).sort((a, b) => a.second - b.second);
  }

  /** Once a minute, drops what no longer counts. */
  private forget(now: number): void {
    if (now < this.forgetAt) return;
    this.forgetAt = now + 60_000;
    for (const [name, { until, forgetAt }] of this.holds) if ((until ?? now) <= now && forgetAt <= now) this.holds.delete(name);
    for (const name of this.minutes.keys()) if (this.minuteOf(name, now).length === 0) this.minutes.delete(name);
  }
}

const nameOf = (tenant: string, name: string): string => JSON.stringify([tenant, name]);
