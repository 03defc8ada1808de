import { MemoryVectorStore } from './memory-vectors.js';
import { describeVectors } from './vectors.contract.js';

describeVectors('MemoryVectorStore', {
  async open() {
    const store = new MemoryVectorStore();
    return { vectors: store.connect(), another: async () => store.connect(), dispose: async () => undefined };
  },
});
