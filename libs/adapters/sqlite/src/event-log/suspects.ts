import type { Store } from '../database/database.js';
import { headersOf } from './stored-headers.js';

/**
 * Records that may have killed a process: whatever the log held when the one before died without a goodbye, and what such a record puts
 * out. They are begun with a row of their own, and as long as one is in somebody's hands nothing is handed out before it is durable: else
 * a death would be put down to the record before the one that caused it.
 */
export class Suspects {
  /** Every record up to here was there when the process before died. */
  private readonly upTo: number;
  private readonly others = new Set<number>();
  /** Runs of the suspects that are under way, by position. */
  private readonly underWay = new Map<number, string | null>();

  constructor(private readonly database: Store) {
    this.upTo = database.diedBefore
      ? (database.read((sql) => sql.get<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM log'))?.seq ?? 0)
      : 0;
  }

  has(seq: number): boolean {
    return seq <= this.upTo || this.others.has(seq);
  }

  get some(): boolean {
    return this.underWay.size > 0;
  }

  /** Notes a new record of a run; it is suspect when one of that run is under way. */
  note(seq: number, runId: string | undefined): void {
    if (this.underWay.size === 0 || runId === undefined) return;
    for (const run of this.underWay.values()) if (run === runId) this.others.add(seq);
  }

  began(seq: number): void {
    const row = this.database.read((sql) =>
      sql.get<{ key: string | null; event_id: string; headers: string }>('SELECT key, event_id, headers FROM log WHERE seq = ?', seq),
    );
    const headers = row ? headersOf(row.headers, row) : {};
    this.underWay.set(seq, headers['ce_runid'] ?? null);
  }

  ended(seq: number): void {
    this.underWay.delete(seq);
  }

  finished(seq: number): void {
    this.ended(seq);
    this.others.delete(seq);
  }
}
