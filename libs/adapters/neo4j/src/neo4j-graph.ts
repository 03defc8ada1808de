import { createHash, randomUUID } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import { normaliseEntity, type KnowledgeGraph, type SynthesisNode, type SynthesisWrite } from '@conclave/ports';
import neo4j, { Neo4jError, type Driver, type ManagedTransaction } from 'neo4j-driver';

export interface Neo4jGraphOptions {
  /** bolt:// or neo4j://, with +s for TLS. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Absent = the default database. */
  readonly database?: string;
  /** Put before every tenant: installations that share a database never see each other. */
  readonly namespace?: string;
  /** Bound of the repetitions of one transaction, and of the wait for a connection, milliseconds. */
  readonly timeoutMs?: number;
}

/** Unique keys begin with the tenant. They are what makes two writers of one node wait for each other. */
const schema = [
  'CREATE CONSTRAINT conclave_synthesis IF NOT EXISTS FOR (n:Synthesis) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_entity IF NOT EXISTS FOR (n:Entity) REQUIRE (n.tenant, n.normal) IS UNIQUE',
  'CREATE CONSTRAINT conclave_learned_run IF NOT EXISTS FOR (n:LearnedRun) REQUIRE (n.tenant, n.id) IS UNIQUE',
];

/** The first write of a run holds for ever: `$write` tells this write's own repetition from another one. */
const claimRun = `MERGE (run:LearnedRun {tenant: $tenant, id: $runId})
ON CREATE SET run.synthesis = $id, run.write = $write
RETURN run.synthesis AS id, run.write = $write AS mine`;

const addNode = `MERGE (s:Synthesis {tenant: $tenant, id: $id})
ON CREATE SET s.text = $text, s.insight_type = $insightType, s.domain = $domain, s.confidence = $confidence, s.at = $at, s.write = $write
WITH s
MATCH (run:LearnedRun {tenant: $tenant, id: $runId})
MERGE (run)-[:LEARNED]->(s)
RETURN s.write = $write AS created`;

const addLinks = `MATCH (s:Synthesis {tenant: $tenant, id: $id})
UNWIND $entities AS entity
MERGE (e:Entity {tenant: $tenant, normal: entity.normal})
ON CREATE SET e.name = entity.name
MERGE (s)-[:RELATED_TO]->(e)`;

const find = `MATCH (e:Entity {tenant: $tenant})<-[:RELATED_TO]-(s:Synthesis {tenant: $tenant})
WHERE e.normal IN $entities
WITH DISTINCT s ORDER BY s.at DESC, s.id LIMIT $limit
RETURN s.id AS id, s.text AS text, s.insight_type AS insightType, s.domain AS domain, s.confidence AS confidence,
  COLLECT { MATCH (s)-[:RELATED_TO]->(about:Entity) RETURN about.name ORDER BY about.normal } AS entities,
  COLLECT { MATCH (run:LearnedRun)-[:LEARNED]->(s) RETURN run.id ORDER BY run.id } AS runs
ORDER BY s.at DESC, s.id`;

/**
 * The knowledge graph in Neo4j 5: `(:Synthesis)-[:RELATED_TO]->(:Entity)`, `(:LearnedRun)-[:LEARNED]->(:Synthesis)`.
 * Opens no connection by itself; constraints are made before the first question, again after a failure.
 */
export class Neo4jGraph implements KnowledgeGraph {
  readonly #driver: Driver;
  readonly #database: { readonly database?: string };
  readonly #namespace: string;
  #schema: Promise<void> | null = null;
  #closed = false;

