import { createHash } from 'node:crypto';
import { isRelationType, relations, relationSentence, type RelationSpec, type RelationType } from '@conclave/contracts';
import { entityName, wordsOf, type EntityName } from './entity-name.js';
import type { QuarantinedTriple, Triple, TripleWrite, TriplesAdded } from './graph.js';
import type { StoredRelation } from './nodes.js';
import { doubtOf, isFlagged, sourceWeights, trustOf } from './trust.js';

export interface EntityWrite extends EntityName {
  readonly id: string;
  readonly type: string;
  /** Number of its search words. */
  readonly words: number;
  readonly terms: readonly { readonly text: string; readonly exact: boolean }[];
}

export interface Ratings {
  readonly good: number;
  readonly bad: number;
}

/** Existing knowledge that a write can affect. */
export interface Known {
  /** Relations between the entities of the write, and all functional ones of its subjects. */
  readonly relations: readonly StoredRelation[];
  /** Entries with the ids of its triples, in any state. */
  readonly quarantined: readonly QuarantinedTriple[];
  /** Ids of relations that the run has already taught. */
  readonly taught: ReadonlySet<string>;
  /** Ratings of the run so far. */
  readonly ratings: Ratings;
}

/** All changes of a write, in storage order. */
export interface TriplePlan {
  readonly entities: readonly EntityWrite[];
  readonly relations: readonly StoredRelation[];
  readonly quarantine: readonly QuarantinedTriple[];
  readonly taught: readonly StoredRelation[];
  readonly result: TriplesAdded;
}

const longestType = 40;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

export function entityWrite(entity: EntityName, type = ''): EntityWrite {
  const words = wordsOf(entity.normal);
  const terms = [...words.map((text) => ({ text, exact: false })), ...entity.aliases.map((text) => ({ text, exact: true }))];
  return { ...entity, id: hash(entity.normal), type: (entityName(type)?.normal ?? '').slice(0, longestType), words: words.length, terms };
}

/** Equal relations have equal ids; a symmetric relation has the same id in both directions. */
export function relationId(subject: string, relation: RelationType, object: string): string {
  const spec: RelationSpec = relations[relation];
  const [one, other] = spec.symmetric && object < subject ? [object, subject] : [subject, object];
  return hash(JSON.stringify([one, relation, other]));
}

interface Read {
  readonly triple: Triple;
  readonly id: string;
  readonly subject: EntityName;
  readonly object: EntityName;
}

function read(triple: Triple): Read | null {
  const subject = entityName(triple.subject);
  const object = entityName(triple.object);
  if (!subject || !object || subject.normal === object.normal || !isRelationType(triple.relation)) return null;
  if (!(triple.confidence > 0) || triple.confidence > 1) return null;
  return { triple, id: relationId(subject.normal, triple.relation, object.normal), subject, object };
}

/** What must be read before a write can be planned. */
export function touchedBy(triples: readonly Triple[]): { readonly normals: readonly string[]; readonly ids: readonly string[] } {
  const all = triples.map(read).filter((one) => one !== null);
  return {
    normals: [...new Set(all.flatMap(({ subject, object }) => [subject.normal, object.normal]))].sort(),
    ids: [...new Set(all.map(({ id }) => id))],
  };
}

export const functionalTypes = (Object.keys(relations) as RelationType[]).filter((type) => 'functional' in relations[type]);

/** `1932` and `1932-05-04` do not contradict each other: one is a more precise form of the other. */
function refines(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return long.startsWith(short) && /^[^\p{L}\p{N}]/u.test(long.slice(short.length));
}

/** Why a relation contradicts another one; null if both can be true. */
export function contradiction(
  one: { readonly subject: string; readonly relation: RelationType; readonly object: string },
  other: { readonly subject: string; readonly relation: RelationType; readonly object: string },
): QuarantinedTriple['reason'] | null {
  const spec: RelationSpec = relations[one.relation];
  const back: RelationSpec = relations[other.relation];
  if (one.subject === other.subject && one.object === other.object)
    return spec.opposes?.includes(other.relation) || back.opposes?.includes(one.relation) ? 'opposed' : null;
  if (one.relation !== other.relation) return null;
  if (spec.oneWay && one.subject === other.object && one.object === other.subject) return 'inverse';
  if (spec.functional && one.subject === other.subject && !refines(one.object, other.object)) return 'replaced';
  return null;
}

const told = (relation: StoredRelation): StoredRelation => {
  const flagged = relation.superseded || isFlagged(relation);
  const verified = !flagged && (relation.accepted || relation.good > relation.bad);
  return { ...relation, trust: trustOf(relation), flagged, verified };
};

/** The relation with the change applied and its version raised. */
export const changed = (relation: StoredRelation, change: Partial<StoredRelation>): StoredRelation =>
  told({ ...relation, ...change, version: relation.version + 1 });

export const rated = (relation: StoredRelation, { good, bad }: Ratings): StoredRelation =>
  good + bad === 0 ? relation : changed(relation, { good: relation.good + good, bad: relation.bad + bad });

function newRelation(
  { triple, id, subject, object }: Read,
  more: Pick<StoredRelation, 'source' | 'domain' | 'runId' | 'at' | 'accepted'> & Ratings,
): StoredRelation {
  const { relation, confidence } = triple;
  return told({
    id,
    subject: subject.normal,
    relation,
    object: object.normal,
    subjectName: subject.name,
    objectName: object.name,
    confidence,
    doubt: doubtOf(confidence, more.source),
    superseded: false,
    version: 1,
    trust: 0,
    flagged: false,
    verified: false,
    ...more,
  });
}

