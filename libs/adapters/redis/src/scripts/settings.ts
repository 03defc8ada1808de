import { script } from './script.js';

/** [version, value] */
export const readSetting = script<[string | null, string | null]>(
  'read-setting',
  `return redis.call('HMGET', KEYS[2], 'version', 'value')`,
);

/**
 * The nonce, stored with each version of the history, distinguishes a write sent twice from the write of a faster process. The history drops the
 * version that has become too old; versions are dense, so there is at most one.
 */
export const writeSetting = script<number>(
  'write-setting',
  `
local setting, history, versions = KEYS[2], KEYS[3], KEYS[4]
local name, expected, value, nonce, kept = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], tonumber(ARGV[7])
local next = text(expected + 1)
if redis.call('HGET', history, 'nonce:' .. next) == nonce then return 1 end
local version = tonumber(redis.call('HGET', setting, 'version')) or 0
if version ~= expected then return 0 end
redis.call('HSET', setting, 'version', next, 'value', value)
redis.call('HSET', history, 'at:' .. next, text(now), 'value:' .. next, value, 'nonce:' .. next, nonce)
local old = text(expected + 1 - kept)
redis.call('HDEL', history, 'at:' .. old, 'value:' .. old, 'nonce:' .. old)
redis.call('HSET', versions, name, next)
return 1
`,
);

/** Returns 1 if the setting is absent afterwards. */
export const removeSetting = script<number>(
  'remove-setting',
  `
local setting, history, versions = KEYS[2], KEYS[3], KEYS[4]
local version = tonumber(redis.call('HGET', setting, 'version'))
if version and version ~= tonumber(ARGV[4]) then return 0 end
redis.call('DEL', setting, history)
redis.call('HDEL', versions, ARGV[3])
return 1
`,
);

/** Name and version of every setting, alternating. */
export const listSettings = script<string[]>('list-settings', `return redis.call('HGETALL', KEYS[2])`);

/** [version, at] of each stored version, newest first. */
export const listVersions = script<[number, number][]>(
  'list-versions',
  `
local setting, history, kept = KEYS[2], KEYS[3], tonumber(ARGV[3])
local newest, found = tonumber(redis.call('HGET', setting, 'version')) or 0, {}
for version = newest, newest - kept + 1, -1 do
  local at = redis.call('HGET', history, 'at:' .. text(version))
  if at then found[#found + 1] = { version, tonumber(at) } end
end
return found
`,
);

/** [at, value] */
export const readVersion = script<[string | null, string | null]>(
  'read-version',
  `return redis.call('HMGET', KEYS[2], 'at:' .. ARGV[3], 'value:' .. ARGV[3])`,
);
