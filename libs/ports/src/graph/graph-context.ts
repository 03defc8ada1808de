import { relationSentence } from '@conclave/contracts';
import { entityName, wordsOf } from './entity-name.js';
import type { GraphContext, GraphQuery, RetrievedRelation, RetrievedSynthesis } from './graph.js';
import type { LinkedSynthesis, NamedRelation } from './nodes.js';

/** An entity that may match a term. */
export interface EntityCandidate {
  readonly normal: string;
  readonly name: string;
  readonly type: string;
  /** A term equals its name or an alias. */
  readonly exact: boolean;
  /** How many of its words occur in the terms, and how many words it has. */
  readonly matched: number;
  readonly words: number;
}

/** The three queries a store answers; the rest of a retrieval is the same in every adapter. */
export interface GraphReading {
  /**
   * Entities whose normal form or alias is in `exact`, and those with at least half of their words in `words`: exact ones first, then by
   * share of words, number of words and id. A word shared by more than `common` entities is ignored.
   */
  candidates(query: {
    readonly exact: readonly string[];
    readonly words: readonly string[];
    readonly common: number;
    readonly limit: number;
  }): Answer<EntityCandidate>;
  /** Unflagged relations from and to each of the entities: per entity the most trusted ones, then by id. */
  around(entities: readonly string[], perEntity: number): Answer<NamedRelation>;
  /** Unflagged syntheses linked to each of the entities: per entity the newest ones, then by id. */
  syntheses(entities: readonly string[], perEntity: number): Answer<LinkedSynthesis>;
}
type Answer<T> = readonly T[] | Promise<readonly T[]>;

/** `common`: a word shared by this many entities does not distinguish them, and reading them all is slow. */
const bounds = { terms: 32, common: 500, roots: 20, perRoot: 50, frontier: 60, perFrontier: 10, reached: 200, perReached: 10 } as const;

/** Relevance: 1 for an exact name, 0.6 x share of matching words; halved per hop; plus a quarter of the second entity's. */
const weights = { words: 0.6, hop: 0.5, second: 0.25, domain: 1.25 } as const;

/** Retrieves the context of a question, with the ranking and bounds that all adapters share. */
export async function retrieveThrough(reading: GraphReading, query: Omit<GraphQuery, 'tenant'>): Promise<GraphContext> {
  const terms = query.terms.slice(0, bounds.terms).flatMap((term) => entityName(term) ?? []);
  if (terms.length === 0 || query.limit < 1 || query.maxCharacters < 1) return { entities: [], relations: [], syntheses: [] };
  const roots = await reading.candidates({
    exact: [...new Set(terms.flatMap(({ normal, aliases }) => [normal, ...aliases]))],
    words: [...new Set(terms.flatMap(({ normal }) => wordsOf(normal)))],
    common: bounds.common,
    limit: bounds.roots,
  });
  if (roots.length === 0) return { entities: [], relations: [], syntheses: [] };
  const reached = new Map<string, Reached>();
  for (const { normal, exact, matched, words } of roots)
    reached.set(normal, { hops: 0, score: exact ? 1 : (weights.words * matched) / words });

  const near = unique(await reading.around([...reached.keys()], bounds.perRoot));
  const found: Found[] = near.map((relation) => ({ relation, hops: 1, score: joint(relation, reached) }));
  const frontier = spread(found, reached, 1).slice(0, bounds.frontier);
  const known = new Set(near.map(({ id }) => id));
  const far = unique(await reading.around(frontier, bounds.perFrontier)).filter(({ id }) => !known.has(id));
  const further = far.map((relation): Found => ({ relation, hops: 2, score: joint(relation, reached) }));
  spread(further, reached, 2);

  const syntheses = unique(await reading.syntheses([...reached.keys()].slice(0, bounds.reached), bounds.perReached));
  return bounded({ found: [...found, ...further], syntheses, reached, roots }, query);
}

interface Reached {
  readonly hops: number;
  readonly score: number;
}
interface Found {
  readonly relation: NamedRelation;
  readonly hops: number;
  readonly score: number;
}

