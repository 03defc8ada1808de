import { awayOwner } from '@conclave/ports';
import { script } from './script.js';

const clients = `
local attached, run, attachers, attachedBy, parked, cancelled = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local runId, client, owner, flag, ttl = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
`;

/** Returns the process of each attached client. */
export const attachClient = script<string[]>(
  'attach-client',
  `${clients}
local all = redis.call('HGETALL', attached)
for n = 1, #all, 2 do if all[n + 1] == '${awayOwner}' then redis.call('HDEL', attached, all[n]) end end
redis.call('HSET', attached, client, owner)
keep(run, attached, ttl)
redis.call('SADD', attachers, owner)
redis.call('SADD', attachedBy, runId)
redis.call('ZREM', parked, runId)
redis.call('SREM', cancelled, flag)
return redis.call('HVALS', attached)
`,
);

export const detachClient = script<string[]>(
  'detach-client',
  `${clients}
redis.call('HDEL', attached, client)
local owners, own = redis.call('HVALS', attached), 0
for _, each in ipairs(owners) do if each == owner then own = own + 1 end end
if own == 0 then redis.call('SREM', attachedBy, runId) end
return owners
`,
);

/** Records that a client is away, under a process id that is never alive. ARGV[8]: living processes, as JSON. Returns the number of attached clients. */
export const leaveRun = script<number>(
  'leave-run',
  `${clients}
redis.call('HSET', attached, client, owner)
keep(run, attached, ttl)
redis.call('SADD', attachers, owner)
redis.call('SADD', attachedBy, runId)
local living, left = {}, 0
for _, id in ipairs(cjson.decode(ARGV[8])) do living[id] = true end
for _, each in ipairs(redis.call('HVALS', attached)) do if living[each] then left = left + 1 end end
if left == 0 and isOpen(run) and redis.call('ZADD', parked, 'NX', text(now), runId) == 1 then
  redis.call('SADD', cancelled, flag)
  keep(run, cancelled, ttl)
end
return left
`,
);

/**
 * Parks runs without a living client and unparks runs that have one again. Forgets ended runs, because their clients do not detach.
 * `living`: live processes as JSON. [parked now, overdue run id, since when, ...]
 */
export const parkRuns = script<[number, ...string[]]>(
  'park-runs',
  `
local attachers, parked = KEYS[2], KEYS[3]
local parkMs, limit, runPrefix, attachersPrefix, ttl = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local living = {}
for _, id in ipairs(cjson.decode(ARGV[8])) do living[id] = true end
local function lives(owner) return living[owner] end
local function key(runId, name) return runPrefix .. runId .. ':' .. name end
local function isAbandoned(runId)
  if not isOpen(key(runId, 'run')) then return false end
  local owners = redis.call('HVALS', key(runId, 'attached'))
  for _, owner in ipairs(owners) do if lives(owner) then return false end end
  return #owners > 0
end
local fresh = 0
for _, owner in ipairs(redis.call('SMEMBERS', attachers)) do
  local attachedBy, isDead = attachersPrefix .. owner, not lives(owner)
  for _, runId in ipairs(redis.call('SMEMBERS', attachedBy)) do
    if not isOpen(key(runId, 'run')) then
      redis.call('SREM', attachedBy, runId)
    elseif isDead and isAbandoned(runId) and redis.call('ZADD', parked, 'NX', text(now), runId) == 1 then
      redis.call('SADD', key(runId, 'cancelled'), runId .. '/parked')
      keep(key(runId, 'run'), key(runId, 'cancelled'), ttl)
      fresh = fresh + 1
    end
  end
  if redis.call('SCARD', attachedBy) == 0 then redis.call('SREM', attachers, owner) end
end
for _, runId in ipairs(redis.call('ZRANGE', parked, 0, -1)) do
  if not isAbandoned(runId) then
    redis.call('ZREM', parked, runId)
    redis.call('SREM', key(runId, 'cancelled'), runId .. '/parked')
  end
end
local found = redis.call('ZRANGEBYSCORE', parked, '-inf', text(now - parkMs), 'WITHSCORES', 'LIMIT', 0, limit)
table.insert(found, 1, fresh)
return found
`,
);
