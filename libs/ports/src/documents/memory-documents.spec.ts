import { describeDocumentReader } from './documents.contract.js';
import { MemoryDocuments } from './memory-documents.js';

describeDocumentReader('MemoryDocuments', { open: async () => new MemoryDocuments() });
