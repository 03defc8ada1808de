import { script } from './script.js';

/**
 * Forgets outputs of steps and outcomes of calls that are on the log. Two keys for each run: its applied events and its journal. ARGV[3] is JSON,
 * for each run its events and its calls as [step, attempt]; ARGV[4] is the length of a nonce. An event stays applied, with the nonce of its commit;
 * of a call an empty outcome stays. Creates no keys.
 */
export const forgetPublished = script<number>(
  'forget-published',
  `
local nonce, forgotten = tonumber(ARGV[4]), 0
for n, one in ipairs(cjson.decode(ARGV[3])) do
  local applied, journal = KEYS[2 * n], KEYS[2 * n + 1]
  for _, eventId in ipairs(one[1]) do
    local held = redis.call('HGET', applied, eventId)
    if held and #held > nonce + 2 then
      redis.call('HSET', applied, eventId, string.sub(held, 1, nonce) .. '[]')
      forgotten = forgotten + 1
    end
  end
  for _, call in ipairs(one[2]) do
    local step = call[1]
    local held = redis.call('HMGET', journal, 'attempt:' .. step, 'outcome:' .. step)
    if held[1] == call[2] and held[2] and held[2] ~= '' then
      redis.call('HDEL', journal, 'attempt:' .. step, 'nonce:' .. step, 'owner:' .. step, 'repeated:' .. step)
      redis.call('HSET', journal, 'outcome:' .. step, '')
      forgotten = forgotten + 1
    end
  end
end
return forgotten
`,
);
