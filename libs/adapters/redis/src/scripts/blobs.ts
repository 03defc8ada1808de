import { script } from './script.js';

/**
 * Reserves quota for a body until it expires; returns 0 when the quota is used up. A member is `<hash>:<bytes>`. A body with a reservation
 * keeps it, with a new expiry. Also frees reservations of expired bodies.
 */
export const takeRoom = script<number>(
  'take-room',
  `
local bodies, total = KEYS[2], KEYS[3]
local member, bytes, ttl, quota = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', bodies, '-inf', text(now), 'LIMIT', 0, 1000)) do
  redis.call('ZREM', bodies, gone)
  redis.call('DECRBY', total, string.match(gone, ':(%d+)$'))
end
if not redis.call('ZSCORE', bodies, member) then
  if tonumber(redis.call('GET', total) or 0) + bytes > quota then return 0 end
  redis.call('INCRBY', total, text(bytes))
end
redis.call('ZADD', bodies, text(now + ttl), member)
return 1
`,
);
