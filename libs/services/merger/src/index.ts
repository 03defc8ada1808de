export { canonicalJson } from './canonical-json.js';
export { stateHash } from './engine.handler.js';
export { JudgeHandler } from './judge.handler.js';
export { MergerModule } from './merger.module.js';
