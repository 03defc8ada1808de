import { dayOf, type KeyLimits } from '@conclave/contracts';
import {
  amountOf,
  hasBudget,
  headroomsOf,
  isPaid,
  refusalOf,
  roomOf,
  type AccountUse,
  type Allowances,
  type Amount,
  type LimitedAccount,
  type Reservation,
  type Reserved,
  type Settlement,
  type UsageLedger,
} from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { renewAllowance, reserveAllowance, settleAllowance, type ReserveReply, type UseReply } from './scripts/allowances.js';

/** Milliseconds after the last grant of an account after which its spending is read from the ledger again. */
const seedMs = 10 * 60_000;
/** Milliseconds for which work is remembered after its reservation or last renewal. */
const knownMs = 24 * 60 * 60_000;
/** Billionths of a currency unit, the unit in which cost is counted. */
const fine = 1_000_000_000;

/** The spending of an account, as [tokens, cost]. */
interface Seed {
  readonly day: readonly [number, number];
  readonly month: readonly [number, number];
}

/** Reservations of a tenant are in its bucket, so that its account and those of its keys are read in one script. */
export class RedisAllowances implements Allowances {
  /** Reads in progress by account: requests that arrive together share one read. */
  private readonly seeding = new Map<string, Promise<Seed>>();

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ledger: UsageLedger,
  ) {}

  async reserve(reservation: Reservation): Promise<Reserved> {
    const seeds = new Map<number, Seed>();
    for (;;) {
      const reply = await this.ask(reservation, seeds);
      if (reply[0] !== 'unknown') {
        await this.chargeLost(reservation.tenant, reply[4]);
        return answerOf(reservation, reply);
      }
      const [, now, ...unknown] = reply;
      await Promise.all(unknown.map(async (n) => seeds.set(n, await this.seedOnce(reservation.tenant, reservation.accounts[n]!, now))));
    }
  }

  async renew({ tenant, runId, usage, leaseMs }: Settlement & { readonly leaseMs: number }): Promise<void> {
    const { at, key } = this.keys.allowances(tenant);
    await this.connection.run(at, renewAllowance, [], [key, runId, ...pairOf(amountOf(usage)), leaseMs, knownMs]);
  }

  async settle({ tenant, runId, usage }: Settlement): Promise<void> {
    const { at, key } = this.keys.allowances(tenant);
    await this.connection.run(at, settleAllowance, [], [key, runId, ...pairOf(amountOf(usage)), isPaid(usage) ? 1 : 0, 1]);
  }

  private ask(
    { tenant, runId, kind, leaseMs, accounts, guess, least }: Reservation,
    seeds: ReadonlyMap<number, Seed>,
  ): Promise<ReserveReply> {
    const { at, key } = this.keys.allowances(tenant);
    const asked = {
      accounts: accounts.map(({ id, limits }, n) => {
        const seed = seeds.get(n);
        return { id: stored(id), limits: setLimits(limits), budget: hasBudget(limits), ...(seed ? { seed } : {}) };
      }),
      guess: pairOf(guess),
      least: pairOf(least),
    };
    return this.connection.run(at, reserveAllowance, [], [key, runId, stored(kind), leaseMs, knownMs, seedMs, JSON.stringify(asked)]);
  }

  private seedOnce(tenant: string, account: LimitedAccount, at: number): Promise<Seed> {
    const key = JSON.stringify([tenant, account.actor, account.user, dayOf(at)]);
    const known = this.seeding.get(key);
    if (known) return known;
    const seed = this.seed(tenant, account, at).finally(() => this.seeding.delete(key));
    this.seeding.set(key, seed);
    return seed;
  }

  private async seed(tenant: string, { actor, user }: LimitedAccount, at: number): Promise<Seed> {
    const account = { tenant, at, ...(actor === undefined ? {} : { actor }), ...(user === undefined ? {} : { user }) };
    const [day, month] = await Promise.all([
      this.ledger.ofAccount({ ...account, period: 'day' }),
      this.ledger.ofAccount({ ...account, period: 'month' }),
    ]);
    return { day: pairOf(amountOf(day)), month: pairOf(amountOf(month)) };
  }

  /** Work that a dead gateway has left may still be running: it is charged from the ledger. A failed charge is tried again a minute later. */
  private async chargeLost(tenant: string, lost: readonly string[]): Promise<void> {
    const { at, key } = this.keys.allowances(tenant);
    await Promise.allSettled(
      lost.map(async (runId) => {
        const spent = amountOf(await this.ledger.ofRun(runId));
        await this.connection.run(at, settleAllowance, [], [key, runId, ...pairOf(spent), 0, 0]);
      }),
    );
  }
}

/** Names as JSON: UTF-8 would replace lone surrogates. */
const stored = (name: string): string => JSON.stringify(name);

const pairOf = ({ tokens, cost }: Amount): [number, number] => [Math.round(tokens), Math.round(cost * fine)];

/** The limits that are set, in the units of the counters. */
const setLimits = (limits: KeyLimits): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, most]) =>
      most === null ? [] : [[name, name.startsWith('cost') ? Math.round(most * fine) : most]],
    ),
  );

function answerOf({ accounts }: Reservation, [kind, now, estimate, replies]: Exclude<ReserveReply, ['unknown', ...unknown[]]>): Reserved {
  const uses = replies.map(useOf);
  const headrooms = headroomsOf(accounts, uses, now);
  if (kind === 'granted') return { kind, room: roomOf(accounts, uses, amount(estimate)), headrooms };
  const refusal = refusalOf(accounts, uses, now);
  // The two results can differ only by rounding; then the next request is granted.
  return { kind, ...(refusal ?? { account: accounts[0]!.id, limit: 'cost_per_day', spent: false, retryAfterMs: null }), headrooms };
}

const useOf = ([seconds, [runs, tokens, cost], day, month]: UseReply): AccountUse => ({
  minute: seconds
    .map((text) => text.split(' ').map(Number) as [number, number, number])
    .map(([second, requests, tokens]) => ({ second, requests, tokens }))
    .sort((a, b) => a.second - b.second),
  held: { runs: Number(runs ?? 0), ...amount([tokens, cost]) },
  day: amount(day),
  month: amount(month),
});

const amount = ([tokens, cost]: readonly [string | null, string | null]): Amount => ({
  tokens: Number(tokens ?? 0),
  cost: Number(cost ?? 0) / fine,
});
