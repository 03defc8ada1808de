import { Failure } from '@conclave/contracts';
import type { Reranker } from '@conclave/ports';
import type { Metrics } from './metrics.js';

/** A reranker whose calls are counted by the retrieval they belong to and by how they end. */
export const countedReranker = (reranker: Reranker, retrieval: string, metrics: Pick<Metrics, 'count'>): Reranker => ({
  id: reranker.id,
  close: () => reranker.close(),
  score: async (query, texts, options) => {
    try {
      const scores = await reranker.score(query, texts, options);
      metrics.count('rerank_calls_total', { retrieval, outcome: 'ok' });
      return scores;
    } catch (error) {
      const isCancelled = error instanceof Failure && error.code === 'CALL_CANCELLED';
      metrics.count('rerank_calls_total', { retrieval, outcome: isCancelled ? 'cancelled' : 'failed' });
      throw error;
    }
  },
});
