import type { Store, Tick } from '../database/database.js';
import { Kept } from '../kept.js';

/** Most runs whose flags stay in memory. */
const mostKept = 512;

const runOf = (id: string): string => id.split('/', 1)[0]!;

/** Cancel flags of runs and tasks, and marks of parked runs: one row each, cached for runs that were asked about. */
export class CancelFlags {
  private readonly kept = new Kept<Set<string>>(mostKept);

  constructor(private readonly database: Store) {}

  has(id: string): boolean {
    return this.of(runOf(id)).has(id);
  }

  /** Call inside a write. */
  set(tick: Tick, id: string, at: number): void {
    tick.sql.run('INSERT INTO cancel (id, at) VALUES (?, ?) ON CONFLICT DO NOTHING', id, at);
    tick.afterWrite(() => this.kept.get(runOf(id))?.add(id));
  }

  /** Call inside a write. */
  remove(tick: Tick, id: string): void {
    tick.sql.run('DELETE FROM cancel WHERE id = ?', id);
    tick.afterWrite(() => this.kept.get(runOf(id))?.delete(id));
  }

  forget(runId: string): void {
    this.kept.forget(runId);
  }

  forgetAll(): void {
    this.kept.forgetAll();
  }

  private of(runId: string): Set<string> {
    const known = this.kept.get(runId);
    if (known) return known;
    // '0' is the character after '/': the range contains the flags of all its tasks.
    const rows = this.database.read((sql) =>
      sql.all<{ id: string }>('SELECT id FROM cancel WHERE id = ? OR (id > ? AND id < ?)', runId, `${runId}/`, `${runId}0`),
    );
    return this.kept.set(runId, new Set(rows.map(({ id }) => id)));
  }
}
