import { findOnPath } from '../stack/processes.mjs';
import { runSpec } from './noted-program.mjs';

export const title = 'a Redis Cluster with replicas, and servers that Redis Sentinel watches: a primary lost under load';
export const unproven = [
  'A take-over by a replica that is far behind: on a single machine no replica is. `npx jest sentinel.int` shows that with `stores.redis.replicas` nothing is acknowledged that a replica lacks.',
  'A network that is cut between primary, replica and sentinels. `npx jest sentinel.int` shows a primary that hangs and wakes.',
];
export const missing = () => (findOnPath('redis-server') === null ? 'it needs redis-server' : null);
export const run = ({ fact }) => runSpec('redis', fact);
