import { createHash, randomUUID } from 'node:crypto';
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
import neo4j from 'neo4j-driver';
import { Neo4jConnection, type Neo4jGraphOptions } from './connection.js';
import { forget } from './forgetting.js';
import { addTriples, decide, listQuarantined, rate, stats, TenantTransaction } from './knowledge.js';
import { readingOf, recordOf, synthesisOf, type RecordRow, type SynthesisRow } from './reading.js';
import { labels } from './schema.js';
import * as statements from './statements.js';

/**
 * The knowledge graph in Neo4j 5.23 or newer: `(:Entity)-[:<type>]->(:Entity)` with a type of the allow-list,
 * `(:Synthesis)-[:RELATED_TO]->(:Entity)`, `(:LearnedRun)-[:LEARNED]->(:Synthesis)`, `(:Term)-[:NAMES]->(:Entity)` for words and
 * aliases; contradictions are nodes (`:Quarantined`), so that no path leads through them.
 */
export class Neo4jGraph implements KnowledgeGraph {
  private readonly connection: Neo4jConnection;
  private readonly namespace: string;

  constructor(options: Neo4jGraphOptions) {
    this.connection = new Neo4jConnection(options);
    this.namespace = options.namespace ?? '';
  }

  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }> {
    const { runId, insight, domain, confidence, at } = synthesis;
    const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
    const node = { text: insight.summary, insightType: insight.insight_type, domain, confidence, at: neo4j.int(at) };
    const { answer, sources } = originOf(synthesis);
    const origin = { at: node.at, answer, sources: sourcesText(sources) };
    const entities = namedEntities(insight.entities);
    return this.write(synthesis.tenant, async (transaction) => {
      await transaction.lock();
      const [claim] = await transaction.run<{ id: string; mine: boolean }>(statements.claimRun, { ...origin, runId, id });
      if (!claim!.mine) return { id: claim!.id, created: false };
      const { good, bad } = await transaction.ratings([runId]);
      const rating = { good: neo4j.int(good), bad: neo4j.int(bad) };
      const [added] = await transaction.run<{ created: boolean }>(statements.putSynthesis, { ...node, ...rating, runId, id });
      if (added!.created && entities.length > 0) {
        await transaction.putEntities(entities);
        await transaction.run(statements.linkSynthesis, { id, entities: entities.map(({ normal }) => ({ normal })) });
      }
      return { id, created: added!.created };
    });
  }

  synthesesAbout({ tenant, entities, limit }: Parameters<KnowledgeGraph['synthesesAbout']>[0]): Promise<readonly SynthesisNode[]> {
    const parameters = { entities: [...new Set(entities.map(normaliseEntity))], limit: whole(limit) };
    return this.read(tenant, async (transaction) => {
      const rows = await transaction.run<SynthesisRow>(statements.synthesesAbout, parameters);
      return rows.map((row): SynthesisNode => {
        const { trust: _trust, about: _about, ...node } = synthesisOf(row);
        return node;
      });
    });
  }

  synthesis({ tenant, by }: Parameters<KnowledgeGraph['synthesis']>[0]): Promise<SynthesisRecord | null> {
    return this.read(tenant, async (transaction) => {
      const [row] =
        'id' in by
          ? await transaction.run<RecordRow>(statements.synthesisById, { key: by.id })
          : await transaction.run<RecordRow>(statements.synthesisOfRun, { key: by.runId });
      return row ? recordOf(row) : null;
    });
  }

  addTriples(write: TripleWrite): Promise<TriplesAdded> {
    return this.write(write.tenant, (transaction) => addTriples(transaction, write));
  }

  quarantine({ tenant, limit, state = 'open' }: Parameters<KnowledgeGraph['quarantine']>[0]): Promise<readonly QuarantinedTriple[]> {
    return this.read(tenant, (transaction) => listQuarantined(transaction, state, Math.max(0, Math.floor(limit))));
  }

  decideQuarantine(decision: Parameters<KnowledgeGraph['decideQuarantine']>[0]): Promise<QuarantinedTriple | null> {
    return this.write(decision.tenant, (transaction) => decide(transaction, decision));
  }

  adjustTrust(rating: Parameters<KnowledgeGraph['adjustTrust']>[0]): Promise<{ readonly relations: number; readonly syntheses: number }> {
    return this.write(rating.tenant, (transaction) => rate(transaction, rating));
  }

  forget({ tenant, runId }: Parameters<KnowledgeGraph['forget']>[0]): Promise<{ readonly relations: number; readonly syntheses: number }> {
    return this.write(tenant, (transaction) => forget(transaction, runId));
  }

  retrieve(query: GraphQuery): Promise<GraphContext> {
    return this.read(query.tenant, (transaction) => retrieveThrough(readingOf(transaction), query));
  }

  entities({ tenant, search, after, limit }: EntityQuery): Promise<readonly EntityNode[]> {
    return this.read(tenant, (transaction) => transaction.run<EntityNode>(statements.entityPage, { search, after, limit: whole(limit) }));
  }

  neighbours({ tenant, entity, ...page }: NeighbourQuery): Promise<Neighbourhood | null> {
    return this.read(tenant, (transaction) => neighboursThrough(readingOf(transaction), { ...page, entity: normaliseEntity(entity) }));
  }

  stats(tenant: string): Promise<GraphStats> {
    return this.read(tenant, stats);
  }

  async health(): Promise<string | null> {
    try {
      await this.connection.verify();
      return null;
    } catch (error) {
      return error instanceof Failure ? error.message : String(error);
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** Removes everything in this namespace, 1,000 nodes at a time. Throws without a namespace. */
  async removeAll(): Promise<void> {
    if (this.namespace === '') throw new Error('Only a graph with a namespace can be removed as a whole.');
    const remove = `MATCH (n:${labels}) WHERE n.tenant STARTS WITH $namespace
      WITH n LIMIT 1000 DETACH DELETE n RETURN count(*) AS removed`;
    let removed: number;
    do {
      removed = await this.connection.write(async (transaction) => {
        const { records } = await transaction.run<{ removed: number }>(remove, { namespace: this.namespace });
        return records[0]?.get('removed') ?? 0;
      });
    } while (removed > 0);
  }

  /** All retries of a write share one mark. */
  private write<T>(tenant: string, work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    const mark = randomUUID();
    return this.connection.write((transaction) => work(new TenantTransaction(transaction, this.namespace + tenant, mark)));
  }

  private read<T>(tenant: string, work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    return this.connection.read((transaction) => work(new TenantTransaction(transaction, this.namespace + tenant, '')));
  }
}

const whole = (limit: number) => neo4j.int(Math.max(0, Math.floor(limit)));
