export type { CommitHooks } from './commit.js';
export { openRedisState } from './open.js';