const unique = <T extends { readonly id: string }>(all: readonly T[]): readonly T[] => [
  ...new Map(all.map((one) => [one.id, one])).values(),
];

const together = (scores: readonly number[]): number => {
  const [best = 0, second = 0] = [...scores].sort((a, b) => b - a);
  return best + weights.second * second;
};

const joint = ({ subject, object }: NamedRelation, reached: ReadonlyMap<string, Reached>): number =>
  together([reached.get(subject)?.score ?? 0, reached.get(object)?.score ?? 0]);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Entities at the far ends, the most promising first; marks them as reached. The trust of the path decides which of them are read; only its
 * length lowers the relevance of what is found there, because trust is already part of each rank.
 */
function spread(found: readonly Found[], reached: Map<string, Reached>, hops: number): readonly string[] {
  const ends = new Map<string, { promise: number; score: number }>();
  const arrive = (end: string, from: string, trust: number): void => {
    if (reached.has(end)) return;
    const score = (reached.get(from)?.score ?? 0) * weights.hop;
    const best = ends.get(end) ?? { promise: 0, score: 0 };
    ends.set(end, { promise: Math.max(best.promise, score * trust), score: Math.max(best.score, score) });
  };
  for (const { relation } of found) {
    arrive(relation.subject, relation.object, relation.trust);
    arrive(relation.object, relation.subject, relation.trust);
  }
  const order = [...ends].sort(([a, one], [b, other]) => other.promise - one.promise || compare(a, b));
  for (const [end, { score }] of order) reached.set(end, { hops, score });
  return order.map(([end]) => end);
}

interface Gathered {
  readonly found: readonly Found[];
  readonly syntheses: readonly LinkedSynthesis[];
  readonly reached: ReadonlyMap<string, Reached>;
  readonly roots: readonly EntityCandidate[];
}

/** The best findings that fit: by trust x relevance, then by hops, then by id. */
function bounded(
  { found, syntheses, reached, roots }: Gathered,
  { categories, limit, maxCharacters }: Omit<GraphQuery, 'tenant'>,
): GraphContext {
  const domains = new Set(categories);
  const inDomain = (domain: string): number => (domains.has(domain) ? weights.domain : 1);
  const items = [
    ...found.map(({ relation, hops, score }) => {
      const { subjectName: subject, objectName: object, relation: type, trust, source } = relation;
      const shown: RetrievedRelation = { subject, relation: type, object, trust, source, hops };
      const length = relationSentence(shown).length;
      return { kind: 'relation' as const, id: relation.id, rank: trust * score * inDomain(relation.domain), hops, length, relation, shown };
    }),
    ...syntheses.map(({ about, ...synthesis }) => {
      const near = about.flatMap((entity) => reached.get(entity) ?? []);
      const hops = Math.min(...near.map((one) => one.hops));
      const rank = synthesis.trust * together(near.map(({ score }) => score)) * inDomain(synthesis.domain);
      const shown: RetrievedSynthesis = { ...synthesis, hops };
      return { kind: 'synthesis' as const, id: synthesis.id, rank, hops, length: synthesis.text.length, shown };
    }),
  ].sort((a, b) => b.rank - a.rank || a.hops - b.hops || compare(a.kind, b.kind) || compare(a.id, b.id));
  const relations: RetrievedRelation[] = [];
  const chosen: RetrievedSynthesis[] = [];
  const entities = new Map(roots.map(({ normal, name, type }) => [normal, { name, type, hops: 0 }]));
  let left = maxCharacters;
  for (const item of items) {
    const list: unknown[] = item.kind === 'relation' ? relations : chosen;
    if (item.length > left || list.length >= limit) continue;
    left -= item.length;
    list.push(item.shown);
    if (item.kind === 'synthesis') continue;
    const { relation: r } = item;
    for (const [normal, name, type] of [
      [r.subject, r.subjectName, r.subjectType],
      [r.object, r.objectName, r.objectType],
    ] as const)
      if (!entities.has(normal)) entities.set(normal, { name, type, hops: reached.get(normal)?.hops ?? 2 });
  }
  return { entities: [...entities.values()], relations, syntheses: chosen };
}
