import { dayOf, type Caller, noUsage, type Usage } from '@conclave/contracts';
import {
  amountOf,
  daysOf,
  isPaid,
  type AccountPeriod,
  type PaidCall,
  type ReadLedger,
  type UsageItem,
  type UsageLedger,
  type UsagePeriod,
} from '@conclave/ports';
import type { Statements, Store, Tick } from '../database/database.js';
import { Kept } from '../kept.js';
import { nameFrom, storedName } from './stored-name.js';

interface SumRow extends Omit<Usage, 'estimated'> {
  readonly estimated: number;
}

const amounts = 'calls, prompt, completion, reasoning, cost, estimated';
const sums =
  'SUM(calls) AS calls, SUM(prompt) AS prompt, SUM(completion) AS completion, SUM(reasoning) AS reasoning, SUM(cost) AS cost, MAX(estimated) AS estimated';

/** One row per attempt of a call, and a sum per tenant, key and day. */
export class SqliteUsageLedger implements UsageLedger {
  constructor(private readonly database: Store) {}

  async add(call: PaidCall): Promise<void> {
    if (isPaid(call.usage)) await this.database.write(({ sql }) => addPaid(sql, call));
  }

  async ofRun(runId: string): Promise<Usage> {
    return runSum(this.database, runId);
  }

  async ofAccount(account: AccountPeriod): Promise<Usage> {
    await this.database.committed();
    return accountSum(this.database, account);
  }

  async items({ tenant, actor, from, to }: UsagePeriod): Promise<readonly UsageItem[]> {
    await this.database.committed();
    const rows = this.database.read((sql) =>
      sql.all<SumRow & { day: string; actor: string; model: string; end_user: string }>(
        `SELECT * FROM usage_account WHERE tenant = ? AND day BETWEEN ? AND ?`,
        ...[storedName(tenant), from, to],
      ),
    );
    const nameOr = (stored: string): string | null => (stored === '' ? null : nameFrom(stored));
    return rows
      .filter((row) => actor === undefined || row.actor === storedName(actor))
      .map((row) => ({
        ...{ day: row.day, actor: nameFrom(row.actor), model: nameOr(row.model), user: nameOr(row.end_user), usage: usageOf(row) },
      }));
  }
}

const runSum = (database: Store, runId: string): Usage =>
  usageOf(database.read((sql) => sql.get<SumRow>(`SELECT ${sums} FROM usage_call WHERE run_id = ? GROUP BY run_id`, runId)));

function accountSum(database: Store, { tenant, actor, user, ...period }: AccountPeriod): Usage {
  const days = daysOf(period);
  const [of, from, to] = [storedName(tenant), days[0]!, days.at(-1)!];
  const where = 'tenant = ? AND day BETWEEN ? AND ?';
  const ofActor = actor === undefined ? [] : [storedName(actor)];
  const ofUser = user === undefined ? [] : [storedName(user)];
  const narrower = `${ofActor.length > 0 ? ' AND actor = ?' : ''}${ofUser.length > 0 ? ' AND end_user = ?' : ''}`;
  const row = database.read((sql) =>
    sql.get<SumRow>(
      `SELECT ${sums} FROM usage_account WHERE ${where}${narrower} GROUP BY tenant`,
      ...[of, from, to, ...ofActor, ...ofUser],
    ),
  );
  return usageOf(row);
}

/** Which calls of which account are summed. */
interface Account extends Caller {
  readonly model?: string | undefined;
}

/** Maximum number of runs whose account stays in memory. */
const mostKept = 512;

/** Adds calls to the ledger as part of ordered writes: each row at once, the sums of the accounts once per tick. */
export class Accounts {
  private readonly callers = new Kept<Caller>(mostKept);
  private owed: { readonly account: Account; readonly day: string; readonly used: Used }[] = [];

  constructor(private readonly database: Store) {}

  add({ sql, afterWrite }: Tick, call: PaidCall): void {
    if (!isPaid(call.usage)) return;
    const used = usedBy(call.usage);
    if (!addCall(sql, call, used)) return;
    const caller = call.caller ?? this.callers.get(call.runId) ?? callerOf(sql, call.runId);
    if (!caller) return;
    afterWrite(() => {
      this.callers.set(call.runId, caller);
      this.owed.push({ account: { ...caller, model: call.model }, day: dayOf(call.at), used });
      this.database.beforeCommit(this, (statements) => this.write(statements));
    });
  }

