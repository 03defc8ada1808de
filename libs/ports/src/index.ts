export * from './blobs/blobs.js';
export * from './event-log/event-log.js';
export * from './graph/graph.js';
export * from './model/model.js';
export * from './run-stream/run-stream.js';
export * from './search/search.js';
export * from './state/state.js';
export * from './tokens.js';
