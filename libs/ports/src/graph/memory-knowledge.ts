import type { GraphReading } from './graph-context.js';
import type { EntityNode, EntityQuery, LinkedSynthesis, NamedRelation, StoredRelation } from './nodes.js';
import type {
  GraphStats,
  KnowledgeGraph,
  QuarantinedTriple,
  SynthesisKey,
  SynthesisOrigin,
  SynthesisRecord,
  SynthesisWrite,
  TriplesAdded,
  TripleWrite,
} from './graph.js';
import { planForgetting } from './forgetting.js';
import { byTime, originOf } from './synthesis-origin.js';
import {
  functionalTypes,
  namedEntities,
  planDecision,
  planTriples,
  rated,
  touchedBy,
  type EntityWrite,
  type Ratings,
} from './triple-policy.js';
import { isFlagged, synthesisTrust } from './trust.js';

interface KeptSynthesis {
  readonly write: SynthesisWrite;
  readonly about: readonly string[];
  readonly origins: Map<string, SynthesisOrigin>;
  good: number;
  bad: number;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byTrust = (a: StoredRelation, b: StoredRelation): number => b.trust - a.trust || compare(a.id, b.id);

/** The knowledge of one tenant. */
export class MemoryKnowledge {
  private readonly entities = new Map<string, EntityWrite>();
  private readonly relations = new Map<string, StoredRelation>();
  private readonly syntheses = new Map<string, KeptSynthesis>();
  private readonly quarantinedById = new Map<string, QuarantinedTriple>();
  private readonly events = new Map<string, TriplesAdded>();
  private readonly taught = new Map<string, Set<string>>();
  /** Event id -> rating. */
  private readonly ratings = new Map<string, { readonly runId: string; readonly positive: boolean }>();

  page({ search, after, limit }: Omit<EntityQuery, 'tenant'>): readonly EntityNode[] {
    return [...this.entities.values()]
      .filter(({ normal }) => normal > after && normal.includes(search))
      .sort((a, b) => compare(a.normal, b.normal))
      .slice(0, limit)
      .map(({ normal, name, type }) => ({ normal, name, type }));
  }

  addSynthesis(id: string, write: SynthesisWrite): boolean {
    const kept = this.syntheses.get(id);
    const { good, bad } = this.ratingsOf([write.runId]);
    if (kept) {
      kept.origins.set(write.runId, originOf(write));
      kept.good += good;
      kept.bad += bad;
      return false;
    }
    const entities = namedEntities(write.insight.entities);
    entities.forEach((entity) => this.put(entity));
    const about = entities.map(({ normal }) => normal);
    this.syntheses.set(id, { write: structuredClone(write), about, origins: new Map([[write.runId, originOf(write)]]), good, bad });
    return true;
  }

  addTriples(write: TripleWrite): TriplesAdded {
    const before = this.events.get(write.eventId);
    if (before) return before;
    const { normals, ids } = touchedBy(write.triples);
    const plan = planTriples(write, {
      relations: this.meeting(normals),
      quarantined: ids.flatMap((id) => this.quarantinedById.get(id) ?? []),
      taught: this.taught.get(write.runId) ?? new Set(),
      ratings: this.ratingsOf([write.runId]),
    });
    this.store(plan, [write.runId]);
    for (const entry of plan.quarantine) this.quarantinedById.set(entry.id, entry);
    this.events.set(write.eventId, plan.result);
    return plan.result;
  }

  quarantine(state: QuarantinedTriple['state']): readonly QuarantinedTriple[] {
    return [...this.quarantinedById.values()].filter((entry) => entry.state === state).sort((a, b) => b.at - a.at || compare(a.id, b.id));
  }

  decide(decision: Parameters<KnowledgeGraph['decideQuarantine']>[0]): QuarantinedTriple | null {
    const entry = this.quarantinedById.get(decision.id);
    if (!entry || entry.state !== 'open') return entry ?? null;
    const { normals } = touchedBy([entry]);
    const plan = planDecision(entry, decision, { relations: this.meeting(normals), ratings: this.ratingsOf(entry.runs) });
    this.store(plan, entry.runs);
    this.quarantinedById.set(entry.id, plan.entry);
    return plan.entry;
  }

