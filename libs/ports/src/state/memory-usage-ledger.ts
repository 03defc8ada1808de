import { addUsage, dayOf, noUsage, type Caller, type Usage } from '@conclave/contracts';
import { daysOf, isPaid, type AccountPeriod, type PaidCall, type UsageItem, type UsageLedger, type UsagePeriod } from './usage-ledger.js';

/** Everything is kept as long as the stores. */
export class MemoryUsageLedger implements UsageLedger {
  /** Run -> attempt of a call -> its usage. */
  private readonly runs = new Map<string, Map<string, Usage>>();
  /** Tenant, actor and day -> sum. */
  private readonly accounts = new Map<string, Usage>();
  /** Tenant, actor, day, model and end user -> sum. */
  private readonly sums = new Map<string, Usage>();

  /** `callerOf` returns the caller of a run; null if unknown. */
  constructor(private readonly callerOf: (runId: string) => Caller | null) {}

  async add({ runId, step, attempt, caller = this.callerOf(runId) ?? undefined, usage, at, model }: PaidCall): Promise<void> {
    if (!isPaid(usage)) return;
    const calls = this.runs.get(runId) ?? new Map<string, Usage>();
    this.runs.set(runId, calls);
    const call = JSON.stringify([step, attempt]);
    if (calls.has(call)) return;
    calls.set(call, usage);
    if (!caller) return;
    for (const name of [[caller.tenant], [caller.tenant, caller.actor]]) {
      const key = JSON.stringify([...name, dayOf(at)]);
      this.accounts.set(key, addUsage(this.accounts.get(key) ?? noUsage, usage));
    }
    const key = JSON.stringify([caller.tenant, caller.actor, dayOf(at), model ?? null, caller.user ?? null]);
    this.sums.set(key, addUsage(this.sums.get(key) ?? noUsage, usage));
  }

  /** For tests: every counted attempt of a run. */
  callsOf(runId: string): readonly { readonly step: string; readonly attempt: number; readonly usage: Usage }[] {
    return [...(this.runs.get(runId) ?? [])].map(([call, usage]) => {
      const [step, attempt] = JSON.parse(call) as [string, number];
      return { step, attempt, usage };
    });
  }

  async ofRun(runId: string): Promise<Usage> {
    return this.runSum(runId);
  }

  async ofAccount(account: AccountPeriod): Promise<Usage> {
    return this.accountSum(account);
  }

  async items(period: UsagePeriod): Promise<readonly UsageItem[]> {
    return [...this.sums].flatMap(([key, usage]): UsageItem[] => {
      const [tenant, actor, day, model, user] = JSON.parse(key) as [string, string, string, string | null, string | null];
      const isAsked = tenant === period.tenant && (period.actor ?? actor) === actor && day >= period.from && day <= period.to;
      return isAsked ? [{ day, actor, model, user, usage }] : [];
    });
  }

  runSum(runId: string): Usage {
    return [...(this.runs.get(runId)?.values() ?? [])].reduce(addUsage, noUsage);
  }

  accountSum({ tenant, actor, user: of, ...period }: AccountPeriod): Usage {
    const days = daysOf(period);
    if (of !== undefined)
      return [...this.sums]
        .filter(([key]) => {
          const [itsTenant, itsActor, day, , user] = JSON.parse(key) as [string, string, string, string | null, string | null];
          return itsTenant === tenant && (actor ?? itsActor) === itsActor && user === of && days.includes(day);
        })
        .map(([, usage]) => usage)
        .reduce(addUsage, noUsage);
    const name = actor === undefined ? [tenant] : [tenant, actor];
    return days.map((day) => this.accounts.get(JSON.stringify([...name, day])) ?? noUsage).reduce(addUsage, noUsage);
  }
}
