import { script } from './script.js';

/** [version, state, now] */
export const readBreaker = script<[string | null, string | null, string]>(
  'read-breaker',
  `
local held = redis.call('HMGET', KEYS[2], 'version', 'state')
return { held[1], held[2], text(now) }
`,
);

/**
 * [swapped, version, state, now]. The nonce, stored with each of the last versions, distinguishes a write sent twice from an equal write of another
 * process that was faster.
 */
export const swapBreaker = script<[number, string | null, string | null, string]>(
  'swap-breaker',
  `
local breaker, expected, next, nonce, kept, ttl = KEYS[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local version = tonumber(redis.call('HGET', breaker, 'version')) or 0
local swapped = 0
for written = version, math.max(1, version - kept + 1), -1 do
  if redis.call('HGET', breaker, 'nonce:' .. text(written)) == nonce then swapped = 1 break end
end
if swapped == 0 and version == expected then
  swapped = 1
  local new = text(version + 1)
  redis.call('HSET', breaker, 'version', new, 'state', next, 'nonce:' .. new, nonce)
  redis.call('HDEL', breaker, 'nonce:' .. text(version + 1 - kept))
  redis.call('PEXPIRE', breaker, ttl)
end
local held = redis.call('HMGET', breaker, 'version', 'state')
return { swapped, held[1], held[2], text(now) }
`,
);
