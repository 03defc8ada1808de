import type { Further } from '@conclave/contracts';
import type { Search, SearchHit } from '@conclave/ports';
import { fusedByRank } from './fusion.js';

/** The part of a hit that is compared with earlier findings. */
interface Hit {
  readonly title: string;
  readonly text: string;
}

/** Queries of a search: its own and, in a later round, one for each finding, made of the question and the finding. */
export const queriesOf = (query: string, further: Further | undefined): readonly string[] => [
  query,
  ...(further?.found ?? []).map(({ title, text }) => `${further!.question} ${title} ${text}`),
];

/** Characters of a hit that are compared with a finding, which may be cut. */
const compared = 200;

/** Hits of all queries of a search, fused by rank; earlier findings are left out. */
export function fusedFurther<T>(
  lists: readonly (readonly T[])[],
  further: Further | undefined,
  hitOf: (hit: T) => Hit,
  keyOf: (hit: T) => string,
): readonly T[] {
  if (!further) return lists[0] ?? [];
  const isFound = (hit: T): boolean => {
    const { title, text } = hitOf(hit);
    return further.found.some((one) => one.title === title && one.text.slice(0, compared) === text.slice(0, compared));
  };
  const fused = fusedByRank(
    lists.map((hits) => ({ hits, weight: 1 })),
    keyOf,
  );
  return fused.filter((hit) => !isFound(hit));
}

/** Hits taken from each query per hit returned, when several queries are fused. */
export const hitsPerQuery = 4;

/** Hits of a search; in a later round also those for earlier findings. Throws the errors of the search. */
export async function searchHits(
  search: Pick<Search, 'query'>,
  { query, limit, further }: { readonly query: string; readonly limit: number; readonly further?: Further | undefined },
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  const wanted = further ? limit * hitsPerQuery : limit;
  const lists = await Promise.all(queriesOf(query, further).map((words) => search.query({ query: words, limit: wanted, signal })));
  const hits = fusedFurther(
    lists,
    further,
    ({ title, snippet }) => ({ title, text: snippet.replace(/\s+/g, ' ').trim() }),
    ({ title, snippet }) => `${title}\n${snippet}`,
  );
  return hits.slice(0, limit);
}
