export { ExpertsHandler } from './experts.handler.js';
export { ExpertsModule } from './experts.module.js';
export { mathCapability } from './math.capability.js';
