import { script } from './script.js';

export const readClock = script<number>('read-clock', 'return now');

/** Format of what a store holds; a store whose format is another one is not read. Raise it where records of before cannot be read any more. */
export const storeFormat = 2;

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

/**
 * [store id, generation, whether every bucket has a mark]; generation 0 of a bucket that a process knew to be older, so that nobody takes
 * it for the right one.
 */
export const readIdentity = script<[string | null, string | null, string | null]>(
  'read-identity',
  `
local mark = redis.call('HMGET', KEYS[1], 'storeId', 'generation', 'everywhere', 'older')
if mark[4] then return { mark[1], '0', mark[3] } end
return { mark[1], mark[2], mark[3] }
`,
);

/**
 * Gives a bucket its mark, or raises the generation of the one it has. The mark of the first bucket decides whose store it is; a new store
 * writes it \`over\` what a start that was interrupted left in the others. Where every bucket has had its mark, one without it is left
 * alone: it was lost. The nonce keeps a start that is sent twice from raising the generation twice. The key never expires.
 * [store id, generation, whether every bucket has a mark]
 */
export const startIdentity = script<[string | null, string | null, string | null]>(
  'start-identity',
  `
local storeId, nonce, format, how = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local held = redis.call('HMGET', KEYS[1], 'storeId', 'nonce')
if how == 'over' and held[1] ~= storeId then
  redis.call('DEL', KEYS[1])
  held = {}
end
if not held[1] and how ~= 'raise' then
  redis.call('HSET', KEYS[1], 'storeId', storeId, 'format', format)
  held[1] = storeId
end
if held[1] and held[2] ~= nonce then
  redis.call('HINCRBY', KEYS[1], 'generation', 1)
  redis.call('HSET', KEYS[1], 'nonce', nonce)
end
return redis.call('HMGET', KEYS[1], 'storeId', 'generation', 'everywhere')
`,
);

/** Said in the first bucket once all of them have their mark. */
export const noteEverywhere = script<number>('note-everywhere', `return redis.call('HSET', KEYS[1], 'everywhere', '1')`);
