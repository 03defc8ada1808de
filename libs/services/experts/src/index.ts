export { ExpertsHandler } from './experts.handler.js';
export { ExpertsModule } from './experts.module.js';
export { graphCapability, type ContextCache, type FactLookup } from './graph.capability.js';
