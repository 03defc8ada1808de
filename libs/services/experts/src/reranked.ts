import { Failure } from '@conclave/contracts';
import type { Reranking } from '@conclave/ports';

export interface Reranked<T> {
  /** All hits: those that the reranker read in its order, then the others in their own. */
  readonly hits: readonly T[];
  /** Why the order of the search applies; quotes no external text. */
  readonly note: string | null;
}

/**
 * Puts the best hits of a search in the order of a reranker. All stay as they are without a reranker, for fewer than two hits, and, with a
 * note, if the reranker fails or takes too long. Throws CALL_CANCELLED when the signal aborts.
 */
export async function reranked<T>(
  reranking: Reranking | null,
  query: string,
  hits: readonly T[],
  textOf: (hit: T) => string,
  signal: AbortSignal,
): Promise<Reranked<T>> {
  if (!reranking || hits.length < 2) return { hits, note: null };
  const { reranker, candidates, withinMs } = reranking;
  const read = hits.slice(0, candidates);
  const limit = AbortSignal.timeout(withinMs);
  try {
    const scores = await reranker.score(query, read.map(textOf), { signal: AbortSignal.any([signal, limit]) });
    const order = read.map((hit, at) => ({ hit, score: scores[at]! })).sort((a, b) => b.score - a.score);
    return { hits: [...order.map(({ hit }) => hit), ...hits.slice(candidates)], note: null };
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    const why = limit.aborted ? 'took too long' : `failed (${error.code})`;
    return { hits, note: `The reranker ${why}; the hits keep the order of the search.` };
  }
}
