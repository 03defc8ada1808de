import { Failure } from '@conclave/contracts';
import type { KnowledgeGraph } from '@conclave/ports';
import type { GatewayOptions } from '../options.js';

/** The knowledge graph. Throws GRAPH_UNAVAILABLE when this process cannot reach it, for example because it is a file of another process. */
export function graphOf({ graph }: Pick<GatewayOptions, 'graph'>): KnowledgeGraph {
  if (graph) return graph;
  throw new Failure('GRAPH_UNAVAILABLE', 'In distributed mode the gateway needs a graph server: set `stores.neo4j`, or use embedded mode.');
}
