import type { GraphReading, LinkedSynthesis, NamedRelation } from './graph-context.js';

/** A page of entities, by name. */
export interface EntityQuery {
  readonly tenant: string;
  /** Part of the normal form; empty for all. */
  readonly search: string;
  /** Normal form after which the page begins; empty for the first one. */
  readonly after: string;
  readonly limit: number;
}
export interface EntityNode {
  readonly normal: string;
  readonly name: string;
  /** Kind of thing in one word; may be empty. */
  readonly type: string;
}
export interface NeighbourQuery {
  readonly tenant: string;
  /** A name or alias. */
  readonly entity: string;
  readonly offset: number;
  readonly limit: number;
}
export interface Neighbourhood {
  readonly entity: EntityNode;
  /** Unflagged, the most trusted first. */
  readonly relations: readonly NamedRelation[];
  /** Unflagged, newest first. */
  readonly syntheses: readonly LinkedSynthesis[];
  readonly more: boolean;
}

/** Farthest that a page of neighbours begins: nobody reads on so far, and each page reads what comes before it. */
export const mostNeighbours = 2_000;

/** One entity with what is next to it, the same in every adapter. Null for an unknown one. */
export async function neighboursThrough(
  reading: GraphReading,
  { entity, offset, limit }: Omit<NeighbourQuery, 'tenant'>,
): Promise<Neighbourhood | null> {
  const [found] = await reading.candidates({ exact: [entity], words: [], common: 1, limit: 1 });
  if (!found) return null;
  const { normal, name, type } = found;
  const end = Math.min(offset, mostNeighbours) + limit;
  const [relations, syntheses] = [await reading.around([normal], end + 1), await reading.syntheses([normal], end + 1)];
  return {
    entity: { normal, name, type },
    relations: relations.slice(offset, end),
    syntheses: syntheses.slice(offset, end),
    more: end < mostNeighbours && (relations.length > end || syntheses.length > end),
  };
}
