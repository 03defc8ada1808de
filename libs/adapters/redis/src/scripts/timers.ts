import { script } from './script.js';

/** [member, due at, data] of each, earliest first. */
export const dueTimers = script<[string, string, string][]>(
  'due-timers',
  `
local timers, timerData = KEYS[2], KEYS[3]
local due = redis.call('ZRANGEBYSCORE', timers, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local found = {}
for n = 1, #due, 2 do found[#found + 1] = { due[n], due[n + 1], redis.call('HGET', timerData, due[n]) } end
return found
`,
);

/** The data of a timer begins with its arm number and a blank. */
export const removeTimer = script<number>(
  'remove-timer',
  `
local timers, timerData = KEYS[2], KEYS[3]
local member, arm = ARGV[3], ARGV[4] .. ' '
local data = redis.call('HGET', timerData, member)
if not data or string.sub(data, 1, #arm) ~= arm then return 0 end
redis.call('ZREM', timers, member)
redis.call('HDEL', timerData, member)
return 1
`,
);

/** [now, when the earliest timer is due] */
export const nextTimer = script<[number, string | null]>(
  'next-timer',
  `
local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return { now, head[2] or false }
`,
);
