export * from './ask-models.js';
export * from './call-maker.js';
export { recordOf, requestHash, storedCallOf, type StoredCall } from './call-record.js';
export * from './calls.js';
export * from './cancel-watch.js';
export * from './live-text.js';
export * from './task-worker.js';
export * from './usage.js';
export * from './calls.module.js';
