import {
  functionalTypes,
  planDecision,
  planTriples,
  rated,
  touchedBy,
  type EntityWrite,
  type GraphStats,
  type KnowledgeGraph,
  type QuarantinedTriple,
  type Ratings,
  type StoredRelation,
  type TriplesAdded,
  type TripleWrite,
} from '@conclave/ports';
import type { Statements } from '../database/tick-writer.js';

type RelationRow = Omit<StoredRelation, 'flagged' | 'verified' | 'accepted' | 'superseded' | 'runId'> & {
  readonly flagged: number;
  readonly verified: number;
  readonly accepted: number;
  readonly superseded: number;
  readonly run_id: string;
};

/** Columns of a relation with the names of its ends, for `FROM graph_relation AS r` and the joins that follow it. */
export const relationColumns = `r.id, r.subject, r.relation, r.object, r.confidence, r.doubt, r.good, r.bad, r.trust, r.flagged, r.verified,
  r.accepted, r.superseded, r.source, r.domain, r.run_id, r.version, r.at, s.name AS subjectName, o.name AS objectName`;
export const relationEnds = `JOIN graph_entity AS s ON s.tenant = r.tenant AND s.normal = r.subject
  JOIN graph_entity AS o ON o.tenant = r.tenant AND o.normal = r.object`;

export const relationOf = <T extends RelationRow>({ run_id, ...row }: T) => ({
  ...row,
  runId: run_id,
  flagged: row.flagged === 1,
  verified: row.verified === 1,
  accepted: row.accepted === 1,
  superseded: row.superseded === 1,
});

/** Call before writing anything that names the entities. Keeps the first name and the first type; adds words and aliases. */
export function putEntities(sql: Statements, tenant: string, entities: readonly EntityWrite[]): void {
  for (const { normal, id, name, type, words, terms } of entities) {
    sql.run(
      `INSERT INTO graph_entity (tenant, normal, name, id, type, words) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
         SET id = excluded.id, words = excluded.words, type = CASE type WHEN '' THEN excluded.type ELSE type END`,
      tenant,
      normal,
      name,
      id,
      type,
      words,
    );
    for (const { text, exact } of terms)
      sql.run(
        'INSERT INTO graph_term (tenant, term, entity, exact) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        tenant,
        text,
        normal,
        exact ? 1 : 0,
      );
  }
}

export function addTriples(sql: Statements, write: TripleWrite): TriplesAdded {
  const { tenant, eventId, runId } = write;
  const before = sql.get<{ result: string }>('SELECT result FROM graph_event WHERE tenant = ? AND event_id = ?', tenant, eventId);
  if (before) return JSON.parse(before.result) as TriplesAdded;
  const { normals, ids } = touchedBy(write.triples);
  const taught = sql.all<{ id: string }>('SELECT relation_id AS id FROM graph_taught WHERE tenant = ? AND run_id = ?', tenant, runId);
  const plan = planTriples(write, {
    relations: meeting(sql, tenant, normals),
    quarantined: ids.flatMap((id) => entryOf(sql, tenant, id) ?? []),
    taught: new Set(taught.map(({ id }) => id)),
    ratings: ratingsOf(sql, tenant, [runId]),
  });
  store(sql, tenant, plan, [runId]);
  for (const entry of plan.quarantine) putEntry(sql, tenant, entry);
  sql.run('INSERT INTO graph_event (tenant, event_id, result) VALUES (?, ?, ?)', tenant, eventId, JSON.stringify(plan.result));
  return plan.result;
}

export const quarantine = (sql: Statements, tenant: string, state: string, limit: number): readonly QuarantinedTriple[] =>
  sql
    .all<{ entry: string }>(
      'SELECT entry FROM graph_quarantine WHERE tenant = ? AND state = ? ORDER BY at DESC, id LIMIT ?',
      tenant,
      state,
      limit,
    )
    .map(({ entry }) => JSON.parse(entry) as QuarantinedTriple);

export function decide(sql: Statements, decision: Parameters<KnowledgeGraph['decideQuarantine']>[0]): QuarantinedTriple | null {
  const { tenant, id } = decision;
  const entry = entryOf(sql, tenant, id);
  if (entry?.state !== 'open') return entry;
  const plan = planDecision(entry, decision, {
    relations: meeting(sql, tenant, touchedBy([entry]).normals),
    ratings: ratingsOf(sql, tenant, entry.runs),
  });
  store(sql, tenant, plan, entry.runs);
  putEntry(sql, tenant, plan.entry);
  return plan.entry;
}

/** The relations that a run contributed. */
export const taughtBy = (sql: Statements, tenant: string, runId: string): readonly StoredRelation[] =>
  sql
    .all<RelationRow>(
      `SELECT ${relationColumns} FROM graph_taught AS t JOIN graph_relation AS r ON r.tenant = t.tenant AND r.id = t.relation_id ${relationEnds}
       WHERE t.tenant = ? AND t.run_id = ?`,
      tenant,
      runId,
    )
    .map(relationOf);

