import { script } from './script.js';

/** Takes fields and increments, alternating. The nonce distinguishes a change sent twice from a repeated event. */
export const addScores = script<number>(
  'add-scores',
  `
local event, scores = KEYS[2], KEYS[3]
local nonce, ttl = ARGV[3], ARGV[4]
local applied = redis.call('GET', event)
if applied then
  redis.call('PEXPIRE', event, ttl)
  return applied == nonce and 1 or 0
end
for n = 5, #ARGV, 2 do redis.call('HINCRBYFLOAT', scores, ARGV[n], ARGV[n + 1]) end
redis.call('SET', event, nonce, 'PX', ttl)
return 1
`,
);

/** Returns one score per field. */
export const readScores = script<(string | null)[]>(
  'read-scores',
  `
local found = {}
for n = 3, #ARGV do found[n - 2] = redis.call('HGET', KEYS[2], ARGV[n]) end
return found
`,
);

export const allScores = script<string[]>('all-scores', `return redis.call('HGETALL', KEYS[2])`);
