export { ExpertsHandler } from './experts.handler.js';
export { ExpertsModule } from './experts.module.js';
