import { script } from './script.js';

/**
 * Removes a run and stores its tombstone, once. Its event ids are kept, each with an output record without outputs, and so are the accounts to
 * charge for calls that end later. `always`: also a run that has not ended.
 */
export const eraseRun = script<'erased' | 'open'>(
  'erase-run',
  `
local run, applied, open, unpublished = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local runId, tombstone, at, always, noOutputs, ttl = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local held = redis.call('HMGET', run, 'terminal', 'erased')
if held[2] then return 'erased' end
if always ~= '1' and held[1] ~= '1' and redis.call('EXISTS', run) == 1 then return 'open' end
redis.call('HDEL', run, 'header', 'template', 'question', 'state')
redis.call('HSET', run, 'erased', tombstone, 'erasedAt', at == '' and text(now) or at, 'terminal', '1', 'ended', '1', 'status', 'erased')
for _, eventId in ipairs(redis.call('HKEYS', applied)) do redis.call('HSET', applied, eventId, noOutputs) end
for n = 6, #KEYS do redis.call('DEL', KEYS[n]) end
redis.call('SREM', open, runId)
redis.call('ZREM', unpublished, runId)
redis.call('PEXPIRE', run, ttl)
redis.call('PEXPIRE', applied, ttl)
return 'erased'
`,
);

/** [tombstone, erased at] */
export const readErased = script<[string | null, string | null]>(
  'read-erased',
  `return redis.call('HMGET', KEYS[2], 'erased', 'erasedAt')`,
);