  /** Every call that was added, whether its account is charged in the file yet or not. */
  readonly ledger: ReadLedger = {
    run: (runId) => amountOf(runSum(this.database, runId)),
    account: (account) => {
      const days = daysOf(account);
      return this.owed
        .filter(
          ({ account: { tenant, actor, user }, day }) =>
            tenant === account.tenant &&
            (account.actor ?? actor) === actor &&
            (account.user === undefined || account.user === user) &&
            days.includes(day),
        )
        .map(({ used: [, prompt, completion, , cost] }) => ({ tokens: prompt + completion, cost }))
        .reduce(
          (sum, one) => ({ tokens: sum.tokens + one.tokens, cost: sum.cost + one.cost }),
          amountOf(accountSum(this.database, account)),
        );
    },
  };

  private write(sql: Statements): void {
    while (this.owed.length > 0) {
      const { account, day } = this.owed[0]!;
      const isSame = (one: (typeof this.owed)[number]): boolean =>
        one.day === day && (['tenant', 'actor', 'model', 'user'] as const).every((name) => one.account[name] === account[name]);
      charge(
        sql,
        account,
        day,
        this.owed
          .filter(isSame)
          .map(({ used }) => used)
          .reduce(together),
      );
      // Not charged again when a later statement finds the disk full.
      this.owed = this.owed.filter((one) => !isSame(one));
    }
  }
}

type Used = readonly [calls: number, prompt: number, completion: number, reasoning: number, cost: number, estimated: number];

const usedBy = (usage: Usage): Used => [usage.calls, usage.prompt, usage.completion, usage.reasoning, usage.cost, usage.estimated ? 1 : 0];

const together = (sum: Used, used: Used): Used => [
  sum[0] + used[0],
  sum[1] + used[1],
  sum[2] + used[2],
  sum[3] + used[3],
  sum[4] + used[4],
  Math.max(sum[5], used[5]),
];

/** Adds a call and charges its account, once per attempt; for writes that do not use `Accounts`. */
export function addPaid(sql: Statements, call: PaidCall): void {
  if (!isPaid(call.usage)) return;
  const used = usedBy(call.usage);
  if (!addCall(sql, call, used)) return;
  const charged = call.caller ?? callerOf(sql, call.runId);
  if (charged) charge(sql, { ...charged, model: call.model }, dayOf(call.at), used);
}

/** Returns whether the attempt was new. */
const addCall = (sql: Statements, { runId, step, attempt, at }: PaidCall, used: Used): boolean =>
  sql.run(
    `INSERT INTO usage_call (run_id, step, attempt, at, ${amounts}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    runId,
    step,
    attempt,
    at,
    ...used,
  ) > 0;

function callerOf(sql: Statements, runId: string): Caller | undefined {
  const found = sql.get<{ tenant: string; actor: string; user: string | null }>(
    `SELECT tenant, actor, json_extract(header, '$.data.caller.user') AS user FROM run WHERE run_id = ? AND header IS NOT NULL`,
    runId,
  );
  return found && { tenant: found.tenant, actor: found.actor, ...(found.user === null ? {} : { user: found.user }) };
}

const charge = (sql: Statements, { tenant, actor, model, user }: Account, day: string, used: Used): void =>
  void sql.run(
    `INSERT INTO usage_account (tenant, actor, day, model, end_user, ${amounts}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, prompt = prompt + excluded.prompt, completion = completion + excluded.completion,
       reasoning = reasoning + excluded.reasoning, cost = cost + excluded.cost, estimated = max(estimated, excluded.estimated)`,
    storedName(tenant),
    storedName(actor),
    day,
    ...[model, user].map((name) => (name === undefined ? '' : storedName(name))),
    ...used,
  );

function usageOf(row: SumRow | undefined): Usage {
  if (!row) return noUsage;
  const { calls, prompt, completion, reasoning, cost, estimated } = row;
  return { calls, prompt, completion, reasoning, cost, estimated: estimated === 1 };
}
