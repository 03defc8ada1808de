import type { KnowledgeGraph } from './graph.js';

export interface GraphWorld {
  readonly graph: KnowledgeGraph;
  /** The same graph, opened by another process. */
  another(): Promise<KnowledgeGraph>;
  dispose(): Promise<void>;
}

export interface GraphUnderTest {
  /** A new, empty graph. */
  open(): Promise<GraphWorld>;
}
