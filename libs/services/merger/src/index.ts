export { chainHash, stateHash } from './step-hash.js';
export { EngineHandler } from './engine.handler.js';
export { JudgeHandler } from './judge.handler.js';
export { MergerModule } from './merger.module.js';
export { runFolding } from './run-folding.js';
