import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import {
  namedEntities,
  normaliseEntity,
  originOf,
  retrieveThrough,
  sourcesText,
  neighboursThrough,
  type EntityNode,
  type EntityQuery,
  type GraphContext,
  type GraphQuery,
  type GraphStats,
  type KnowledgeGraph,
  type Neighbourhood,
  type NeighbourQuery,
  type QuarantinedTriple,
  type SynthesisNode,
  type SynthesisRecord,
  type SynthesisWrite,
  type TriplesAdded,
  type TripleWrite,
} from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { Statements } from '../database/tick-writer.js';
import { addTriples, decide, putEntities, quarantine, rate, ratingsOf, stats } from './sqlite-knowledge.js';
import { forget } from './sqlite-forgetting.js';
import { readingOf, recordOf, synthesisColumns, synthesisOf, type SynthesisRow } from './sqlite-reading.js';

/** The knowledge graph in the tables of the embedded store; every key begins with the tenant. */
export class SqliteGraph implements KnowledgeGraph {
  private closed = false;

  constructor(private readonly store: Store) {}

  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }> {
    return this.write((sql) => addSynthesis(sql, synthesis));
  }

  synthesesAbout(query: Parameters<KnowledgeGraph['synthesesAbout']>[0]): Promise<readonly SynthesisNode[]> {
    const { tenant, limit } = query;
    const entities = JSON.stringify([...new Set(query.entities.map(normaliseEntity))]);
    return this.read((sql) =>
      sql
        .all<SynthesisRow>(
          `SELECT ${synthesisColumns} FROM graph_synthesis WHERE tenant = ? AND bad <= good AND id IN
             (SELECT synthesis_id FROM graph_related WHERE tenant = ? AND entity IN (SELECT value FROM json_each(?)))
           ORDER BY at DESC, id LIMIT ?`,
          tenant,
          tenant,
          entities,
          limit,
        )
        .map((row): SynthesisNode => {
          const { trust: _trust, about: _about, ...node } = synthesisOf(sql, tenant, row);
          return node;
        }),
    );
  }

  synthesis({ tenant, by }: Parameters<KnowledgeGraph['synthesis']>[0]): Promise<SynthesisRecord | null> {
    return this.read((sql) => recordOf(sql, tenant, by));
  }

  addTriples(write: TripleWrite): Promise<TriplesAdded> {
    return this.write((sql) => addTriples(sql, write));
  }

  quarantine({ tenant, limit, state = 'open' }: Parameters<KnowledgeGraph['quarantine']>[0]): Promise<readonly QuarantinedTriple[]> {
    return this.read((sql) => quarantine(sql, tenant, state, limit));
  }

  decideQuarantine(decision: Parameters<KnowledgeGraph['decideQuarantine']>[0]): Promise<QuarantinedTriple | null> {
    return this.write((sql) => decide(sql, decision));
  }

  adjustTrust(rating: Parameters<KnowledgeGraph['adjustTrust']>[0]): Promise<{ readonly relations: number; readonly syntheses: number }> {
    return this.write((sql) => rate(sql, rating));
  }

  forget({ tenant, runId }: Parameters<KnowledgeGraph['forget']>[0]): Promise<{ readonly relations: number; readonly syntheses: number }> {
    return this.write((sql) => forget(sql, tenant, runId));
  }

  scrub(): Promise<void> {
    return this.guarded(() => this.store.scrub());
  }

  retrieve(query: GraphQuery): Promise<GraphContext> {
    return this.guarded(() =>
      retrieveThrough(
        readingOf((work) => this.store.read(work), query.tenant),
        query,
      ),
    );
  }

  entities({ tenant, search, after, limit }: EntityQuery): Promise<readonly EntityNode[]> {
    return this.read((sql) =>
      sql.all<EntityNode>(
        'SELECT normal, name, type FROM graph_entity WHERE tenant = ? AND normal > ? AND instr(normal, ?) > 0 ORDER BY normal LIMIT ?',
        tenant,
        after,
        search,
        limit,
      ),
    );
  }

  neighbours({ tenant, entity, ...page }: NeighbourQuery): Promise<Neighbourhood | null> {
    const reading = readingOf((work) => this.store.read(work), tenant);
    return this.guarded(() => neighboursThrough(reading, { ...page, entity: normaliseEntity(entity) }));
  }

  stats(tenant: string): Promise<GraphStats> {
    return this.read((sql) => stats(sql, tenant));
  }

  async health(): Promise<string | null> {
    return this.closed ? 'The knowledge graph is closed.' : this.store.health();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  private read<T>(work: (sql: Statements) => T): Promise<T> {
    return this.guarded(async () => this.store.read(work));
  }

  private write<T>(work: (sql: Statements) => T): Promise<T> {
    return this.guarded(() => this.store.write(({ sql }) => work(sql)));
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
    try {
      return await work();
    } catch (error) {
      throw error instanceof Failure ? new Failure('GRAPH_UNAVAILABLE', error.message, { cause: error }) : error;
    }
  }
}

function addSynthesis(sql: Statements, synthesis: SynthesisWrite): { readonly id: string; readonly created: boolean } {
  const { tenant, runId, insight, domain, confidence, at } = synthesis;
  const learned = sql.get<{ id: string }>(
    'SELECT synthesis_id AS id FROM graph_synthesis_run WHERE tenant = ? AND run_id = ?',
    tenant,
    runId,
  );
  if (learned) return { id: learned.id, created: false };
  const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
  const { good, bad } = ratingsOf(sql, tenant, [runId]);
  const added = sql.run(
    'INSERT INTO graph_synthesis (tenant, id, text, insight_type, domain, confidence, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    tenant,
    id,
    insight.summary,
    insight.insight_type,
    domain,
    confidence,
    at,
  );
  const origin = originOf(synthesis);
  sql.run(
    'INSERT INTO graph_synthesis_run (tenant, run_id, synthesis_id, at, answer, sources) VALUES (?, ?, ?, ?, ?, ?)',
    tenant,
    runId,
    id,
    origin.at,
    origin.answer,
    sourcesText(origin.sources),
  );
  sql.run('UPDATE graph_synthesis SET good = good + ?, bad = bad + ? WHERE tenant = ? AND id = ?', good, bad, tenant, id);
  if (added === 0) return { id, created: false };
  const entities = namedEntities(insight.entities);
  putEntities(sql, tenant, entities);
  for (const { normal } of entities)
    sql.run('INSERT INTO graph_related (tenant, entity, synthesis_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', tenant, normal, id);
  return { id, created: true };
}
