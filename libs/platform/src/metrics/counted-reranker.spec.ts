import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { MemoryReranker } from '@conclave/ports';
import { countedReranker } from './counted-reranker.js';

describe('a counted reranker', () => {
  it('scores as before, and counts how each call ends', async () => {
    const counted: unknown[] = [];
    const metrics = { count: (...of: unknown[]) => void counted.push(of) };
    const { signal } = new AbortController();
    const ok = countedReranker(new MemoryReranker(), 'research', metrics);
    expect(await ok.score('tower', ['tower', 'lake'], { signal })).toEqual([1, 0]);
    const failing = countedReranker(new MemoryReranker(new Failure('PROVIDER_FAILED')), 'collections', metrics);
    await expect(failing.score('tower', ['tower'], { signal })).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
    await expect(ok.score('tower', ['tower'], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(counted).toEqual([
      ['rerank_calls_total', { retrieval: 'research', outcome: 'ok' }],
      ['rerank_calls_total', { retrieval: 'collections', outcome: 'failed' }],
      ['rerank_calls_total', { retrieval: 'research', outcome: 'cancelled' }],
    ]);
  });
});
