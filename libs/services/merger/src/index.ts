export { canonicalJson } from './canonical-json.js';
export { stateHash } from './engine.handler.js';
export { MergerModule } from './merger.module.js';
