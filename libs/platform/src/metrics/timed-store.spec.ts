import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import type { KnowledgeGraph, Vectors } from '@conclave/ports';
import { openMetrics } from './metrics.js';
import { timedGraph, timedVectors } from './timed-store.js';

describe('a timed store', () => {
  it('measures each operation by its outcome, and changes neither its result nor its error', async () => {
    const metrics = openMetrics();
    const graph = timedGraph(
      { stats: async () => ({ entities: 3 }), health: async () => 'red', close: async () => undefined } as unknown as KnowledgeGraph,
      metrics,
    );
    expect(await graph.stats('acme')).toEqual({ entities: 3 });
    expect(await graph.health()).toBe('red');
    const errors = [new Failure('VECTORS_UNAVAILABLE'), new Failure('CALL_CANCELLED')];
    const query = async (): Promise<never> => Promise.reject(errors.shift()!);
    const vectors = timedVectors({ query } as unknown as Vectors, metrics);
    await expect(vectors.query({} as never, {} as never)).rejects.toThrow(Failure);
    await expect(vectors.query({} as never, {} as never)).rejects.toThrow(Failure);
    const counts = (await metrics.text()).split('\n').filter((line) => line.startsWith('conclave_store_operation_seconds_count'));
    expect(counts).toEqual([
      'conclave_store_operation_seconds_count{store="graph",operation="stats",outcome="ok"} 1',
      'conclave_store_operation_seconds_count{store="vectors",operation="query",outcome="failed"} 1',
      'conclave_store_operation_seconds_count{store="vectors",operation="query",outcome="cancelled"} 1',
    ]);
  });
});
