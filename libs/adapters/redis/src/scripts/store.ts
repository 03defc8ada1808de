import { script } from './script.js';

export const readClock = script<number>('read-clock', 'return now');

/** Format of stored records; a store with another format is refused. Raise it when older records can no longer be read. */
export const storeFormat = 2;

/** The format of the store; 0 if it has none, null if the store is new. */
export const readFormat = script<number | null>(
  'read-format',
  `
local mark = redis.call('HMGET', KEYS[1], 'storeId', 'format')
if not mark[1] then return false end
return tonumber(mark[2]) or 0
`,
);

/** A small write; fails when the store cannot grow or is not the one of this process. */
export const probe = script<string>('probe', `redis.call('SET', KEYS[2], text(now), 'PX', 60000) return 'ok'`);

/**
 * [store id, generation, whether every bucket has a mark]. The generation is 0 if a process has marked the bucket as older, so that no
 * process works on it.
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
 * Marks a bucket, or raises the generation of its mark. The mark of the first bucket identifies the store; a new store writes it \`over\`
 * marks that an interrupted start left in the others. Once every bucket has been marked, a bucket without a mark is left alone: its data
 * was lost. The nonce keeps a start sent twice from raising the generation twice. The key never expires.
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

/** Set in the first bucket once all buckets have their mark. */
export const noteEverywhere = script<number>('note-everywhere', `return redis.call('HSET', KEYS[1], 'everywhere', '1')`);
