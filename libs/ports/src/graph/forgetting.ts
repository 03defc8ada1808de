import type { QuarantinedTriple } from './graph.js';
import type { StoredRelation } from './nodes.js';
import { changed, rated, sentenceOf, type Ratings } from './triple-policy.js';

/** The changes that remove from a store everything that only this run has taught. */
export interface ForgetPlan {
  readonly removed: readonly StoredRelation[];
  /** Relations that other runs stated too. */
  readonly kept: readonly StoredRelation[];
  readonly removedEntries: readonly string[];
  readonly keptEntries: readonly QuarantinedTriple[];
}

/**
 * `relations`: those that the run taught. `others`: another run that taught the relation with this id, if there is one. `entries`: every
 * contradiction of the tenant. `ratings`: those of the run. The doubt of a relation that several runs stated cannot be divided between
 * them, so it stays.
 */
export function planForgetting({
  runId,
  relations,
  others,
  entries,
  ratings,
}: {
  readonly runId: string;
  readonly relations: readonly StoredRelation[];
  readonly others: ReadonlyMap<string, string>;
  readonly entries: readonly QuarantinedTriple[];
  readonly ratings: Ratings;
}): ForgetPlan {
  const removed = relations.filter(({ id }) => !others.has(id));
  const sentences = new Set(removed.map(sentenceOf));
  const touched = entries
    .filter(({ runs, contradicts }) => runs.includes(runId) || contradicts.some((one) => sentences.has(one)))
    .map((entry) => ({
      ...entry,
      runs: entry.runs.filter((run) => run !== runId),
      contradicts: entry.contradicts.filter((one) => !sentences.has(one)),
    }));
  return {
    removed,
    kept: relations
      .filter(({ id }) => others.has(id))
      .map((relation) =>
        changed(rated(relation, { good: -ratings.good, bad: -ratings.bad }), {
          runId: relation.runId === runId ? others.get(relation.id)! : relation.runId,
        }),
      ),
    removedEntries: touched.filter(({ runs }) => runs.length === 0).map(({ id }) => id),
    keptEntries: touched.filter(({ runs }) => runs.length > 0),
  };
}
