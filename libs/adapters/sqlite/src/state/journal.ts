import type { Begun, CallOutcome, Journal, JournalCall, Paid } from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { ProcessLeases } from './leases.js';
import { baseStep } from './recovery.js';
import { addPaid } from './usage-ledger.js';

interface JournalRow {
  readonly attempt: number;
  readonly owner: string | null;
  readonly opening: number;
  readonly nonce: string;
  readonly repeated: number;
  readonly outcome: string | null;
}

/** The longest a caller is told to stay away from a step that somebody else is at: its owner may finish any moment. */
const longestBusyMs = 1000;

/** One row per step: its newest attempt. */
export class SqliteJournal implements Journal {
  constructor(
    private readonly database: Store,
    private readonly leases: ProcessLeases,
    private readonly now: () => number,
  ) {}

  /** A call begins after everything that led to it is durable. */
  async begin(call: { readonly runId: string; readonly step: string; readonly nonce: string; readonly owner: string }): Promise<Begun> {
    const begun = await this.ordered(call);
    if (begun.kind === 'begun') await this.database.durable();
    return begun;
  }

  private ordered(call: Parameters<Journal['begin']>[0]): Promise<Begun> {
    const { opening } = this.database;
    return this.database.order(({ sql }): Begun => {
      const row = sql.get<JournalRow>('SELECT * FROM journal WHERE run_id = ? AND step = ?', call.runId, call.step);
      if (row?.outcome) return { kind: 'done', outcome: JSON.parse(row.outcome) as CallOutcome, attempt: row.attempt };
      if (row && row.owner === call.owner && row.nonce === call.nonce)
        return { kind: 'begun', attempt: row.attempt, repeated: row.repeated === 1 };
      // An owner of an earlier opening of the file is dead, whatever name it had.
      const leftMs = row?.owner && row.opening === opening ? this.leases.leftMs(row.owner) : 0;
      if (leftMs > 0) return { kind: 'busy', retryInMs: Math.min(leftMs, longestBusyMs) };
      const base = sql.get<{ attempt: number }>('SELECT attempt FROM journal WHERE run_id = ? AND step = ?', call.runId, baseStep);
      const attempt = Math.max(row?.attempt ?? 0, base?.attempt ?? 0) + 1;
      const repeated = row !== undefined && row.owner !== null;
      sql.run(
        'INSERT OR REPLACE INTO journal (run_id, step, attempt, owner, opening, nonce, repeated, outcome, at) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)',
        call.runId,
        call.step,
        attempt,
        call.owner,
        opening,
        call.nonce,
        repeated ? 1 : 0,
        this.now(),
      );
      return { kind: 'begun', attempt, repeated };
    });
  }

  finish(call: JournalCall, outcome: CallOutcome, paid?: Paid): Promise<'stored' | 'refused'> {
    const text = JSON.stringify(outcome);
    return this.database.order(({ sql }) => {
      if (paid) addPaid(sql, { ...call, ...paid });
      const stored = sql.run(
        'UPDATE journal SET outcome = coalesce(outcome, ?) WHERE run_id = ? AND step = ? AND attempt = ?',
        text,
        call.runId,
        call.step,
        call.attempt,
      );
      return stored > 0 ? 'stored' : 'refused';
    });
  }

  abandon(call: JournalCall, paid?: Paid): Promise<void> {
    return this.database.order(({ sql }) => {
      if (paid) addPaid(sql, { ...call, ...paid });
      sql.run(
        'UPDATE journal SET owner = NULL WHERE run_id = ? AND step = ? AND attempt = ? AND outcome IS NULL',
        call.runId,
        call.step,
        call.attempt,
      );
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
    // '0' is the character behind '/', so the range holds every step below `<task>/`.
    const row = this.database.read((sql) =>
      sql.get('SELECT 1 AS found FROM journal WHERE run_id = ? AND step >= ? AND step < ? LIMIT 1', runId, `${taskId}/`, `${taskId}0`),
    );
    return row !== undefined;
  }
}