  rate({ runId, eventId, positive }: Parameters<KnowledgeGraph['adjustTrust']>[0]): { relations: number; syntheses: number } {
    const taught = [...(this.taught.get(runId) ?? [])];
    const learned = [...this.syntheses.values()].filter(({ origins }) => origins.has(runId));
    if (!this.ratings.has(eventId)) {
      this.ratings.set(eventId, { runId, positive });
      const rating = { good: positive ? 1 : 0, bad: positive ? 0 : 1 };
      for (const id of taught) this.relations.set(id, rated(this.relations.get(id)!, rating));
      for (const synthesis of learned) {
        synthesis.good += rating.good;
        synthesis.bad += rating.bad;
      }
    }
    return { relations: taught.length, syntheses: learned.length };
  }

  forget(runId: string): { relations: number; syntheses: number } {
    const taught = [...(this.taught.get(runId) ?? [])];
    this.taught.delete(runId);
    const others = new Map<string, string>();
    for (const [run, ids] of [...this.taught].sort(([a], [b]) => compare(b, a))) for (const id of ids) others.set(id, run);
    const ratings = this.ratingsOf([runId]);
    const plan = planForgetting({
      ...{ runId, others, ratings, relations: taught.map((id) => this.relations.get(id)!) },
      entries: [...this.quarantinedById.values()],
    });
    for (const { id } of plan.removed) this.relations.delete(id);
    for (const relation of plan.kept) this.relations.set(relation.id, relation);
    for (const id of plan.removedEntries) this.quarantinedById.delete(id);
    for (const entry of plan.keptEntries) this.quarantinedById.set(entry.id, entry);
    const named = new Set(plan.removed.flatMap(({ subject, object }) => [subject, object]));
    let syntheses = 0;
    for (const [id, kept] of this.syntheses) {
      if (!kept.origins.delete(runId)) continue;
      kept.good -= ratings.good;
      kept.bad -= ratings.bad;
      if (kept.origins.size > 0) continue;
      this.syntheses.delete(id);
      kept.about.forEach((normal) => named.add(normal));
      syntheses += 1;
    }
    for (const normal of named) if (!this.isNamed(normal)) this.entities.delete(normal);
    for (const [id, rating] of this.ratings) if (rating.runId === runId) this.ratings.delete(id);
    for (const id of this.events.keys()) if (id.startsWith(`${runId}/`)) this.events.delete(id);
    return { relations: plan.removed.length, syntheses };
  }

  private isNamed(normal: string): boolean {
    const inRelation = [...this.relations.values()].some(({ subject, object }) => subject === normal || object === normal);
    return inRelation || [...this.syntheses.values()].some(({ about }) => about.includes(normal));
  }

  stats(): GraphStats {
    return {
      entities: this.entities.size,
      relations: this.relations.size,
      flagged: [...this.relations.values()].filter(({ flagged }) => flagged).length,
      syntheses: this.syntheses.size,
      quarantined: this.quarantine('open').length,
    };
  }

  reading(): GraphReading {
    return {
      candidates: ({ exact, words, common, limit }) => {
        const names = new Set(exact);
        const given = new Set(words.filter((word) => this.sharedBy(word) <= common));
        return [...this.entities.values()]
          .map((entity) => ({
            ...entity,
            exact: names.has(entity.normal) || entity.aliases.some((alias) => names.has(alias)),
            matched: entity.terms.filter((term) => !term.exact && given.has(term.text)).length,
          }))
          .filter(({ exact, matched, words }) => exact || (matched > 0 && matched * 2 >= words))
          .sort((a, b) => Number(b.exact) - Number(a.exact) || share(b) - share(a) || b.matched - a.matched || compare(a.id, b.id))
          .slice(0, limit);
      },
      around: (entities, perEntity) => entities.flatMap((entity) => this.around(entity).slice(0, perEntity)),
      syntheses: (entities, perEntity) => entities.flatMap((entity) => this.linked((normal) => normal === entity).slice(0, perEntity)),
    };
  }

