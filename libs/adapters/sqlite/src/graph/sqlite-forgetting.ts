import { planForgetting, type QuarantinedTriple } from '@conclave/ports';
import type { Statements } from '../database/tick-writer.js';
import { putEntry, putRelation, ratingsOf, taughtBy } from './sqlite-knowledge.js';

/** Removes what only this run has taught. */
export function forget(sql: Statements, tenant: string, runId: string): { readonly relations: number; readonly syntheses: number } {
  const relations = taughtBy(sql, tenant, runId);
  sql.run('DELETE FROM graph_taught WHERE tenant = ? AND run_id = ?', tenant, runId);
  const others = sql.all<{ id: string; run: string }>(
    `SELECT relation_id AS id, MIN(run_id) AS run FROM graph_taught
     WHERE tenant = ? AND relation_id IN (SELECT value FROM json_each(?)) GROUP BY relation_id`,
    tenant,
    JSON.stringify(relations.map(({ id }) => id)),
  );
  const ratings = ratingsOf(sql, tenant, [runId]);
  const plan = planForgetting({
    ...{ runId, relations, ratings, others: new Map(others.map(({ id, run }) => [id, run])) },
    entries: sql
      .all<{ entry: string }>('SELECT entry FROM graph_quarantine WHERE tenant = ?', tenant)
      .map(({ entry }) => JSON.parse(entry) as QuarantinedTriple),
  });
  for (const { id } of plan.removed) sql.run('DELETE FROM graph_relation WHERE tenant = ? AND id = ?', tenant, id);
  for (const relation of plan.kept) putRelation(sql, tenant, relation);
  for (const id of plan.removedEntries) sql.run('DELETE FROM graph_quarantine WHERE tenant = ? AND id = ?', tenant, id);
  for (const entry of plan.keptEntries) putEntry(sql, tenant, entry);
  const taught = sql.get<{ id: string }>(
    'SELECT synthesis_id AS id FROM graph_synthesis_run WHERE tenant = ? AND run_id = ?',
    tenant,
    runId,
  );
  const about = taught ? forgetOrigin(sql, tenant, runId, taught.id, ratings) : null;
  sql.run('DELETE FROM graph_rating WHERE tenant = ? AND run_id = ?', tenant, runId);
  sql.run(`DELETE FROM graph_event WHERE tenant = ? AND substr(event_id, 1, length(?) + 1) = ? || '/'`, tenant, runId, runId);
  for (const normal of new Set([...plan.removed.flatMap(({ subject, object }) => [subject, object]), ...(about ?? [])]))
    removeUnnamed(sql, tenant, normal);
  return { relations: plan.removed.length, syntheses: about ? 1 : 0 };
}

/** Entities of the synthesis if no other run has taught it: it is removed then. */
function forgetOrigin(
  sql: Statements,
  tenant: string,
  runId: string,
  id: string,
  { good, bad }: { readonly good: number; readonly bad: number },
): readonly string[] | null {
  sql.run('DELETE FROM graph_synthesis_run WHERE tenant = ? AND run_id = ?', tenant, runId);
  if (sql.get('SELECT 1 AS found FROM graph_synthesis_run WHERE tenant = ? AND synthesis_id = ? LIMIT 1', tenant, id)) {
    sql.run('UPDATE graph_synthesis SET good = good - ?, bad = bad - ? WHERE tenant = ? AND id = ?', good, bad, tenant, id);
    return null;
  }
  const about = sql.all<{ entity: string }>('SELECT entity FROM graph_related WHERE tenant = ? AND synthesis_id = ?', tenant, id);
  sql.run('DELETE FROM graph_related WHERE tenant = ? AND synthesis_id = ?', tenant, id);
  sql.run('DELETE FROM graph_synthesis WHERE tenant = ? AND id = ?', tenant, id);
  return about.map(({ entity }) => entity);
}

function removeUnnamed(sql: Statements, tenant: string, normal: string): void {
  const named = sql.get(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM graph_relation WHERE tenant = ?1 AND subject = ?2)
       OR EXISTS (SELECT 1 FROM graph_relation WHERE tenant = ?1 AND object = ?2) OR EXISTS (SELECT 1 FROM graph_related WHERE tenant = ?1 AND entity = ?2)`,
    tenant,
    normal,
  );
  if (named) return;
  sql.run('DELETE FROM graph_term WHERE tenant = ? AND entity = ?', tenant, normal);
  sql.run('DELETE FROM graph_entity WHERE tenant = ? AND normal = ?', tenant, normal);
}
