import { dayOf, addUsage, noUsage, type Caller, type Usage } from '@conclave/contracts';
import {
  accountMs,
  daysFrom,
  daysOf,
  isPaid,
  type AccountPeriod,
  type Paid,
  type PaidCall,
  type StoreTtl,
  type UsageItem,
  type UsageLedger,
  type UsagePeriod,
} from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Bucket, Keys } from './keys.js';
import { inPairs, type Script } from './scripts/script.js';
import { addUsage as addScript, readAccounts, readItems, readUsage, type AccountReply } from './scripts/usage.js';

/** Each call is a field in a hash of its run; each account has one hash per day. */
export class RedisUsageLedger implements UsageLedger {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
  ) {}

  async add(call: PaidCall): Promise<void> {
    if (isPaid(call.usage)) await this.connection.run(...adding(this.keys, this.ttl, call));
  }

  async ofRun(runId: string): Promise<Usage> {
    const { at, usage } = this.keys.of(runId);
    const calls = await this.connection.run(at, readUsage, [usage], []);
    return calls.map((usage) => JSON.parse(usage) as Usage).reduce(addUsage, noUsage);
  }

  async ofAccount({ tenant, actor, user, ...period }: AccountPeriod): Promise<Usage> {
    // End users have no stored totals of their own: there are many, and their spending is read only when one returns after a long time.
    if (user !== undefined) {
      const days = daysOf(period);
      const items = await this.items({ tenant, from: days[0]!, to: days.at(-1)!, ...(actor === undefined ? {} : { actor }) });
      return items
        .filter((item) => item.user === user)
        .map(({ usage }) => usage)
        .reduce(addUsage, noUsage);
    }
    const name = accountName(actor === undefined ? [tenant] : [tenant, actor]);
    const days = daysOf(period);
    // Each bucket holds the charges of its own runs, so that a call and its charge are one write.
    const found = await this.connection.everywhere(readAccounts, (at) => days.map((day) => this.keys.account(at, name, day)), []);
    return found.flat().map(usageOf).reduce(addUsage, noUsage);
  }

  async items({ tenant, actor, from, to }: UsagePeriod): Promise<readonly UsageItem[]> {
    const days = daysFrom({ from, to });
    const name = accountName([tenant]);
    const found = await this.connection.everywhere(readItems, (at) => days.map((day) => this.keys.usageItems(at, name, day)), []);
    const sums = new Map<string, Record<string, number>>();
    for (const bucket of found)
      for (const [n, flat] of bucket.entries())
        for (const [field, value] of inPairs(flat)) {
          const colon = field.indexOf(':');
          const key = `${days[n]!} ${field.slice(colon + 1)}`;
          const sum = sums.get(key) ?? {};
          sums.set(key, { ...sum, [field.slice(0, colon)]: (sum[field.slice(0, colon)] ?? 0) + Number(value) });
        }
    return [...sums]
      .map(([key, sum]) => itemOf(key.slice(0, 10), key.slice(11), sum))
      .filter((item) => actor === undefined || item.actor === actor);
  }
}

/** `names`: JSON of the caller's account, the model and the end user, each in its stored form. */
function itemOf(day: string, names: string, sum: Readonly<Record<string, number>>): UsageItem {
  const [caller, model, user] = (JSON.parse(names) as [string, string, string]).map((name) =>
    name === '' ? [] : (JSON.parse(name) as string[]),
  );
  const { calls = 0, prompt = 0, completion = 0, reasoning = 0, cost = 0, estimated = 0 } = sum;
  const usage = { calls, prompt, completion, reasoning, cost, estimated: estimated > 0 };
  return { day, actor: caller![1]!, model: model![0] ?? null, user: user![0] ?? null, usage };
}

const accountName = (names: readonly string[]): string => JSON.stringify(names);

/** The accounts that a caller's calls are charged to, as stored with a run: the tenant's, the caller's own, and the end user's if known. */
export const accountsOf = ({ tenant, actor, user }: Caller): string =>
  JSON.stringify([accountName([tenant]), accountName([tenant, actor]), ...(user === undefined ? [] : [accountName([user])])]);

/** The script that adds a call, with its bucket, keys and parameters. */
export function adding(
  keys: Keys,
  ttl: StoreTtl,
  call: PaidCall,
): readonly [Bucket, Script<number>, readonly string[], readonly (string | number)[]] {
  const { at, run, usage } = keys.of(call.runId);
  return [at, addScript, [run, usage], [at.beforeAccount, paidText(call, call, call.caller), ttl.retentionMs, accountMs]];
}

/** The call in the form that scripts read; '' if nothing was paid. */
export function paidText(call: { readonly step: string; readonly attempt: number }, paid: Paid | undefined, caller?: Caller): string {
  if (!paid || !isPaid(paid.usage)) return '';
  const { usage, at } = paid;
  return JSON.stringify({
    call: `${call.attempt}:${call.step}`,
    usage: JSON.stringify(usage),
    day: dayOf(at),
    ...(paid.model === undefined ? {} : { model: accountName([paid.model]) }),
    ...(caller ? { accounts: accountsOf(caller) } : {}),
    amounts: [usage.calls, usage.prompt, usage.completion, usage.reasoning].map(String),
    cost: String(usage.cost),
    estimated: usage.estimated ? '1' : '0',
  });
}

const usageOf = ([calls, prompt, completion, reasoning, cost, estimated]: AccountReply): Usage => ({
  calls: Number(calls ?? 0),
  prompt: Number(prompt ?? 0),
  completion: Number(completion ?? 0),
  reasoning: Number(reasoning ?? 0),
  cost: Number(cost ?? 0),
  estimated: estimated === '1',
});
