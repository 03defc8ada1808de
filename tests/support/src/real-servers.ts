/** Private instances of the real servers, and the addresses of the shared ones: what int specs of the adapters run against. */
export * from '../../../deploy/stack/index.mjs';
export * from './replicated-cluster.js';
export * from './watched-redis.js';