  /** Unflagged syntheses about an entity, newest first. */
  linked(about: (normal: string) => boolean): readonly LinkedSynthesis[] {
    return [...this.syntheses]
      .filter(([, kept]) => !isFlagged(kept) && kept.about.some(about))
      .sort(([a, one], [b, other]) => other.write.at - one.write.at || compare(a, b))
      .map(([id, kept]) => this.linkOf(id, kept));
  }

  synthesis(by: SynthesisKey): SynthesisRecord | null {
    const found = [...this.syntheses].find(([id, { origins }]) => ('id' in by ? id === by.id : origins.has(by.runId)));
    if (!found) return null;
    const [id, kept] = found;
    const { about: _about, ...node } = this.linkOf(id, kept);
    return { ...node, flagged: isFlagged(kept), origins: [...kept.origins.values()].sort(byTime) };
  }

  private linkOf(id: string, { write, about, origins, good, bad }: KeptSynthesis): LinkedSynthesis {
    return {
      id,
      text: write.insight.summary,
      insightType: write.insight.insight_type,
      domain: write.domain,
      confidence: write.confidence,
      entities: about.map((normal) => this.entities.get(normal)!.name),
      runs: [...origins.keys()].sort(),
      trust: synthesisTrust({ confidence: write.confidence, good, bad }),
      about,
    };
  }

  private sharedBy(word: string): number {
    return [...this.entities.values()].filter(({ terms }) => terms.some(({ text, exact }) => !exact && text === word)).length;
  }

  private around(entity: string): readonly NamedRelation[] {
    return [...this.relations.values()]
      .filter(({ subject, object, flagged }) => !flagged && (subject === entity || object === entity))
      .sort(byTrust)
      .map((relation) => {
        const subject = this.entities.get(relation.subject)!;
        const object = this.entities.get(relation.object)!;
        return { ...relation, subjectName: subject.name, objectName: object.name, subjectType: subject.type, objectType: object.type };
      });
  }

  private meeting(normals: readonly string[]): readonly StoredRelation[] {
    const touched = new Set(normals);
    return [...this.relations.values()].filter(
      ({ subject, object, relation }) => touched.has(subject) && (touched.has(object) || functionalTypes.includes(relation)),
    );
  }

  private ratingsOf(runs: readonly string[]): Ratings {
    const of = [...this.ratings.values()].filter(({ runId }) => runs.includes(runId));
    const good = of.filter(({ positive }) => positive).length;
    return { good, bad: of.length - good };
  }

  private store(
    plan: {
      readonly entities: readonly EntityWrite[];
      readonly relations: readonly StoredRelation[];
      readonly taught: readonly StoredRelation[];
    },
    runs: readonly string[],
  ): void {
    plan.entities.forEach((entity) => this.put(entity));
    for (const relation of plan.relations) this.relations.set(relation.id, relation);
    for (const run of runs) {
      const taught = this.taught.get(run) ?? new Set();
      plan.taught.forEach(({ id }) => taught.add(id));
      this.taught.set(run, taught);
    }
  }

  /** Keeps the first name and the first known type; adds aliases. */
  private put(entity: EntityWrite): void {
    const first = this.entities.get(entity.normal);
    const terms = new Map([...(first?.terms ?? []), ...entity.terms].map((term) => [`${term.exact} ${term.text}`, term]));
    const aliases = [...new Set([...(first?.aliases ?? []), ...entity.aliases])];
    this.entities.set(entity.normal, {
      ...entity,
      name: first?.name ?? entity.name,
      type: first?.type || entity.type,
      aliases,
      terms: [...terms.values()],
    });
  }
}

const share = ({ matched, words }: { matched: number; words: number }): number => (words === 0 ? 0 : matched / words);
