export { LearningHandler } from './learning.handler.js';
export { LearningModule } from './learning.module.js';
