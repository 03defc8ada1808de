import { Failure } from '@conclave/contracts';
import { ReplyError } from 'ioredis';
import { replacedMark } from './scripts/script.js';

/** Replies of a server that is running but cannot serve now, or refuses the login. */
const unavailable =
  /(^|[\s-])(LOADING|BUSY|UNKILLABLE|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM|max number of clients)\b/;

/**
 * Maps an error of the client. A missing or temporary reply is an outage (STORE_UNAVAILABLE); a server that cannot grow is STORE_FULL;
 * any other refusal is our bug (INTERNAL) and must not look like an outage.
 */
export function storeFailure(error: unknown, doing: string): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const options = { cause: error, context: { doing } };
  if (message.includes(replacedMark)) return new Failure('STORE_REPLACED', undefined, options);
  if (message.includes('OOM command not allowed')) return new Failure('STORE_FULL', 'Redis has reached its `maxmemory`.', options);
  if (message.includes('MISCONF')) return new Failure('STORE_FULL', 'Redis cannot write to its disk.', options);
  if (/^(MOVED|ASK) \d/.test(message))
    return new Failure('CONFIGURATION_INVALID', 'The server is a node of a Redis Cluster: set `stores.redis.cluster: true`.', options);
  if (error instanceof ReplyError && !unavailable.test(message)) return new Failure('INTERNAL', `Redis refused "${doing}".`, options);
  return new Failure('STORE_UNAVAILABLE', `Redis did not answer "${doing}".`, options);
}
