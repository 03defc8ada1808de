import { script } from './script.js';

/** Returns the holder of the name from now on; a time of '' means permanently. */
export const claimOnce = script<string>(
  'claim-once',
  `
local name, holder, ttl = KEYS[2], ARGV[3], ARGV[4]
local held = redis.call('GET', name)
if held then return held end
if ttl == '' then redis.call('SET', name, holder) else redis.call('SET', name, holder, 'PX', ttl) end
return holder
`,
);
