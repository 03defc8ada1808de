/** Hits of one search, best first, and the weight of its ranks. */
export interface Ranked<T> {
  readonly hits: readonly T[];
  readonly weight: number;
}

/**
 * Added to each rank: the smaller it is, the more the first places count. Cormack et al. (2009) use 60, for a thousand hits of equally good
 * searches. Only few passages are kept here, so each place matters, and a low number keeps a clear winner in front.
 */
const smoothing = 2;

/**
 * Weight of full text; vectors weigh 1. Word vectors find synonyms but distinguish names and numbers badly: they add what full text
 * misses and do not change its order.
 */
export const textWeight = { words: 8, sentences: 2 } as const;

/** Reciprocal rank fusion: a hit ranks high if any list ranks it high, higher if several do. Ties keep their order. */
export function fusedByRank<T>(lists: readonly Ranked<T>[], keyOf: (hit: T) => string): readonly T[] {
  const fused = new Map<string, { readonly hit: T; sum: number }>();
  for (const { hits, weight } of lists)
    hits.forEach((hit, place) => {
      const key = keyOf(hit);
      const part = weight / (smoothing + place + 1);
      const known = fused.get(key);
      if (known) known.sum += part;
      else fused.set(key, { hit, sum: part });
    });
  return [...fused.values()].sort((one, other) => other.sum - one.sum).map(({ hit }) => hit);
}

/** Passages of one document that may precede those of others. */
const fromOneDocument = 2;

/** Reorders hits: the third and later ones of a document follow the first two of every other, so that a long document hides none. */
export function spreadOver<T>(hits: readonly T[], documentOf: (hit: T) => string): readonly T[] {
  const seen = new Map<string, number>();
  const [first, rest]: [T[], T[]] = [[], []];
  for (const hit of hits) {
    const document = documentOf(hit);
    const before = seen.get(document) ?? 0;
    seen.set(document, before + 1);
    (before < fromOneDocument ? first : rest).push(hit);
  }
  return [...first, ...rest];
}
