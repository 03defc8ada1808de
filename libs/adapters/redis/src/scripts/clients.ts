import { script } from './script.js';

/** `lives`: whether a process has a lease. `count`: attached clients, those of dead processes left out unless they are the caller's own. */
const living = `
local function lives(owner) return (tonumber(redis.call('ZSCORE', leases, owner) or 0)) > now end
`;
const counting = `
local attached, run, attachers, attachedBy, parked, cancelled, leases = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local runId, client, owner, flag, ttl = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
${living}
local function count()
  local clients, own = 0, 0
  for _, each in ipairs(redis.call('HVALS', attached)) do
    if each == owner then own = own + 1 end
    if each == owner or lives(each) then clients = clients + 1 end
  end
  return clients, own
end
`;

export const attachClient = script<number>(
  'attach-client',
  `${counting}
redis.call('HSET', attached, client, owner)
keep(run, attached, ttl)
redis.call('SADD', attachers, owner)
redis.call('SADD', attachedBy, runId)
redis.call('ZREM', parked, runId)
redis.call('SREM', cancelled, flag)
return (count())
`,
);

export const detachClient = script<number>(
  'detach-client',
  `${counting}
redis.call('HDEL', attached, client)
local clients, own = count()
if own == 0 then redis.call('SREM', attachedBy, runId) end
return clients
`,
);

/**
 * Parks what nobody waits for, takes up what somebody waits for again. Runs that are over are forgotten here, because their clients do
 * not detach. [parked now, overdue run ids ...]
 */
export const parkRuns = script<[number, ...string[]]>(
  'park-runs',
  `
local attachers, parked, leases = KEYS[2], KEYS[3], KEYS[4]
local parkMs, limit, runPrefix, attachersPrefix, ttl = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
${living}
local function key(runId, name) return runPrefix .. runId .. '}:' .. name end
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
  if isDead and redis.call('SCARD', attachedBy) == 0 then redis.call('SREM', attachers, owner) end
end
for _, runId in ipairs(redis.call('ZRANGE', parked, 0, -1)) do
  if not isAbandoned(runId) then
    redis.call('ZREM', parked, runId)
    redis.call('SREM', key(runId, 'cancelled'), runId .. '/parked')
  end
end
local found = redis.call('ZRANGEBYSCORE', parked, '-inf', text(now - parkMs), 'LIMIT', 0, limit)
table.insert(found, 1, fresh)
return found
`,
);
