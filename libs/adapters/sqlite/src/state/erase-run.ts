import type { PlanRequested } from '@conclave/contracts';
import { erasedStatus, type ErasedRun } from '@conclave/ports';
import type { Tick } from '../database/database.js';
import type { ErasedRuns } from '../event-log/erased-runs.js';

/**
 * Removes everything that the tables of the state contain of a run, except the fact that it has ended, so that a record that still arrives does not
 * begin it again.
 */
export function eraseRun(tick: Tick, erased: ErasedRuns, run: ErasedRun): void {
  const { sql } = tick;
  const { runId, erasedAt, tenant } = run;
  const held = sql.get<{ header: string | null }>('SELECT header FROM run WHERE run_id = ?', runId)?.header ?? null;
  sql.run(
    `INSERT INTO run (run_id, tenant, accepted_at, status, terminal, ended_at) VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT DO UPDATE SET header = NULL, state = NULL, packed = NULL, state_version = version, status = excluded.status,
       terminal = 1, ended_at = coalesce(ended_at, excluded.ended_at)`,
    runId,
    tenant,
    erasedAt,
    erasedStatus,
    erasedAt,
  );
  sql.run("UPDATE applied SET outputs = '[]' WHERE run_id = ?", runId);
  for (const table of ['journal', 'timer', 'command_seq', 'attached', 'parked', 'stream_entry'])
    sql.run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
  // An ended stream accepts no more entries.
  sql.run(
    'INSERT INTO stream (run_id, first, ended_at) VALUES (?, 1, ?) ON CONFLICT DO UPDATE SET ended_at = coalesce(ended_at, excluded.ended_at)',
    runId,
    erasedAt,
  );
  if (held !== null) deleteAttached(tick, JSON.parse(held) as PlanRequested);
  erased.add(tick, runId, erasedAt, JSON.stringify(run));
}

/** Deletes the bytes of images and files, unless another run has the same ones. */
function deleteAttached({ sql }: Tick, { data }: PlanRequested): void {
  for (const { blob } of data.attachments ?? []) {
    if (blob === null) continue;
    if (!sql.get('SELECT 1 AS found FROM run WHERE header LIKE ? LIMIT 1', `%${blob}%`)) sql.run('DELETE FROM blob WHERE sha256 = ?', blob);
  }
}
