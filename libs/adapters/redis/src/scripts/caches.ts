import { script } from './script.js';

/**
 * An entry is a hash: value, at (written), until (expires), and a field `tag:<tag>` for each of its tags. The set of a tag holds the
 * keys of entries written with it, by expiry; the tags in the entry itself decide.
 */
export const readCached = script<string[]>('read-cached', `return redis.call('HGETALL', KEYS[2])`);

/** Two keys for each tag: its set and its ban. */
export const writeCached = script<number>(
  'write-cached',
  `
local entry, value, ttl = KEYS[2], ARGV[3], tonumber(ARGV[4])
for n = 5, #ARGV do
  if redis.call('EXISTS', KEYS[2 * n - 6]) == 1 then return 0 end
end
redis.call('DEL', entry)
redis.call('HSET', entry, 'value', value, 'at', text(now), 'until', text(now + ttl))
redis.call('PEXPIRE', entry, text(ttl))
for n = 5, #ARGV do
  local tagged = KEYS[2 * n - 7]
  redis.call('HSET', entry, 'tag:' .. ARGV[n], '1')
  redis.call('ZREMRANGEBYSCORE', tagged, '-inf', text(now))
  redis.call('ZADD', tagged, text(now + ttl), entry)
  if redis.call('PTTL', tagged) < ttl then redis.call('PEXPIRE', tagged, text(ttl)) end
end
return 1
`,
);

export const removeCached = script<number>('remove-cached', `return redis.call('DEL', KEYS[2])`);

/** The count is kept for a minute under the nonce, so that a call sent twice returns the same count. */
export const removeTagged = script<number>(
  'remove-tagged',
  `
local tagged, ban, removal = KEYS[2], KEYS[3], KEYS[4]
local tag, banned = ARGV[3], tonumber(ARGV[4])
local given = redis.call('GET', removal)
if given then return tonumber(given) end
if banned > 0 and redis.call('PTTL', ban) < banned then redis.call('SET', ban, '1', 'PX', text(banned)) end
local removed = 0
for _, entry in ipairs(redis.call('ZRANGE', tagged, 0, -1)) do
  if redis.call('HEXISTS', entry, 'tag:' .. tag) == 1 then removed = removed + redis.call('DEL', entry) end
end
redis.call('DEL', tagged)
redis.call('SET', removal, removed, 'PX', 60000)
return removed
`,
);

export const claimKey = script<number>(
  'claim-key',
  `
local claim, owner, ttl = KEYS[2], ARGV[3], ARGV[4]
local held = redis.call('GET', claim)
if held and held ~= owner then return 0 end
redis.call('SET', claim, owner, 'PX', ttl)
return 1
`,
);

export const releaseKey = script<number>(
  'release-key',
  `
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
return redis.call('DEL', KEYS[2])
`,
);
