import { findOnPath } from '../stack/processes.mjs';
import { runSpec } from './jest-part.mjs';

export const title = 'a Redis Cluster of three primaries with a replica each, a primary lost under load';
export const unproven = ['Redis Sentinel: Conclave has no setting for it. Use a Redis Cluster, or a server whose address stays the same.'];
export const missing = () => (findOnPath('redis-server') === null ? 'it needs redis-server' : null);
export const run = ({ fact }) => runSpec('redis', fact);
