import {
  byTime,
  isFlagged,
  sourcesIn,
  synthesisTrust,
  type EntityCandidate,
  type GraphReading,
  type LinkedSynthesis,
  type NamedRelation,
  type SynthesisKey,
  type SynthesisRecord,
} from '@conclave/ports';
import type { Statements } from '../database/tick-writer.js';
import { relationColumns, relationEnds, relationOf } from './sqlite-knowledge.js';

export interface SynthesisRow {
  readonly id: string;
  readonly text: string;
  readonly insight_type: string;
  readonly domain: string;
  readonly confidence: number;
  readonly good: number;
  readonly bad: number;
}
export const synthesisColumns = 'id, text, insight_type, domain, confidence, good, bad';

const candidates = `
  WITH hit (entity, exact, word) AS (
    SELECT normal, 1, NULL FROM graph_entity WHERE tenant = ?1 AND normal IN (SELECT value FROM json_each(?2))
    UNION ALL SELECT entity, 1, NULL FROM graph_term WHERE tenant = ?1 AND exact = 1 AND term IN (SELECT value FROM json_each(?2))
    UNION ALL SELECT entity, 0, term FROM graph_term WHERE tenant = ?1 AND exact = 0 AND term IN (
      SELECT value FROM json_each(?3) AS word WHERE
        (SELECT COUNT(*) FROM (SELECT 1 FROM graph_term WHERE tenant = ?1 AND term = word.value AND exact = 0 LIMIT ?5 + 1)) <= ?5)
  ), found AS (SELECT entity, MAX(exact) AS exact, COUNT(DISTINCT word) AS matched FROM hit GROUP BY entity)
  SELECT e.normal, e.name, e.type, e.words, f.exact, f.matched FROM found AS f JOIN graph_entity AS e ON e.tenant = ?1 AND e.normal = f.entity
  WHERE f.exact = 1 OR f.matched * 2 >= e.words
  ORDER BY f.exact DESC, CASE e.words WHEN 0 THEN 0.0 ELSE f.matched * 1.0 / e.words END DESC, f.matched DESC, e.id LIMIT ?4`;

/** The best relations by one end; each end has its own index. */
const side = (own: string, other: string): string => `SELECT * FROM (
  SELECT ${relationColumns}, s.type AS subjectType, o.type AS objectType FROM graph_relation AS r ${relationEnds}
  WHERE r.tenant = ?1 AND r.${own} = ?2 AND r.${other} <> ?2 AND r.flagged = 0 ORDER BY r.trust DESC, r.id LIMIT ?3)`;
const around = `${side('subject', 'object')} UNION ALL ${side('object', 'subject')} ORDER BY trust DESC, id LIMIT ?3`;

const syntheses = `SELECT ${synthesisColumns} FROM graph_synthesis WHERE tenant = ?1 AND bad <= good
  AND id IN (SELECT synthesis_id FROM graph_related WHERE tenant = ?1 AND entity = ?2) ORDER BY at DESC, id LIMIT ?3`;

type AroundRow = Parameters<typeof relationOf>[0] & Pick<NamedRelation, 'subjectType' | 'objectType'>;

export const readingOf = (read: <T>(work: (sql: Statements) => T) => T, tenant: string): GraphReading => ({
  candidates: ({ exact, words, common, limit }) =>
    read((sql) =>
      sql
        .all<Omit<EntityCandidate, 'exact'> & { readonly exact: number }>(
          candidates,
          tenant,
          JSON.stringify(exact),
          JSON.stringify(words),
          limit,
          common,
        )
        .map((row) => ({ ...row, exact: row.exact === 1 })),
    ),
  around: (entities, perEntity) =>
    read((sql) => entities.flatMap((entity) => sql.all<AroundRow>(around, tenant, entity, perEntity).map(relationOf))),
  syntheses: (entities, perEntity) =>
    read((sql) =>
      entities.flatMap((entity) => sql.all<SynthesisRow>(syntheses, tenant, entity, perEntity).map((row) => synthesisOf(sql, tenant, row))),
    ),
});

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function synthesisOf(sql: Statements, tenant: string, row: SynthesisRow): LinkedSynthesis {
  const entities = sql
    .all<{ normal: string; name: string }>(
      `SELECT e.normal, e.name FROM graph_related AS r JOIN graph_entity AS e ON e.tenant = r.tenant AND e.normal = r.entity
       WHERE r.tenant = ? AND r.synthesis_id = ?`,
      tenant,
      row.id,
    )
    .sort((a, b) => compare(a.normal, b.normal));
  const runs = sql.all<{ run_id: string }>(
    'SELECT run_id FROM graph_synthesis_run WHERE tenant = ? AND synthesis_id = ? ORDER BY run_id',
    tenant,
    row.id,
  );
  return {
    id: row.id,
    text: row.text,
    insightType: row.insight_type,
    domain: row.domain,
    confidence: row.confidence,
    entities: entities.map(({ name }) => name),
    runs: runs.map(({ run_id }) => run_id),
    trust: synthesisTrust(row),
    about: entities.map(({ normal }) => normal),
  };
}

interface OriginRow {
  readonly run_id: string;
  readonly at: number | null;
  readonly answer: string | null;
  readonly sources: string | null;
}

/** A synthesis with all runs that contributed to it, flagged or not. */
export function recordOf(sql: Statements, tenant: string, by: SynthesisKey): SynthesisRecord | null {
  const row =
    'id' in by
      ? sql.get<SynthesisRow>(`SELECT ${synthesisColumns} FROM graph_synthesis WHERE tenant = ? AND id = ?`, tenant, by.id)
      : sql.get<SynthesisRow>(
          `SELECT ${synthesisColumns} FROM graph_synthesis WHERE tenant = ?1
             AND id = (SELECT synthesis_id FROM graph_synthesis_run WHERE tenant = ?1 AND run_id = ?2)`,
          tenant,
          by.runId,
        );
  if (!row) return null;
  const { about: _about, ...node } = synthesisOf(sql, tenant, row);
  const origins = sql
    .all<OriginRow>('SELECT run_id, at, answer, sources FROM graph_synthesis_run WHERE tenant = ? AND synthesis_id = ?', tenant, row.id)
    .map(({ run_id: runId, at, answer, sources }) => ({ runId, at, answer, sources: sourcesIn(sources) }));
  return { ...node, flagged: isFlagged(row), origins: origins.sort(byTime) };
}
