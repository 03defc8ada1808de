import { script } from './script.js';

/**
 * First trace of a run. Times of acceptance grow strictly inside a tenant, so that a list can be paged by them. The two
 * oldest places of the tenant's list are given up when their runs have expired, so the list does not grow for ever.
 */
export const acceptRun = script<['accepted'] | ['overloaded', number]>(
  'accept-run',
  `
local run, open, unpublished, tenant, retry = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local runId, header, template, question, status = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local openLimit, retryTtl, runPrefix, runSuffix, accounts = tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11], ARGV[12]

if redis.call('HEXISTS', run, 'header') == 1 then return { 'accepted' } end
local isOver = redis.call('HGET', run, 'terminal') == '1'
local count = redis.call('SCARD', open)
if count >= openLimit and not isOver then return { 'overloaded', count } end

local newest = redis.call('ZREVRANGE', tenant, 0, 0, 'WITHSCORES')
local acceptedAt = math.max(now, (tonumber(newest[2]) or 0) + 1)
redis.call('HSET', run, 'header', header, 'template', template, 'question', question, 'acceptedAt', text(acceptedAt), 'accounts', accounts)
redis.call('HSETNX', run, 'status', status)
redis.call('ZADD', tenant, text(acceptedAt), runId)
if not isOver then redis.call('SADD', open, runId) end
if redis.call('HEXISTS', run, 'version') == 0 then redis.call('ZADD', unpublished, text(now), runId) end
if retry then redis.call('SET', retry, runId, 'NX', 'PX', retryTtl) end

for _, old in ipairs(redis.call('ZRANGE', tenant, 0, 1)) do
  if redis.call('EXISTS', runPrefix .. old .. runSuffix) == 0 then redis.call('ZREM', tenant, old) end
end
return { 'accepted' }
`,
);

export const readHeader = script<string | null>('read-header', `return redis.call('HGET', KEYS[2], 'header')`);
export const findRetry = script<string | null>('find-retry', `return redis.call('GET', KEYS[2])`);
export const countOpen = script<number>('count-open', `return redis.call('SCARD', KEYS[2])`);

/** Headers of runs without state, oldest first. */
export const findUnpublished = script<string[]>(
  'find-unpublished',
  `
local unpublished = KEYS[2]
local olderThan, limit, runPrefix, runSuffix = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local headers = {}
for _, runId in ipairs(redis.call('ZRANGEBYSCORE', unpublished, '-inf', text(now - olderThan), 'LIMIT', 0, limit)) do
  headers[#headers + 1] = redis.call('HGET', runPrefix .. runId .. runSuffix, 'header')
end
return headers
`,
);

/** [run id, template, status, terminal, accepted at, question] of each; places of expired runs are given up. */
export const listRuns = script<[string, string, string, string | null, string, string][]>(
  'list-runs',
  `
local tenant = KEYS[2]
local limit, before, runPrefix, runSuffix = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local found = {}
while #found < limit do
  local page = redis.call('ZREVRANGEBYSCORE', tenant, before, '-inf', 'WITHSCORES', 'LIMIT', 0, limit)
  if #page == 0 then break end
  for n = 1, #page, 2 do
    local held = redis.call('HMGET', runPrefix .. page[n] .. runSuffix, 'template', 'status', 'terminal', 'acceptedAt', 'question')
    if not held[4] then
      redis.call('ZREM', tenant, page[n])
    elseif #found < limit then
      found[#found + 1] = { page[n], held[1], held[2], held[3], held[4], held[5] }
    end
    before = '(' .. page[n + 1]
  end
end
return found
`,
);
