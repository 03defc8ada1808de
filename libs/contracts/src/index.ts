export * from './event.js';
export * from './events/index.js';
export * from './failures.js';
export * from './ids.js';
export * from './run-stream.js';
export * from './template.js';
export * from './topics.js';
export * from './values.js';