export const sentenceOf = ({ subjectName, relation, objectName }: StoredRelation): string =>
  relationSentence({ subject: subjectName, relation, object: objectName });

/** Decides every triple of a write in order; later ones see the effects of earlier ones. */
export function planTriples({ triples, source, runId, domain, at }: Omit<TripleWrite, 'tenant' | 'eventId'>, known: Known): TriplePlan {
  const standing = new Map(known.relations.map((relation) => [relation.id, relation]));
  const waiting = new Map(known.quarantined.map((entry) => [entry.id, entry]));
  const taught = new Map<string, StoredRelation>();
  const touched = new Set<string>();
  const entities: EntityWrite[] = [];
  const quarantined = new Map<string, QuarantinedTriple>();
  let added = 0;
  let confirmed = 0;
  let refused = 0;
  const weight = Object.hasOwn(sourceWeights, source) ? source : 'correction';
  for (const triple of triples) {
    const one = read(triple);
    const entry = one && waiting.get(one.id);
    const present = one && standing.get(one.id);
    if (!one || (!present && entry?.state === 'rejected')) {
      refused += 1;
      continue;
    }
    if (present) {
      if (known.taught.has(one.id) || taught.has(one.id)) continue;
      const again = rated(changed(present, { doubt: present.doubt * doubtOf(triple.confidence, weight) }), known.ratings);
      standing.set(one.id, again);
      taught.set(one.id, again);
      touched.add(one.id);
      confirmed += 1;
      continue;
    }
    const asStored = { subject: one.subject.normal, relation: triple.relation, object: one.object.normal };
    const against = [...standing.values()].flatMap((other) => {
      const reason = other.flagged ? null : contradiction(asStored, other);
      return reason ? [{ reason, other }] : [];
    });
    if (entry || against.length > 0) {
      const { subject, object } = one;
      const now: QuarantinedTriple = entry ?? {
        ...triple,
        subject: subject.name,
        object: object.name,
        id: one.id,
        source: weight,
        domain,
        reason: against[0]!.reason,
        contradicts: against.map(({ other }) => sentenceOf(other)).sort(),
        runs: [],
        at,
        state: 'open',
        decidedBy: null,
        decidedAt: null,
      };
      const kept = now.runs.includes(runId) ? now : { ...now, runs: [...now.runs, runId] };
      waiting.set(one.id, kept);
      quarantined.set(one.id, kept);
      continue;
    }
    entities.push(entityWrite(one.subject, triple.subjectType), entityWrite(one.object, triple.objectType));
    const fresh = newRelation(one, { source: weight, domain, runId, at, accepted: false, ...known.ratings });
    standing.set(one.id, fresh);
    taught.set(one.id, fresh);
    touched.add(one.id);
    added += 1;
  }
  const quarantine = [...quarantined.values()];
  return {
    entities: merged(entities),
    relations: [...touched].map((id) => standing.get(id)!),
    quarantine,
    taught: [...taught.values()],
    result: { added, confirmed, refused, quarantined: quarantine },
  };
}

/** One write per entity, ordered by normal form, so that two writers cannot deadlock. */
function merged(entities: readonly EntityWrite[]): readonly EntityWrite[] {
  const byNormal = new Map<string, EntityWrite>();
  for (const entity of entities) {
    const first = byNormal.get(entity.normal);
    const aliases = [...new Set([...(first?.aliases ?? []), ...entity.aliases])];
    byNormal.set(entity.normal, entityWrite({ ...(first ?? entity), aliases }, first?.type || entity.type));
  }
  return [...byNormal.values()].sort((a, b) => (a.normal < b.normal ? -1 : 1));
}

/** The entities of a synthesis, which consist of names only. */
export const namedEntities = (names: readonly string[]): readonly EntityWrite[] =>
  merged(
    names
      .map(entityName)
      .filter((entity) => entity !== null)
      .map((entity) => entityWrite(entity)),
  );

export interface DecisionPlan extends Omit<TriplePlan, 'result' | 'quarantine'> {
  readonly entry: QuarantinedTriple;
}

/** Changes made by deciding an open entry. `ratings`: of all runs that stated it. */
export function planDecision(
  entry: QuarantinedTriple,
  { accept, actor, at }: { readonly accept: boolean; readonly actor: string; readonly at: number },
  known: Pick<Known, 'relations' | 'ratings'>,
): DecisionPlan {
  const decided: QuarantinedTriple = { ...entry, state: accept ? 'accepted' : 'rejected', decidedBy: actor, decidedAt: at };
  const one = accept ? read(entry) : null;
  if (!one) return { entry: decided, entities: [], relations: [], taught: [] };
  const fresh = newRelation(one, {
    source: entry.source,
    domain: entry.domain,
    runId: entry.runs[0]!,
    at,
    accepted: true,
    ...known.ratings,
  });
  const superseded = known.relations
    .filter((other) => !other.flagged && contradiction(fresh, other) !== null)
    .map((other) => changed(other, { superseded: true }));
  return {
    entry: decided,
    entities: merged([entityWrite(one.subject, entry.subjectType), entityWrite(one.object, entry.objectType)]),
    relations: [fresh, ...superseded],
    taught: [fresh],
  };
}
