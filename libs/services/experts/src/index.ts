export { ExpertsModule } from './experts.module.js';
