import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import { normaliseEntity, type KnowledgeGraph, type SynthesisNode, type SynthesisWrite } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { Sql } from '../database/sql.js';

interface SynthesisRow {
  readonly id: string;
  readonly text: string;
  readonly insight_type: string;
  readonly domain: string;
  readonly confidence: number;
}

/** The knowledge graph in the tables of the embedded store; every key begins with the tenant. */
export class SqliteGraph implements KnowledgeGraph {
  #closed = false;

  constructor(private readonly store: Store) {}

  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }> {
    return this.#guarded(() => this.store.write((tick) => addSynthesis(tick, synthesis)));
  }

  synthesesAbout(query: {
    readonly tenant: string;
    readonly entities: readonly string[];
    readonly limit: number;
  }): Promise<readonly SynthesisNode[]> {
    const { tenant, limit } = query;
    const entities = JSON.stringify([...new Set(query.entities.map(normaliseEntity))]);
    return this.#guarded(async () =>
      this.store.read((sql) =>
        sql
          .all<SynthesisRow>(
            `SELECT id, text, insight_type, domain, confidence FROM graph_synthesis AS s WHERE tenant = ? AND id IN
               (SELECT synthesis_id FROM graph_related WHERE tenant = ? AND entity IN (SELECT value FROM json_each(?)))
             ORDER BY at DESC, id LIMIT ?`,
            tenant,
            tenant,
            entities,
            limit,
          ) // prettier-ignore
          .map((row) => nodeOf(sql, tenant, row)),
      ),
    );
  }

  async health(): Promise<string | null> {
    return this.#closed ? 'The knowledge graph is closed.' : this.store.health();
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
    try {
      return await work();
    } catch (error) {
      throw error instanceof Failure ? new Failure('GRAPH_UNAVAILABLE', error.message, { cause: error }) : error;
    }
  }
}

function addSynthesis({ sql }: Tick, { tenant, runId, insight, domain, confidence, at }: SynthesisWrite): { id: string; created: boolean } {
  const learned = sql.get<{ id: string }>(
    'SELECT synthesis_id AS id FROM graph_synthesis_run WHERE tenant = ? AND run_id = ?',
    tenant,
    runId,
  );
  if (learned) return { id: learned.id, created: false };
  const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
  const added = sql.run(
    'INSERT INTO graph_synthesis (tenant, id, text, insight_type, domain, confidence, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    tenant, id, insight.summary, insight.insight_type, domain, confidence, at,
  ); // prettier-ignore
  sql.run('INSERT INTO graph_synthesis_run (tenant, run_id, synthesis_id) VALUES (?, ?, ?)', tenant, runId, id);
  if (added === 0) return { id, created: false };
  for (const name of insight.entities) {
    const normal = normaliseEntity(name);
    if (normal === '') continue;
    sql.run('INSERT INTO graph_entity (tenant, normal, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', tenant, normal, name.trim());
    sql.run('INSERT INTO graph_related (tenant, entity, synthesis_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', tenant, normal, id);
  }
  return { id, created: true };
}

function nodeOf(sql: Sql, tenant: string, row: SynthesisRow): SynthesisNode {
  const entities = sql.all<{ name: string }>(
    `SELECT name FROM graph_related AS r JOIN graph_entity AS e ON e.tenant = r.tenant AND e.normal = r.entity
     WHERE r.tenant = ? AND r.synthesis_id = ? ORDER BY e.normal`,
    tenant, row.id,
  ); // prettier-ignore
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
  };
}
