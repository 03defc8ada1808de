export * from './blobs/blobs.contract.js';
export * from './event-log/testing/manual-clock.js';
export * from './event-log/testing/sample-events.js';
