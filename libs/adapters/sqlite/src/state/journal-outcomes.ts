import { storedRecord, type Blobs, type CallOutcome, type JournalCall, type RecordedCall } from '@conclave/ports';
import type { Statements, Store } from '../database/database.js';
import type { LogTable } from '../event-log/log-table.js';

type Step = Pick<JournalCall, 'runId' | 'step'>;

/** An outcome in its row: whole, or a reference to the record that holds it. */
type StoredOutcome = CallOutcome | { readonly at: RecordedCall };

interface Pending extends Step {
  readonly outcome: CallOutcome;
  readonly recorded: RecordedCall;
}

const nameOf = ({ runId, step }: Step): string => `${runId} ${step}`;

/** Outcomes of calls. One whose record is committed in the same tick is stored as a reference to that record. */
export class JournalOutcomes {
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly database: Store,
    private readonly log: LogTable,
    private readonly blobs: Blobs,
  ) {}

  /** Writes the outcome before the next commit, when it is known whether the commit includes the record. */
  hold({ runId, step }: Step, outcome: CallOutcome, recorded: RecordedCall): void {
    this.pending.set(nameOf({ runId, step }), { runId, step, outcome, recorded });
    this.database.beforeCommit(this, (sql) => this.write(sql));
  }

  /** The outcome of a finished step. */
  async of(call: Step): Promise<CallOutcome> {
    const pending = this.pending.get(nameOf(call));
    if (pending) return pending.outcome;
    const { outcome } = this.database.read((sql) =>
      sql.get<{ outcome: string }>('SELECT outcome FROM journal WHERE run_id = ? AND step = ?', call.runId, call.step),
    )!;
    const stored = JSON.parse(outcome) as StoredOutcome;
    if (!('at' in stored)) return stored;
    const record = this.log.find(stored.at.topic, stored.at.id);
    const event = record && (await storedRecord(record, this.blobs)).event;
    // Should not happen: records of calls live as long as anything that may ask for them.
    if (!event)
      return { ok: false, failure: { code: 'RECORD_EXPIRED', message: 'The record of this call has expired.', retriable: false } };
    return { ok: true, reply: { record: event.data } };
  }

  private write(sql: Statements): void {
    for (const [name, { runId, step, outcome, recorded }] of this.pending) {
      const stored: StoredOutcome = this.log.isOfThisTick(recorded) ? { at: recorded } : outcome;
      sql.run('UPDATE journal SET outcome = ? WHERE run_id = ? AND step = ?', JSON.stringify(stored), runId, step);
      this.pending.delete(name);
    }
  }
}
