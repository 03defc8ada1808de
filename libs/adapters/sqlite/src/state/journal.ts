import type { BeginResult, CallOutcome, Journal, JournalCall, MemoryLeases, Paid, RecordedCall } from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { ErasedRuns } from '../event-log/erased-runs.js';
import type { JournalOutcomes } from './journal-outcomes.js';
import type { JournalSteps } from './journal-steps.js';
import { baseStep } from './recovery.js';
import type { Accounts } from './usage-ledger.js';

/** Longest wait suggested to a caller while another process works on the step, which may finish at any moment. */
const longestBusyMs = 1000;

/** One row per step: its newest attempt. */
export class SqliteJournal implements Journal {
  constructor(
    private readonly database: Store,
    private readonly steps: JournalSteps,
    private readonly outcomes: JournalOutcomes,
    private readonly accounts: Accounts,
    private readonly leases: MemoryLeases,
    private readonly erased: ErasedRuns,
    private readonly now: () => number,
  ) {}

  /** Resolves `begun` only when everything that led to the call is durable. */
  async begin(call: {
    readonly runId: string;
    readonly step: string;
    readonly nonce: string;
    readonly owner: string;
  }): Promise<BeginResult> {
    const begun = await this.ordered(call);
    if (begun.kind === 'finished') return { kind: 'done', outcome: await this.outcomes.of(call), attempt: begun.attempt };
    if (begun.kind === 'begun') await this.database.durable();
    return begun;
  }

  private ordered(
    call: Parameters<Journal['begin']>[0],
  ): Promise<Exclude<BeginResult, { kind: 'done' }> | { readonly kind: 'finished'; readonly attempt: number }> {
    const { opening } = this.database;
    return this.database.order((tick) => {
      if (this.erased.has(call.runId)) return { kind: 'published' };
      const steps = this.steps.of(call.runId);
      const row = steps.get(call.step);
      if (row?.done) return { kind: 'finished', attempt: row.attempt };
      if (row && row.owner === call.owner && row.nonce === call.nonce)
        return { kind: 'begun', attempt: row.attempt, repeated: row.repeated };
      // An owner from an earlier opening of the file is dead, even with the same id.
      const leftMs = row?.owner && row.opening === opening ? this.leases.leftMs(row.owner) : 0;
      if (leftMs > 0) return { kind: 'busy', retryInMs: Math.min(leftMs, longestBusyMs) };
      const attempt = Math.max(row?.attempt ?? 0, steps.get(baseStep)?.attempt ?? 0) + 1;
      const repeated = row !== undefined && row.owner !== null;
      const { owner, nonce } = call;
      const begun = { attempt, owner, opening, nonce, repeated, done: false };
      this.steps.change(tick, call, begun, { at: this.now(), outcome: () => null });
      return { kind: 'begun', attempt, repeated };
    });
  }

  finish(call: JournalCall, outcome: CallOutcome, paid?: Paid, recorded?: RecordedCall): Promise<'stored' | 'refused'> {
    return this.database.order((tick) => {
      if (paid) this.accounts.add(tick, { ...call, ...paid });
      if (this.erased.has(call.runId)) return 'stored';
      const steps = this.steps.of(call.runId);
      const row = steps.get(call.step);
      if (row?.attempt !== call.attempt) return 'refused';
      if (row.done) return 'stored';
      const stored = this.outcomes.hold(tick, call, outcome, recorded);
      this.steps.change(tick, call, { ...row, done: true }, { at: this.now(), outcome: stored });
      return 'stored';
    });
  }

  abandon(call: JournalCall, paid?: Paid, unsent?: string): Promise<void> {
    return this.database.order((tick) => {
      if (paid) this.accounts.add(tick, { ...call, ...paid });
      const steps = this.steps.of(call.runId);
      const row = steps.get(call.step);
      if (row?.attempt !== call.attempt || row.done || (unsent !== undefined && row.nonce !== unsent)) return;
      const attempt = unsent === undefined ? row.attempt : row.attempt - 1;
      this.steps.change(tick, call, { ...row, attempt, owner: null, nonce: '' }, { at: this.now(), outcome: () => null });
    });
  }

  noteRepeat({ purpose }: Parameters<Journal['noteRepeat']>[0]): Promise<void> {
    return this.database.order(({ sql }) => {
      sql.run('INSERT INTO repeated_call (purpose, calls) VALUES (?, 1) ON CONFLICT DO UPDATE SET calls = calls + 1', purpose);
    });
  }

  async repeats(): Promise<Readonly<Record<string, number>>> {
    const rows = this.database.read((sql) => sql.all<{ purpose: string; calls: number }>('SELECT purpose, calls FROM repeated_call'));
    return Object.fromEntries(rows.map(({ purpose, calls }) => [purpose, calls]));
  }

  async started(taskId: string): Promise<boolean> {
    const runId = taskId.split('/', 1)[0]!;
    for (const step of this.steps.of(runId).keys()) if (step.startsWith(`${taskId}/`)) return true;
    return false;
  }
}
