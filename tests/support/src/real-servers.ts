/** Private instances of the real servers, and the addresses of the shared ones, for the int specs of the adapters. */
export * from '../../../deploy/stack/index.mjs';
export * from './replicated-cluster.js';
export * from './watched-redis.js';
