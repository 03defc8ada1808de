import { rootOf } from '@conclave/contracts';
import type { Store, Tick } from '../database/database.js';

/** Runs that were erased, by id. All users of a database share the list, so nothing that still arrives for such a run is stored. */
export class ErasedRuns {
  private readonly known: Set<string>;

  constructor(database: Store) {
    this.known = new Set(database.read((sql) => sql.all<{ run_id: string }>('SELECT run_id FROM erased_run')).map(({ run_id }) => run_id));
  }

  /** Whether the run, or the run that a client requested, was erased. */
  has(runId: string): boolean {
    return this.known.size > 0 && (this.known.has(runId) || this.known.has(rootOf(runId)));
  }

  /** Adds a run as part of a write. `tombstone`: what remains known of it, if available. */
  add({ sql, afterWrite }: Tick, runId: string, at: number, tombstone: string | null = null): void {
    sql.run(
      `INSERT INTO erased_run (run_id, at, tombstone) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET tombstone = coalesce(tombstone, excluded.tombstone)`,
      runId,
      at,
      tombstone,
    );
    afterWrite(() => this.known.add(runId));
  }
}
