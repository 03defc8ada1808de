import type { Store } from '../database/database.js';
import { headersOf } from './stored-headers.js';

/**
 * Records that may have killed a process: all that were on the log when the previous process died, and outputs of such records. Each gets
 * its own row before it is begun, and while one is being handled, records are handed out only when durable: otherwise a death would be
 * blamed on the record before its cause.
 */
export class Suspects {
  /** Last position that existed when the previous process died. */
  private readonly upTo: number;
  private readonly others = new Set<number>();
  /** Runs of the suspects being handled, by position. */
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

  /** Adds a new record; it is suspect while a suspect of its run is being handled. */
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
