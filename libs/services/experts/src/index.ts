export { capabilitiesOf, ExpertsHandler, type EvidenceParts } from './experts.handler.js';
export { ExpertsModule } from './experts.module.js';
export { discoverDocuments, readDocument } from './collection-documents.js';
export { searchCollections } from './collection-search.js';
export { cacheKey, type SearchCache } from './research-memory.js';
export { researchCapability, type ResearchOptions } from './research.capability.js';
export { mathCapability } from './math.capability.js';
export { graphCapability, type ContextCache, type FactLookup } from './graph.capability.js';
export { mcpCapability } from './mcp.capability.js';
