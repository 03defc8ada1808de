import { script } from './script.js';

export const readClock = script<number>('read-clock', 'return now');

/** Format of what a store holds; a store whose format is another one is not read. Raise it where records of before cannot be read any more. */
export const storeFormat = 1;

/** The format of the store, 0 for one that says none, null for one that nobody has started yet. */
export const readFormat = script<number | null>(
  'read-format',
  `
local mark = redis.call('HMGET', KEYS[1], 'storeId', 'format')
if not mark[1] then return false end
return tonumber(mark[2]) or 0
`,
);

/** A small write: it fails where the store cannot grow, and on a store that is not ours. */
export const probe = script<string>('probe', `redis.call('SET', KEYS[2], text(now), 'PX', 60000) return 'ok'`);

/** [store id, generation]; generation 0 of a store that a process knew to be older, so that nobody takes it for the right one. */
export const readIdentity = script<[string | null, string | null]>(
  'read-identity',
  `
local mark = redis.call('HMGET', KEYS[1], 'storeId', 'generation', 'older')
if mark[3] then return { mark[1], '0' } end
return { mark[1], mark[2] }
`,
);

/** The nonce keeps a start that is sent twice from raising the generation twice. The key never expires. */
export const startIdentity = script<[string, string]>(
  'start-identity',
  `
local storeId, nonce, format = ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', KEYS[1], 'storeId', storeId) == 1 then redis.call('HSET', KEYS[1], 'format', format) end
if redis.call('HGET', KEYS[1], 'nonce') ~= nonce then
  redis.call('HINCRBY', KEYS[1], 'generation', 1)
  redis.call('HSET', KEYS[1], 'nonce', nonce)
end
return redis.call('HMGET', KEYS[1], 'storeId', 'generation')
`,
);
