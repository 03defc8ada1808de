import { script } from './script.js';

/** Removes a process from the leases and from every class it served. */
const forget = `
local leases, classesOf = KEYS[2], KEYS[3]
local function forget(id, classPrefix)
  for _, class in ipairs(cjson.decode(redis.call('HGET', classesOf, id) or '[]')) do redis.call('ZREM', classPrefix .. class, id) end
  redis.call('HDEL', classesOf, id)
  redis.call('ZREM', leases, id)
end
`;

/**
 * Renews one process and removes those whose leases ended. Scores are the end times of leases.
 * [the time, whether every process has the last of the classes]
 */
export const renewProcess = script<[number, number]>(
  'renew-process',
  `${forget}
local id, ttl, classes, classPrefix = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', text(now))) do forget(gone, classPrefix) end
if redis.call('HGET', classesOf, id) ~= classes then forget(id, classPrefix) end
redis.call('ZADD', leases, text(now + ttl), id)
redis.call('HSET', classesOf, id, classes)
local last
for _, class in ipairs(cjson.decode(classes)) do
  redis.call('ZADD', classPrefix .. class, text(now + ttl), id)
  last = class
end
local function living(key) return redis.call('ZCOUNT', key, '(' .. text(now), '+inf') end
return { now, living(leases) == living(classPrefix .. last) and 1 or 0 }
`,
);

/**
 * Raises the generation of a bucket that has a mark. Runs with each renewal, so an earlier copy counts as older.
 * [store id, generation]
 */
export const raiseGeneration = script<[string | null, string | null]>(
  'raise-generation',
  `
if redis.call('HEXISTS', KEYS[1], 'storeId') == 1 then redis.call('HINCRBY', KEYS[1], 'generation', 1) end
return redis.call('HMGET', KEYS[1], 'storeId', 'generation')
`,
);

export const endProcess = script<number>('end-process', `${forget} forget(ARGV[3], ARGV[4]) return 1`);

export const leaseLeft = script<number>(
  'lease-left',
  `
local expires = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[3]) or 0)
return math.max(0, expires - now)
`,
);

/** The given processes whose leases have not ended. */
export const livingOf = script<string[]>(
  'living-of',
  `
local found = {}
for n = 3, #ARGV do
  if (tonumber(redis.call('ZSCORE', KEYS[2], ARGV[n]) or 0)) > now then found[#found + 1] = ARGV[n] end
end
return found
`,
);

/** Leases that have not ended. */
export const liveProcesses = script<string[]>('live-processes', `return redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. text(now), '+inf')`);

/** Whether every process serves this class. */
export const allHave = script<number>(
  'all-have',
  `
local function living(key) return redis.call('ZCOUNT', key, '(' .. text(now), '+inf') end
return living(KEYS[2]) == living(KEYS[3]) and 1 or 0
`,
);

export const countWorkers = script<number>('count-workers', `return redis.call('ZCOUNT', KEYS[2], '(' .. text(now), '+inf')`);

export const countSlots = script<number>('count-slots', `return redis.call('ZCOUNT', KEYS[2], '(' .. text(now), '+inf')`);

/** Places in the queue are numbers that rise; those of holders that no longer ask are dropped. */
export const acquireSlot = script<number>(
  'acquire-slot',
  `
local slots, waiting, waits = KEYS[2], KEYS[3], KEYS[4]
local holder, limit, ttl, wait = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', slots, '-inf', text(now))
if not redis.call('ZSCORE', slots, holder) then
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', waits, '-inf', text(now))) do
    redis.call('ZREM', waiting, gone)
    redis.call('ZREM', waits, gone)
  end
  local before = redis.call('ZRANK', waiting, holder) or redis.call('ZCARD', waiting)
  if redis.call('ZCARD', slots) + before >= limit then
    if wait > 0 then
      local last = tonumber(redis.call('ZREVRANGE', waiting, 0, 0, 'WITHSCORES')[2] or 0)
      redis.call('ZADD', waiting, 'NX', text(last + 1), holder)
      redis.call('ZADD', waits, text(now + wait), holder)
      for _, key in ipairs({ waiting, waits }) do redis.call('PEXPIRE', key, text(math.max(wait, redis.call('PTTL', key)))) end
    end
    return 0
  end
  redis.call('ZREM', waiting, holder)
  redis.call('ZREM', waits, holder)
end
redis.call('ZADD', slots, text(now + ttl), holder)
-- Each slot is renewed for as long as any other, so the last one's time is the time of all.
redis.call('PEXPIRE', slots, text(math.max(ttl, redis.call('PTTL', slots))))
return 1
`,
);

export const releaseSlot = script<number>(
  'release-slot',
  `
local slots, holder, hint, name = KEYS[2], ARGV[3], ARGV[4], ARGV[5]
redis.call('ZREM', KEYS[3], holder)
redis.call('ZREM', KEYS[4], holder)
local released = redis.call('ZREM', slots, holder)
if released == 1 then redis.call('PUBLISH', hint, name) end
return released
`,
);
