import { script } from './script.js';

/** [attempts, each other process that began it without an end ...]. Beginning again without an end keeps the attempt. */
export const beginDelivery = script<[number, ...string[]]>(
  'begin-delivery',
  `
local delivery = KEYS[2]
local process, ttl = ARGV[3], ARGV[4]
if redis.call('HSETNX', delivery, 'opener:' .. process, '1') == 1 then redis.call('HINCRBY', delivery, 'attempts', 1) end
redis.call('PEXPIRE', delivery, ttl)
local found = { tonumber(redis.call('HGET', delivery, 'attempts')) }
for _, field in ipairs(redis.call('HKEYS', delivery)) do
  local opener = string.match(field, '^opener:(.*)$')
  if opener and opener ~= process then found[#found + 1] = opener end
end
return found
`,
);

/** How many other processes began it without an end. */
export const unendedDelivery = script<number>(
  'unended-delivery',
  `
local others = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local opener = string.match(field, '^opener:(.*)$')
  if opener and opener ~= ARGV[3] then others = others + 1 end
end
return others
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
