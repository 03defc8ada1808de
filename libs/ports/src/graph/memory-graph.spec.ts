import { describeKnowledgeGraph } from './graph.contract.js';
import { MemoryGraphStore } from './memory-graph.js';

describeKnowledgeGraph('MemoryGraphStore', {
  async open() {
    const store = new MemoryGraphStore();
    return { graph: store.connect(), another: async () => store.connect(), dispose: async () => undefined };
  },
});
