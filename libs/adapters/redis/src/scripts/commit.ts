import { script } from './script.js';

/** [version, state, stored output record, whether the run was erased] */
export type LoadReply = [number, string | null, string | null, 0 | 1];

/** Reads the state that a commit builds on. Renews the expiry of a stored output record. */
export const loadRun = script<LoadReply>(
  'load-run',
  `
local run, applied = KEYS[2], KEYS[3]
local eventId, ttl = ARGV[3], ARGV[4]
local found = redis.call('HGET', applied, eventId)
if found then keep(run, applied, ttl) end
local held = redis.call('HMGET', run, 'version', 'state', 'erased')
return { tonumber(held[1]) or 0, held[2], found, held[3] and 1 or 0 }
`,
);

export type CommitReply = ['applied'] | ['repeated', string, string | null] | ['conflict', number, string | null] | ['erased'];

/**
 * One step, all or nothing, with compare-and-set on the version. The output record begins with the nonce of its commit, which distinguishes the
 * same commit sent twice from a repeated event; the outputs follow it, or nothing once they are on the log. The step arrives as JSON whose payloads
 * are strings, so Lua never rewrites them.
 */
export const writeStep = script<CommitReply>(
  'write-step',
  `
local run, applied, stream, streamTasks = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local open, unpublished, timers, timerData = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local runId, eventId, nonce, expected = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local state, outputs, status, terminal, ended = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local step = cjson.decode(ARGV[12])
local ttl, streamTtl = ARGV[13], ARGV[14]
local streamHint, cancelHint, timerHint = ARGV[15], ARGV[16], ARGV[17]

local found = redis.call('HGET', applied, eventId)
local held = redis.call('HMGET', run, 'version', 'terminal', 'state', 'erased')
if held[4] then return { 'erased' } end
if found then
  if string.sub(found, 1, #nonce) == nonce then return { 'applied' } end
  keep(run, applied, ttl)
  return { 'repeated', found, held[3] }
end
local version = tonumber(held[1]) or 0
if version ~= expected then return { 'conflict', version, held[3] } end

local over = terminal == '1' or held[2] == '1'
redis.call('HSET', run, 'version', version + 1, 'state', state, 'status', status, 'terminal', over and '1' or '0')
redis.call('HSET', applied, eventId, nonce .. outputs)
redis.call('ZREM', unpublished, runId)

for _, entry in ipairs(step.entries) do redis.call('RPUSH', stream, text(now) .. ' ' .. entry) end
if ended == '1' then redis.call('HSET', run, 'ended', '1') end

for _, member in ipairs(step.disarm) do
  redis.call('ZREM', timers, member)
  redis.call('HDEL', timerData, member)
end
local armed = {}
for _, timer in ipairs(step.arm) do
  redis.call('ZADD', timers, timer[2], timer[1])
  redis.call('HSET', timerData, timer[1], timer[3])
  armed[timer[1]] = timer[2]
end

for n, id in ipairs(step.cancels) do
  local cancelled, itsRun = KEYS[8 + 2 * n], KEYS[9 + 2 * n]
  redis.call('SADD', cancelled, id)
  keep(itsRun, cancelled, ttl)
end

if over then
  redis.call('SREM', open, runId)
  redis.call('PEXPIRE', run, ttl)
  redis.call('PEXPIRE', applied, ttl)
  for _, key in ipairs(step.perRun) do redis.call('PEXPIRE', key, ttl) end
  local ends = redis.call('HGET', run, 'ended') == '1'
  if held[2] ~= '1' or ended == '1' then
    redis.call('PEXPIRE', stream, ends and streamTtl or ttl)
    redis.call('PEXPIRE', streamTasks, ends and streamTtl or ttl)
  end
else
  keep(run, applied, ttl)
end

if #step.entries > 0 then redis.call('PUBLISH', streamHint, runId) end
for _, id in ipairs(step.cancels) do redis.call('PUBLISH', cancelHint, id) end
local head = redis.call('ZRANGE', timers, 0, 0, 'WITHSCORES')
if head[1] and armed[head[1]] then redis.call('PUBLISH', timerHint, head[2]) end
return { 'applied' }
`,
);

/** [version, state, status, terminal] */
export const readRun = script<[string | null, string | null, string | null, string | null]>(
  'read-run',
  `return redis.call('HMGET', KEYS[2], 'version', 'state', 'status', 'terminal')`,
);
