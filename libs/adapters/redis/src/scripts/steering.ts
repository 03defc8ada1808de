import { script } from './script.js';

export const setCancel = script<number>(
  'set-cancel',
  `
local cancelled, run = KEYS[2], KEYS[3]
local id, ttl, hint = ARGV[3], ARGV[4], ARGV[5]
redis.call('SADD', cancelled, id)
keep(run, cancelled, ttl)
redis.call('PUBLISH', hint, id)
return 1
`,
);

/** The given ids that are flagged or whose run has ended; two keys per id: its flags and its run. */
export const findCancelled = script<string[]>(
  'find-cancelled',
  `
local found = {}
for n = 3, #ARGV do
  local cancelled, run = KEYS[2 * n - 4], KEYS[2 * n - 3]
  if redis.call('SISMEMBER', cancelled, ARGV[n]) == 1 or redis.call('HGET', run, 'terminal') == '1' then
    found[#found + 1] = ARGV[n]
  end
end
return found
`,
);

/** The number belongs to the nonce: a request sent twice takes only one number. */
export const nextCommand = script<number>(
  'next-command',
  `
local commands, run = KEYS[2], KEYS[3]
local nonce, ttl = ARGV[3], ARGV[4]
local given = redis.call('HGET', commands, 'nonce:' .. nonce)
if given then return tonumber(given) end
local seq = redis.call('HINCRBY', commands, 'seq', 1)
redis.call('HSET', commands, 'nonce:' .. nonce, seq)
keep(run, commands, ttl)
return seq
`,
);
