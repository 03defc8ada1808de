import {
  functionalTypes,
  planDecision,
  planTriples,
  rated,
  touchedBy,
  type EntityWrite,
  type GraphStats,
  type KnowledgeGraph,
  type NamedRelation,
  type QuarantinedTriple,
  type Ratings,
  type StoredRelation,
  type TriplesAdded,
  type TripleWrite,
} from '@conclave/ports';
import type { RelationType } from '@conclave/contracts';
import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import * as statements from './statements.js';

/** A transaction whose statements all have the tenant and the mark of this write. */
export class TenantTransaction {
  constructor(
    private readonly transaction: ManagedTransaction,
    readonly tenant: string,
    readonly write: string,
  ) {}

  async run<Row extends object>(statement: string, parameters: object = {}): Promise<readonly Row[]> {
    const { records } = await this.transaction.run(statement, { ...parameters, tenant: this.tenant, write: this.write });
    return records.map((record) => record.toObject() as Row);
  }

  async lock(): Promise<void> {
    await this.run(statements.lock);
  }

  /** Call before writing anything that names the entities. */
  async putEntities(entities: readonly EntityWrite[]): Promise<void> {
    if (entities.length === 0) return;
    const rows = entities.map((entity) => ({ ...entity, words: neo4j.int(entity.words) }));
    await this.run(statements.putEntities, { entities: rows });
    const known = entities.filter(({ aliases }) => aliases.length > 0);
    if (known.length > 0) await this.run(statements.putAliases, { entities: known.map(({ normal, aliases }) => ({ normal, aliases })) });
  }

  async ratings(runs: readonly string[]): Promise<Ratings> {
    const [found] = await this.run<Ratings>(statements.ratings, { runs });
    return found!;
  }
}

export interface RelationRow {
  readonly relation: Omit<NamedRelation, 'subjectName' | 'objectName' | 'subjectType' | 'objectType'>;
  readonly subjectName: string;
  readonly objectName: string;
  readonly subjectType: string;
  readonly objectType: string;
}
export const relationOf = ({ relation, ...ends }: RelationRow): NamedRelation => ({ ...relation, ...ends });

/** Call in one transaction that holds the tenant's lock. */
export async function addTriples(at: TenantTransaction, write: Omit<TripleWrite, 'tenant'>): Promise<TriplesAdded> {
  const { eventId, runId } = write;
  await at.lock();
  const [before] = await at.run<{ result: string }>(statements.ingested, { id: eventId });
  if (before) return JSON.parse(before.result) as TriplesAdded;
  const { normals, ids } = touchedBy(write.triples);
  const plan = planTriples(write, {
    relations: await meeting(at, normals),
    quarantined: await entries(at, ids),
    taught: new Set((await at.run<{ relation: string }>(statements.taughtBy, { runId })).map(({ relation }) => relation)),
    ratings: await at.ratings([runId]),
  });
  await store(at, plan, [runId]);
  await putEntries(at, plan.quarantine);
  await at.run(statements.putIngested, { id: eventId, runId, result: JSON.stringify(plan.result) });
  return plan.result;
}

export async function decide(
  at: TenantTransaction,
  decision: Omit<Parameters<KnowledgeGraph['decideQuarantine']>[0], 'tenant'>,
): Promise<QuarantinedTriple | null> {
  await at.lock();
  const [entry] = await entries(at, [decision.id]);
  if (entry?.state !== 'open') return entry ?? null;
  const plan = planDecision(entry, decision, {
    relations: await meeting(at, touchedBy([entry]).normals),
    ratings: await at.ratings(entry.runs),
  });
  await store(at, plan, entry.runs);
  await putEntries(at, [plan.entry]);
  return plan.entry;
}

export async function rate(
  at: TenantTransaction,
  { runId, eventId, positive }: Omit<Parameters<KnowledgeGraph['adjustTrust']>[0], 'tenant'>,
): Promise<{ readonly relations: number; readonly syntheses: number }> {
  await at.lock();
  const taught = (await at.run<RelationRow>(statements.taughtRelations, { runId })).map(relationOf);
  const [marked] = await at.run<{ mine: boolean }>(statements.putRating, { id: eventId, runId, positive });
  const rating = marked!.mine ? { good: positive ? 1 : 0, bad: positive ? 0 : 1 } : { good: 0, bad: 0 };
  if (marked!.mine)
    await putRelations(
      at,
      taught.map((relation) => rated(relation, rating)),
    );
  const [learned] = await at.run<{ syntheses: number }>(statements.rateSyntheses, {
    runId,
    good: neo4j.int(rating.good),
    bad: neo4j.int(rating.bad),
  });
  return { relations: taught.length, syntheses: learned!.syntheses };
}

export async function listQuarantined(at: TenantTransaction, state: string, limit: number): Promise<readonly QuarantinedTriple[]> {
  const rows = await at.run<{ entry: string }>(statements.listQuarantined, { state, limit: neo4j.int(limit) });
  return rows.map(({ entry }) => JSON.parse(entry) as QuarantinedTriple);
}

export async function stats(at: TenantTransaction): Promise<GraphStats> {
  const [found] = await at.run<GraphStats>(statements.stats);
  return found!;
}

const meeting = async (at: TenantTransaction, entities: readonly string[]): Promise<readonly StoredRelation[]> =>
  (await at.run<RelationRow>(statements.meeting, { entities, functional: functionalTypes })).map(relationOf);

const entries = async (at: TenantTransaction, ids: readonly string[]): Promise<readonly QuarantinedTriple[]> =>
  (await at.run<{ entry: string }>(statements.quarantined, { ids })).map(({ entry }) => JSON.parse(entry) as QuarantinedTriple);

export async function putEntries(at: TenantTransaction, all: readonly QuarantinedTriple[]): Promise<void> {
  if (all.length === 0) return;
  const rows = all.map((entry) => ({ id: entry.id, state: entry.state, at: neo4j.int(entry.at), entry: JSON.stringify(entry) }));
  await at.run(statements.putQuarantined, { entries: rows });
}

interface Learned {
  readonly entities: readonly EntityWrite[];
  readonly relations: readonly StoredRelation[];
  readonly taught: readonly StoredRelation[];
}

async function store(at: TenantTransaction, { entities, relations, taught }: Learned, runs: readonly string[]): Promise<void> {
  await at.putEntities(entities);
  await putRelations(at, relations);
  if (taught.length > 0)
    await at.run(statements.putTaught, { runs, relations: taught.map(({ id, subject, object }) => ({ id, subject, object })) });
}

export async function putRelations(at: TenantTransaction, all: readonly StoredRelation[]): Promise<void> {
  const byType = new Map<RelationType, object[]>();
  for (const one of all) {
    const row = {
      id: one.id,
      subject: one.subject,
      relation: one.relation,
      object: one.object,
      confidence: one.confidence,
      doubt: one.doubt,
      good: neo4j.int(one.good),
      bad: neo4j.int(one.bad),
      trust: one.trust,
      flagged: one.flagged,
      verified: one.verified,
      accepted: one.accepted,
      superseded: one.superseded,
      source: one.source,
      domain: one.domain,
      runId: one.runId,
      version: neo4j.int(one.version),
      at: neo4j.int(one.at),
    };
    byType.set(one.relation, [...(byType.get(one.relation) ?? []), row]);
  }
  for (const [type, relations] of byType) await at.run(statements.putRelations[type], { relations });
}
