import { noUsage, type Usage } from '@conclave/contracts';
import { dayOf, daysOf, isPaid, type AccountPeriod, type PaidCall, type UsageLedger } from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { Statements } from '../database/tick-writer.js';
import { storedName } from './stored-name.js';

interface SumRow extends Omit<Usage, 'estimated'> {
  readonly estimated: number;
}

const amounts = 'calls, prompt, completion, reasoning, cost, estimated';
const sums =
  'SUM(calls) AS calls, SUM(prompt) AS prompt, SUM(completion) AS completion, SUM(reasoning) AS reasoning, SUM(cost) AS cost, MAX(estimated) AS estimated';

/** A row per attempt of a call, and a sum per tenant, key and day. */
export class SqliteUsageLedger implements UsageLedger {
  constructor(private readonly database: Store) {}

  async add(call: PaidCall): Promise<void> {
    if (isPaid(call.usage)) await this.database.write(({ sql }) => addPaid(sql, call));
  }

  async ofRun(runId: string): Promise<Usage> {
    return usageOf(this.database.read((sql) => sql.get<SumRow>(`SELECT ${sums} FROM usage_call WHERE run_id = ? GROUP BY run_id`, runId)));
  }

  async ofAccount({ tenant, actor, ...period }: AccountPeriod): Promise<Usage> {
    const days = daysOf(period);
    const [of, from, to] = [storedName(tenant), days[0]!, days.at(-1)!];
    const where = 'tenant = ? AND day BETWEEN ? AND ?';
    const row = this.database.read((sql) =>
      actor === undefined
        ? sql.get<SumRow>(`SELECT ${sums} FROM usage_account WHERE ${where} GROUP BY tenant`, of, from, to)
        : sql.get<SumRow>(
            `SELECT ${sums} FROM usage_account WHERE ${where} AND actor = ? GROUP BY tenant`,
            of,
            from,
            to,
            storedName(actor),
          ),
    );
    return usageOf(row);
  }
}

/** Part of a write: the call and the sums of its account, once for each attempt. */
export function addPaid(sql: Statements, { runId, step, attempt, caller, usage, at }: PaidCall): void {
  if (!isPaid(usage)) return;
  const used = [usage.calls, usage.prompt, usage.completion, usage.reasoning, usage.cost, usage.estimated ? 1 : 0] as const;
  const added = sql.run(
    `INSERT INTO usage_call (run_id, step, attempt, at, ${amounts}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    runId,
    step,
    attempt,
    at,
    ...used,
  );
  if (added === 0) return;
  const charged =
    caller ?? sql.get<{ tenant: string; actor: string }>('SELECT tenant, actor FROM run WHERE run_id = ? AND header IS NOT NULL', runId);
  if (charged)
    sql.run(
      `INSERT INTO usage_account (tenant, actor, day, ${amounts}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, prompt = prompt + excluded.prompt, completion = completion + excluded.completion,
         reasoning = reasoning + excluded.reasoning, cost = cost + excluded.cost, estimated = max(estimated, excluded.estimated)`,
      storedName(charged.tenant),
      storedName(charged.actor),
      dayOf(at),
      ...used,
    );
}

function usageOf(row: SumRow | undefined): Usage {
  if (!row) return noUsage;
  const { calls, prompt, completion, reasoning, cost, estimated } = row;
  return { calls, prompt, completion, reasoning, cost, estimated: estimated === 1 };
}
