import { mostNeighbours } from '@conclave/contracts';
import type { GraphReading } from './graph-context.js';
import type { Neighbourhood, NeighbourQuery } from './nodes.js';

/** One entity with its neighbours, the same in every adapter. Null for an unknown one. */
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