export function rate(
  sql: Statements,
  { tenant, runId, eventId, positive }: Parameters<KnowledgeGraph['adjustTrust']>[0],
): { relations: number; syntheses: number } {
  const taught = taughtBy(sql, tenant, runId);
  const [good, bad] = positive ? [1, 0] : [0, 1];
  const isNew = sql.run(
    'INSERT INTO graph_rating (tenant, event_id, run_id, positive) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    tenant,
    eventId,
    runId,
    good,
  );
  const ofRun = 'tenant = ? AND id IN (SELECT synthesis_id FROM graph_synthesis_run WHERE tenant = ? AND run_id = ?)';
  if (isNew > 0) {
    for (const relation of taught) putRelation(sql, tenant, rated(relation, { good, bad }));
    sql.run(`UPDATE graph_synthesis SET good = good + ?, bad = bad + ? WHERE ${ofRun}`, good, bad, tenant, tenant, runId);
  }
  const syntheses = sql.get<{ n: number }>(`SELECT COUNT(*) AS n FROM graph_synthesis WHERE ${ofRun}`, tenant, tenant, runId)!.n;
  return { relations: taught.length, syntheses };
}

export function stats(sql: Statements, tenant: string): GraphStats {
  const { entities, relations, flagged, syntheses, quarantined } = sql.get<GraphStats>(
    `SELECT (SELECT COUNT(*) FROM graph_entity WHERE tenant = ?1) AS entities, (SELECT COUNT(*) FROM graph_relation WHERE tenant = ?1) AS relations,
       (SELECT COUNT(*) FROM graph_relation WHERE tenant = ?1 AND flagged = 1) AS flagged,
       (SELECT COUNT(*) FROM graph_synthesis WHERE tenant = ?1) AS syntheses,
       (SELECT COUNT(*) FROM graph_quarantine WHERE tenant = ?1 AND state = 'open') AS quarantined`,
    tenant,
  )!;
  return { entities, relations, flagged, syntheses, quarantined };
}

export function ratingsOf(sql: Statements, tenant: string, runs: readonly string[]): Ratings {
  const { good, all } = sql.get<{ good: number; all: number }>(
    `SELECT COALESCE(SUM(positive), 0) AS good, COUNT(*) AS "all" FROM graph_rating WHERE tenant = ? AND run_id IN (SELECT value FROM json_each(?))`,
    tenant,
    JSON.stringify(runs),
  )!;
  return { good, bad: all - good };
}

/** Relations between the entities, and functional relations of each. */
function meeting(sql: Statements, tenant: string, normals: readonly string[]): readonly StoredRelation[] {
  const names = JSON.stringify(normals);
  return sql
    .all<RelationRow>(
      `SELECT ${relationColumns} FROM graph_relation AS r ${relationEnds}
       WHERE r.tenant = ? AND r.subject IN (SELECT value FROM json_each(?))
         AND (r.object IN (SELECT value FROM json_each(?)) OR r.relation IN (SELECT value FROM json_each(?)))
       ORDER BY r.id`,
      tenant,
      names,
      names,
      JSON.stringify(functionalTypes),
    )
    .map(relationOf);
}

function entryOf(sql: Statements, tenant: string, id: string): QuarantinedTriple | null {
  const row = sql.get<{ entry: string }>('SELECT entry FROM graph_quarantine WHERE tenant = ? AND id = ?', tenant, id);
  return row ? (JSON.parse(row.entry) as QuarantinedTriple) : null;
}

export function putEntry(sql: Statements, tenant: string, entry: QuarantinedTriple): void {
  const { id, state, at } = entry;
  sql.run(
    'INSERT OR REPLACE INTO graph_quarantine (tenant, id, state, at, entry) VALUES (?, ?, ?, ?, ?)',
    tenant,
    id,
    state,
    at,
    JSON.stringify(entry),
  );
}

export function putRelation(sql: Statements, tenant: string, one: StoredRelation): void {
  const flags = [one.flagged, one.verified, one.accepted, one.superseded].map(Number);
  sql.run(
    `INSERT OR REPLACE INTO graph_relation (tenant, id, subject, relation, object, confidence, doubt, good, bad, trust, flagged, verified,
       accepted, superseded, source, domain, run_id, version, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tenant,
    one.id,
    one.subject,
    one.relation,
    one.object,
    one.confidence,
    one.doubt,
    one.good,
    one.bad,
    one.trust,
    ...flags,
    one.source,
    one.domain,
    one.runId,
    one.version,
    one.at,
  );
}

interface SynthesisRow {
  readonly entities: readonly EntityWrite[];
  readonly relations: readonly StoredRelation[];
  readonly taught: readonly StoredRelation[];
}

function store(sql: Statements, tenant: string, { entities, relations, taught }: SynthesisRow, runs: readonly string[]): void {
  putEntities(sql, tenant, entities);
  for (const relation of relations) putRelation(sql, tenant, relation);
  for (const run of runs)
    for (const { id } of taught)
      sql.run('INSERT INTO graph_taught (tenant, run_id, relation_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', tenant, run, id);
}
