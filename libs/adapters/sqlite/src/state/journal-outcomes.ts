import { storedRecord, type Blobs, type CallOutcome, type JournalCall, type RecordedCall } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { LogTable } from '../event-log/log-table.js';

type StepKey = Pick<JournalCall, 'runId' | 'step'>;

/** An outcome in its row: whole, or a reference to the record that contains it. */
type StoredOutcome = CallOutcome | { readonly at: RecordedCall };

const nameOf = ({ runId, step }: StepKey): string => `${runId} ${step}`;

/** Outcomes of calls. One whose record is committed in the same tick is stored as a reference to that record. */
export class JournalOutcomes {
  private readonly pending = new Map<string, CallOutcome>();

  constructor(
    private readonly database: Store,
    private readonly log: LogTable,
    private readonly blobs: Blobs,
  ) {}

  /**
   * Holds an outcome until its row is written. Returns what to store: called right before the commit, when it is known whether the commit
   * includes the record.
   */
  hold(tick: Tick, { runId, step }: StepKey, outcome: CallOutcome, recorded: RecordedCall | undefined): () => string {
    // Throws here, as part of the write, if it has no JSON form.
    const whole = recorded ? null : JSON.stringify(outcome);
    const name = nameOf({ runId, step });
    tick.afterWrite(() => this.pending.set(name, outcome));
    tick.afterCommit(() => this.pending.delete(name));
    return () => {
      const stored: StoredOutcome = recorded && this.log.isOfThisTick(recorded) ? { at: recorded } : outcome;
      return whole ?? JSON.stringify(stored);
    };
  }

  /** The outcome of a finished step. */
  async of(call: StepKey): Promise<CallOutcome> {
    const pending = this.pending.get(nameOf(call));
    if (pending) return pending;
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
}
