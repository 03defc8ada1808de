import { script } from './script.js';

/** Replaces the mark of a bucket. Generation 0, lower than any seen before, means that the store is being rebuilt. */
export const markBucket = script<number>(
  'mark-bucket',
  `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'storeId', ARGV[3], 'generation', ARGV[4], 'format', ARGV[5], 'everywhere', '1')
return 1
`,
);

/**
 * Restores one run, all or nothing; replaces an older version, keeps a newer one. The change arrives as JSON whose payloads are
 * strings ('' if absent).
 */
export const restoreRun = script<'restored' | 'kept'>(
  'restore-run',
  `
local run, applied, stream, streamTasks = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local journal, cancelled, commands = KEYS[6], KEYS[7], KEYS[8]
local open, unpublished, timers, timerData = KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local runId, r = ARGV[3], cjson.decode(ARGV[4])
local ttl, streamTtl = tonumber(ARGV[5]), tonumber(ARGV[6])
local function raise(key, field, least)
  if (tonumber(redis.call('HGET', key, field)) or 0) < tonumber(least) then redis.call('HSET', key, field, least) end
end

if redis.call('HEXISTS', run, 'erased') == 1 then return 'kept' end
local held = redis.call('HMGET', run, 'version', 'terminal', 'header')
if r.header ~= '' and not held[3] then
  redis.call('HSET', run, 'header', r.header, 'template', r.template, 'question', r.question, 'accounts', r.accounts)
end
local heldVersion = tonumber(held[1]) or 0
local replaces = tonumber(r.version) > heldVersion
if replaces then
  redis.call('HSET', run, 'version', r.version, 'state', r.state, 'status', r.status, 'terminal', r.terminal)
  redis.call('DEL', applied, stream, streamTasks)
  for _, one in ipairs(r.applied) do redis.call('HSET', applied, one[1], one[2]) end
  for _, entry in ipairs(r.entries) do redis.call('RPUSH', stream, entry) end
  if r.ended == '1' then redis.call('HSET', run, 'ended', '1') end
  for _, member in ipairs(r.disarmed) do
    redis.call('ZREM', timers, member)
    redis.call('HDEL', timerData, member)
  end
  for _, timer in ipairs(r.timers) do
    redis.call('ZADD', timers, timer[2], timer[1])
    redis.call('HSET', timerData, timer[1], timer[3])
  end
else
  redis.call('HSETNX', run, 'status', r.status)
end
local over = redis.call('HGET', run, 'terminal') == '1'
if replaces or not over then raise(run, 'streamBase', r.streamBase) end
if over then
  redis.call('SREM', open, runId)
  redis.call('ZREM', unpublished, runId)
else
  if not string.find(runId, '~', 1, true) then redis.call('SADD', open, runId) end
  raise(journal, 'base', r.attempt)
  raise(commands, 'seq', r.commandSeq)
  if replaces or heldVersion > 0 then redis.call('ZREM', unpublished, runId)
  elseif r.header ~= '' then redis.call('ZADD', unpublished, text(now), runId) end
end
if #r.cancels > 0 then redis.call('SADD', cancelled, unpack(r.cancels)) end

if over then
  for _, key in ipairs({ run, applied, journal, cancelled, commands }) do redis.call('PEXPIRE', key, text(ttl)) end
  if replaces then
    for _, key in ipairs({ stream, streamTasks }) do redis.call('PEXPIRE', key, text(streamTtl)) end
  end
else
  for _, key in ipairs({ run, applied, stream, streamTasks, journal, cancelled, commands }) do redis.call('PERSIST', key) end
end
return replaces and 'restored' or 'kept'
`,
);

/**
 * Takes [step, attempt, outcome, owner of the step, whether the outcome of an ended run is left out] of each call, all of which are on the log;
 * returns how many had no outcome yet.
 */
export const restoreCalls = script<number>(
  'restore-calls',
  `
local journal, started, run = KEYS[2], KEYS[3], KEYS[4]
local ttl, written = ARGV[4], 0
if redis.call('HEXISTS', run, 'erased') == 1 then return 0 end
local over = redis.call('HGET', run, 'terminal') == '1'
for _, call in ipairs(cjson.decode(ARGV[3])) do
  local step, attempt = call[1], tonumber(call[2])
  local held = redis.call('HMGET', journal, 'attempt:' .. step, 'outcome:' .. step)
  if not held[2] and over and call[5] == 1 then
    redis.call('HSET', journal, 'outcome:' .. step, '')
    written = written + 1
  elseif not held[2] then
    attempt = math.max(attempt, tonumber(held[1]) or 0)
    redis.call('HSET', journal, 'attempt:' .. step, text(attempt), 'outcome:' .. step, call[3])
    written = written + 1
  end
  for _, name in ipairs(call[4]) do redis.call('SADD', started, name) end
end
keep(run, journal, ttl)
keep(run, started, ttl)
return written
`,
);
