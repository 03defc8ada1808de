import { script } from './script.js';

/** [attempts, deaths, suspects]. A process that begins again what it has not ended is at the same attempt. */
export const beginDelivery = script<[number, number, number]>(
  'begin-delivery',
  `
local delivery, leases = KEYS[2], KEYS[3]
local process, ttl = ARGV[3], ARGV[4]
if redis.call('HSETNX', delivery, 'opener:' .. process, '1') == 1 then redis.call('HINCRBY', delivery, 'attempts', 1) end
redis.call('PEXPIRE', delivery, ttl)
local deaths, suspects = 0, 0
for _, field in ipairs(redis.call('HKEYS', delivery)) do
  local opener = string.match(field, '^opener:(.*)$')
  if opener and opener ~= process then
    local expires = tonumber(redis.call('ZSCORE', leases, opener) or 0)
    if expires > now then suspects = suspects + 1 else deaths = deaths + 1 end
  end
end
return { tonumber(redis.call('HGET', delivery, 'attempts')), deaths, suspects }
`,
);

export const failDelivery = script<number>('fail-delivery', `return redis.call('HDEL', KEYS[2], 'opener:' .. ARGV[3])`);

export const releaseDelivery = script<number>(
  'release-delivery',
  `
if redis.call('HDEL', KEYS[2], 'opener:' .. ARGV[3]) == 0 then return 0 end
if redis.call('HINCRBY', KEYS[2], 'attempts', -1) == 0 then redis.call('DEL', KEYS[2]) end
return 1
`,
);

export const endDelivery = script<number>('end-delivery', `return redis.call('DEL', KEYS[2])`);
