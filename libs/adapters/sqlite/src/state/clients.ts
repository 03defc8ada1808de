import { awayOwner, leaseTtlMs, type MemoryLeases, parkedFlag } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { CancelFlags } from './cancel-flags.js';

interface ClientRow {
  readonly run_id: string;
  readonly owner: string;
  readonly opening: number;
}

interface ClientParts {
  readonly database: Store;
  readonly flags: CancelFlags;
  readonly leases: MemoryLeases;
  readonly now: () => number;
  readonly processId: string;
  /** When the file was opened, milliseconds since 1970. */
  readonly openedAt: number;
}

/** Attached clients of chat runs, and the runs that are parked because no client is left. */
export class SqliteClients {
  constructor(private readonly parts: ClientParts) {}

  attach(runId: string, clientId: string): Promise<number> {
    const { database, processId } = this.parts;
    return database.write((tick) => {
      tick.sql.run('DELETE FROM attached WHERE run_id = ? AND owner = ?', runId, awayOwner);
      this.put(tick, { runId, clientId, owner: processId });
      this.takeUp(tick, runId);
      return this.attached(tick, runId);
    });
  }

  detach(runId: string, clientId: string): Promise<number> {
    return this.parts.database.write((tick) => {
      tick.sql.run('DELETE FROM attached WHERE run_id = ? AND client_id = ?', runId, clientId);
      return this.attached(tick, runId);
    });
  }

  leave(runId: string, clientId: string): Promise<number> {
    return this.parts.database.write((tick) => {
      this.put(tick, { runId, clientId, owner: awayOwner });
      const left = this.attached(tick, runId);
      const isOpen = tick.sql.get('SELECT 1 AS found FROM run WHERE run_id = ? AND terminal = 0', runId) !== undefined;
      if (left === 0 && isOpen) this.set(tick, runId, this.parts.now());
      return left;
    });
  }

  async park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    const { database } = this.parts;
    await database.committed();
    const mayHaveWork = database.read(
      (sql) =>
        sql.get('SELECT 1 AS found FROM parked LIMIT 1') !== undefined ||
        sql.all<ClientRow>('SELECT DISTINCT owner, opening FROM attached').some((row) => this.isDead(row)),
    );
    if (!mayHaveWork) return { parked: 0, overdue: [] };
    return database.write((tick) => {
      const { sql } = tick;
      const now = this.parts.now();
      sql.run('DELETE FROM attached WHERE run_id IN (SELECT run_id FROM run WHERE terminal = 1)');
      const awaited = new Map<string, boolean>();
      for (const row of sql.all<ClientRow>('SELECT run_id, owner, opening FROM attached WHERE run_id IN (SELECT run_id FROM run)'))
        awaited.set(row.run_id, awaited.get(row.run_id) === true || !this.isDead(row));
      let parked = 0;
      for (const [runId, isAwaited] of awaited) {
        if (!isAwaited && this.set(tick, runId, now)) parked += 1;
      }
      for (const { run_id } of sql.all<{ run_id: string }>('SELECT run_id FROM parked'))
        if (awaited.get(run_id) !== false) this.takeUp(tick, run_id);
      const overdue = sql.all<{ run_id: string }>('SELECT run_id FROM parked WHERE at <= ? ORDER BY at LIMIT ?', now - parkMs, limit);
      return { parked, overdue: overdue.map(({ run_id }) => run_id) };
    });
  }

  private put(
    { sql }: Tick,
    { runId, clientId, owner }: { readonly runId: string; readonly clientId: string; readonly owner: string },
  ): void {
    const { opening } = this.parts.database;
    sql.run('INSERT OR REPLACE INTO attached (run_id, client_id, owner, opening) VALUES (?, ?, ?, ?)', runId, clientId, owner, opening);
  }

  /** Parks a run. False if it is parked already. */
  private set(tick: Tick, runId: string, now: number): boolean {
    if (tick.sql.run('INSERT INTO parked (run_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING', runId, now) === 0) return false;
    this.parts.flags.set(tick, parkedFlag(runId), now);
    return true;
  }

  private takeUp(tick: Tick, runId: string): void {
    if (tick.sql.run('DELETE FROM parked WHERE run_id = ?', runId) > 0) this.parts.flags.remove(tick, parkedFlag(runId));
  }

  private attached({ sql }: Tick, runId: string): number {
    const rows = sql.all<ClientRow>('SELECT run_id, owner, opening FROM attached WHERE run_id = ?', runId);
    const { database, processId } = this.parts;
    const isOurs = ({ owner, opening }: ClientRow): boolean => owner === processId && opening === database.opening;
    return rows.filter((row) => isOurs(row) || !this.isDead(row)).length;
  }

  /** Leases are in memory: an owner from an earlier opening counts as alive until its lease must have ended. */
  private isDead({ owner, opening }: ClientRow): boolean {
    const { database, leases, now, openedAt } = this.parts;
    return opening === database.opening ? leases.leftMs(owner) === 0 : now() >= openedAt + leaseTtlMs;
  }
}
