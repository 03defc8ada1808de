import { script } from './script.js';

/** Takes a place for an open run, once: [1, number taken], or [0, number taken, each run with a place ...]. */
export const takePlace = script<[number, number, ...string[]]>(
  'take-place',
  `
local places, runId, limit = KEYS[2], ARGV[3], tonumber(ARGV[4])
local taken = redis.call('ZCARD', places)
if redis.call('ZSCORE', places, runId) then return { 1, taken } end
if taken < limit then
  redis.call('ZADD', places, text(now), runId)
  return { 1, taken + 1 }
end
local found = redis.call('ZRANGE', places, 0, -1)
table.insert(found, 1, taken)
table.insert(found, 1, 0)
return found
`,
);

/** Frees places, except recent ones (given in milliseconds) of runs of which only the place is known yet. */
export const freePlaces = script<number>(
  'free-places',
  `
local places, young = KEYS[2], now - tonumber(ARGV[3])
for n = 4, #ARGV, 2 do
  local takenAt = tonumber(redis.call('ZSCORE', places, ARGV[n]) or 0)
  if ARGV[n + 1] == 'over' or takenAt < young then redis.call('ZREM', places, ARGV[n]) end
end
return 1
`,
);

/** The given runs that are not open, each with `over`, or `unknown` if it was never accepted. */
export const findClosed = script<string[]>(
  'find-closed',
  `
local open, runPrefix, runSuffix, found = KEYS[2], ARGV[3], ARGV[4], {}
for n = 5, #ARGV do
  if redis.call('SISMEMBER', open, ARGV[n]) == 0 then
    found[#found + 1] = ARGV[n]
    found[#found + 1] = redis.call('HGET', runPrefix .. ARGV[n] .. runSuffix, 'terminal') == '1' and 'over' or 'unknown'
  end
end
return found
`,
);

/** [whether it has a header, whether it is over] */
export const readAcceptance = script<[number, number]>(
  'read-acceptance',
  `return { redis.call('HEXISTS', KEYS[2], 'header'), redis.call('HGET', KEYS[2], 'terminal') == '1' and 1 or 0 }`,
);

/** Stores the header of a run, once. Returns whether the run was erased. */
export const acceptRun = script<0 | 1>(
  'accept-run',
  `
local run, open, unpublished = KEYS[2], KEYS[3], KEYS[4]
local runId, header, template, question, status, accounts = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
if redis.call('HEXISTS', run, 'erased') == 1 then return 1 end
if redis.call('HEXISTS', run, 'header') == 1 then return 0 end
redis.call('HSET', run, 'header', header, 'template', template, 'question', question, 'accounts', accounts)
redis.call('HSETNX', run, 'status', status)
local isChild = string.find(runId, '~', 1, true)
if redis.call('HGET', run, 'terminal') ~= '1' and not isChild then redis.call('SADD', open, runId) end
if redis.call('HEXISTS', run, 'version') == 0 then redis.call('ZADD', unpublished, text(now), runId) end
return 0
`,
);

/**
 * Adds a run to the list of its tenant, once. Acceptance times in the list grow strictly, so that it can be paged by them. Entries older
 * than `keptMs` are dropped; the list expires with its last entry.
 */
export const listRun = script<number>(
  'list-run',
  `
local tenant, runId, kept = KEYS[2], ARGV[3], tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', tenant, '-inf', text(now - kept))
if redis.call('ZSCORE', tenant, runId) then return 0 end
local newest = redis.call('ZREVRANGE', tenant, 0, 0, 'WITHSCORES')
redis.call('ZADD', tenant, text(math.max(now, (tonumber(newest[2]) or 0) + 1)), runId)
return redis.call('PEXPIRE', tenant, text(kept))
`,
);

/** Lists a rebuilt run under its acceptance time, or the next free one. */
export const relistRun = script<number>(
  'relist-run',
  `
local tenant, runId, at, kept = KEYS[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
if redis.call('ZSCORE', tenant, runId) then return 0 end
while redis.call('ZCOUNT', tenant, text(at), text(at)) > 0 do at = at + 1 end
redis.call('ZADD', tenant, text(at), runId)
return redis.call('PEXPIRE', tenant, kept)
`,
);

export const noteRetry = script<number>('note-retry', `redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4]) return 1`);

export const readHeader = script<string | null>('read-header', `return redis.call('HGET', KEYS[2], 'header')`);
export const findRetry = script<string | null>('find-retry', `return redis.call('GET', KEYS[2])`);
export const countOpen = script<number>('count-open', `return redis.call('SCARD', KEYS[2])`);

/** [accepted at, header] of runs without state, oldest first. */
export const findUnpublished = script<[string, string][]>(
  'find-unpublished',
  `
local unpublished = KEYS[2]
local olderThan, limit, runPrefix, runSuffix = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local found = {}
local waiting = redis.call('ZRANGEBYSCORE', unpublished, '-inf', text(now - olderThan), 'WITHSCORES', 'LIMIT', 0, limit)
for n = 1, #waiting, 2 do
  found[#found + 1] = { waiting[n + 1], redis.call('HGET', runPrefix .. waiting[n] .. runSuffix, 'header') }
end
return found
`,
);

/** Run ids of a tenant and their acceptance times, newest first, alternating. */
export const listPlaces = script<string[]>(
  'list-places',
  `return redis.call('ZREVRANGEBYSCORE', KEYS[2], ARGV[3], '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[4])`,
);

/** Removes expired runs from a tenant's list, except recently listed ones, which may still be being accepted. */
export const unlistRuns = script<number>(
  'unlist-runs',
  `
local tenant, young = KEYS[2], now - tonumber(ARGV[3])
for n = 4, #ARGV do
  if (tonumber(redis.call('ZSCORE', tenant, ARGV[n])) or 0) < young then redis.call('ZREM', tenant, ARGV[n]) end
end
return 1
`,
);

export type Summary = [string | null, string | null, string | null, string | null];

/** [template, status, terminal, question] of each of the runs. */
export const readSummaries = script<Summary[]>(
  'read-summaries',
  `
local found = {}
for n = 2, #KEYS do found[#found + 1] = redis.call('HMGET', KEYS[n], 'template', 'status', 'terminal', 'question') end
return found
`,
);
