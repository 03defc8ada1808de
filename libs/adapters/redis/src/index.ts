export type { CommitHooks } from './commit.js';
export * from './open.js';
