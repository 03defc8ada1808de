/** What one search found, best first, and how much its ranks weigh beside those of others. */
export interface Ranked<T> {
  readonly hits: readonly T[];
  readonly weight: number;
}

/**
 * Added to each rank: the smaller, the more the first places count. Cormack et al. (2009) take 60, for runs of a thousand hits of equally
 * good searches; among the few passages that are kept here a place more or less decides, and a low number keeps a clear winner in front.
 */
const smoothing = 2;

/**
 * Weight of full text beside vectors whose ranks weigh 1. Vectors of single words find other words for a matter, but tell names and
 * numbers badly apart: they add what full text does not find and leave its order alone.
 */
export const textWeight = { words: 8, sentences: 2 } as const;

/** Reciprocal rank fusion: what stands high in any list stands high, what stands in several stands higher. Equal sums keep their order. */
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

/** Passages of one document that stand before those of others. */
const fromOneDocument = 2;

/** The same hits; the third and later ones of a document come after the first two of every other, so that a long one hides none. */
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
