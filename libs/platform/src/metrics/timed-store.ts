import { Failure } from '@conclave/contracts';
import type { KnowledgeGraph, Vectors } from '@conclave/ports';
import { overriding } from '../process/overriding.js';
import type { Metrics } from './metrics.js';

const graphOperations = ['addSynthesis', 'synthesesAbout', 'synthesis', 'addTriples', 'quarantine', 'retrieve', 'stats'] as const;
const vectorOperations = ['upsert', 'query', 'match', 'get', 'delete', 'count', 'list'] as const;

/** The same graph, with timed operations. */
export const timedGraph = (graph: KnowledgeGraph, metrics: Pick<Metrics, 'observe'>): KnowledgeGraph =>
  timed(graph, 'graph', graphOperations, metrics);

/** The same vector store, with timed operations. */
export const timedVectors = (vectors: Vectors, metrics: Pick<Metrics, 'observe'>): Vectors =>
  timed(vectors, 'vectors', vectorOperations, metrics);

type Operation = (...given: readonly unknown[]) => Promise<unknown>;

function timed<T extends object, K extends keyof T & string>(
  whole: T,
  store: 'graph' | 'vectors',
  operations: readonly K[],
  metrics: Pick<Metrics, 'observe'>,
): T {
  const timedOne = (operation: K): readonly [K, unknown] => {
    const perform: Operation = async (...given) => {
      const from = performance.now();
      const observe = (outcome: 'ok' | 'failed' | 'cancelled'): void =>
        metrics.observe('store_operation_seconds', { store, operation, outcome }, (performance.now() - from) / 1000);
      try {
        const result = await (whole[operation] as Operation).apply(whole, [...given]);
        observe('ok');
        return result;
      } catch (error) {
        observe(error instanceof Failure && error.code === 'CALL_CANCELLED' ? 'cancelled' : 'failed');
        throw error;
      }
    };
    return [operation, perform];
  };
  return overriding(whole, Object.fromEntries(operations.map(timedOne)) as Partial<T>);
}