  constructor({ url, user, password, database, namespace = '', timeoutMs = 10_000 }: Neo4jGraphOptions) {
    this.#database = database ? { database } : {};
    this.#namespace = namespace;
    this.#driver = neo4j.driver(url, neo4j.auth.basic(user, password), {
      disableLosslessIntegers: true,
      maxTransactionRetryTime: timeoutMs,
      connectionAcquisitionTimeout: timeoutMs,
      connectionTimeout: Math.min(5_000, timeoutMs),
      maxConnectionPoolSize: 20,
      telemetryDisabled: true,
      userAgent: 'conclave',
    });
  }

  addSynthesis({
    tenant,
    runId,
    insight,
    domain,
    confidence,
    at,
  }: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }> {
    const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
    const keys = { tenant: this.#namespace + tenant, runId, id, write: randomUUID() };
    const node = { text: insight.summary, insightType: insight.insight_type, domain, confidence, at: neo4j.int(at) };
    const entities = [...new Map(insight.entities.map((name) => [normaliseEntity(name), name.trim()] as const))]
      .filter(([normal]) => normal !== '')
      // Every writer takes the entities in the same order, so that two of them cannot wait for each other.
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([normal, name]) => ({ normal, name }));
    return this.#write(async (transaction) => {
      const claim = (await transaction.run<{ id: string; mine: boolean }>(claimRun, keys)).records[0]!.toObject();
      if (!claim.mine) return { id: claim.id, created: false };
      const added = (await transaction.run<{ created: boolean }>(addNode, { ...keys, ...node })).records[0]!.toObject();
      if (added.created && entities.length > 0) await transaction.run(addLinks, { ...keys, entities });
      return { id, created: added.created };
    });
  }

  synthesesAbout({
    tenant,
    entities,
    limit,
  }: {
    tenant: string;
    entities: readonly string[];
    limit: number;
  }): Promise<readonly SynthesisNode[]> {
    const normal = [...new Set(entities.map(normaliseEntity))];
    const parameters = { tenant: this.#namespace + tenant, entities: normal, limit: neo4j.int(Math.max(0, Math.floor(limit))) };
    return this.#guarded(async () => {
      const session = this.#driver.session(this.#database);
      try {
        const { records } = await session.executeRead((transaction) =>
          transaction.run<SynthesisNode & Record<string, unknown>>(find, parameters),
        );
        return records.map((record) => record.toObject());
      } finally {
        await session.close();
      }
    });
  }

  async health(): Promise<string | null> {
    try {
      await this.#guarded(() => this.#driver.verifyConnectivity(this.#database));
      return null;
    } catch (error) {
      return error instanceof Failure ? error.message : String(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#driver.close();
  }

  /** Removes everything of this namespace, 1,000 nodes at a time. Refuses to do so without a namespace. */
  async removeAll(): Promise<void> {
    if (this.#namespace === '') throw new Error('Only a graph with a namespace can be removed as a whole.');
    const remove = `MATCH (n:Synthesis|Entity|LearnedRun) WHERE n.tenant STARTS WITH $namespace
      WITH n LIMIT 1000 DETACH DELETE n RETURN count(*) AS removed`;
    let removed: number;
    do {
      removed = await this.#write(async (transaction) => {
        const { records } = await transaction.run<{ removed: number }>(remove, { namespace: this.#namespace });
        return records[0]?.get('removed') ?? 0;
      });
    } while (removed > 0);
  }

  /** A transaction that the driver repeats while that can help: `work` may run several times. */
  #write<T>(work: (transaction: ManagedTransaction) => Promise<T>): Promise<T> {
    return this.#guarded(async () => {
      const session = this.#driver.session(this.#database);
      try {
        return await session.executeWrite(work);
      } finally {
        await session.close();
      }
    });
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
    try {
      await (this.#schema ??= this.#prepare());
      return await work();
    } catch (error) {
      throw failureOf(error, this.#closed);
    }
  }

  async #prepare(): Promise<void> {
    const session = this.#driver.session(this.#database);
    try {
      for (const statement of schema) await session.executeWrite((transaction) => transaction.run(statement));
    } catch (error) {
      this.#schema = null;
      throw error;
    } finally {
      await session.close();
    }
  }
}

/** Outages as GRAPH_UNAVAILABLE with what to do; a statement that the server does not understand is a bug and stays itself. */
function failureOf(error: unknown, closed: boolean): unknown {
  if (closed) return new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
  if (!(error instanceof Neo4jError)) return error;
  const { code } = error;
  if (/^Neo\.ClientError\.Security/.test(code)) {
    return new Failure(
      'GRAPH_UNAVAILABLE',
      `Neo4j does not accept the user or the password (${code}). Check NEO4J_USER and NEO4J_PASSWORD.`,
    );
  }
  if (/^Neo\.ClientError\.Database/.test(code)) return new Failure('GRAPH_UNAVAILABLE', `Neo4j has no such database (${code}).`);
  if (/^Neo\.ClientError\./.test(code)) return error;
  return new Failure('GRAPH_UNAVAILABLE', `Neo4j: ${code}.`, { cause: error });
}
