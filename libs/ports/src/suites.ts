export * from './blobs/blobs.contract.js';
export * from './event-log/event-log.contract.js';
export * from './event-log/testing/manual-clock.js';
export * from './event-log/testing/sample-events.js';
export * from './run-stream/run-stream.contract.js';
export * from './state/__fixtures__/samples.js';
export * from './state/__fixtures__/store-harness.js';
export * from './state/state.contract.js';
