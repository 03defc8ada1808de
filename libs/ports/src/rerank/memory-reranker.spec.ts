import { describeReranker } from './reranker.contract.js';
import { MemoryReranker } from './memory-reranker.js';

describeReranker('MemoryReranker', async () => ({ reranker: new MemoryReranker(), dispose: async () => undefined }));
