import { script } from './script.js';

export const readSealKey = script<string | null>('read-seal-key', `return redis.call('GET', KEYS[2])`);

/** Returns the key that is stored from now on. */
export const keepSealKey = script<string>(
  'keep-seal-key',
  `
local held = redis.call('GET', KEYS[2])
if held then return held end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
return ARGV[3]
`,
);

/** Returns whether there was one. */
export const destroySealKey = script<number>(
  'destroy-seal-key',
  `
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
return 1
`,
);
