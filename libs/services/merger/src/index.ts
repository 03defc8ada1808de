export { chainHash, stateHash } from './step-hash.js';
export { JudgeHandler } from './judge.handler.js';
export { LearningHandler } from './learning/learning.handler.js';
export { LearningModule } from './learning/learning.module.js';
export { MergerModule } from './merger.module.js';
export { runFolding } from './run-folding.js';
