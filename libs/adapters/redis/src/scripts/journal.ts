import { script } from './script.js';
import { payOnce } from './usage.js';

/** `held`: by this process, which may be alive. */
export type BeginReply = ['done', string, number] | ['held', string] | ['begun', number, string, state: string, ...string[]];

/**
 * A step has the fields attempt, nonce, owner, repeated and outcome. An abandoned step keeps its attempt and has no owner. Of a step that was
 * forgotten because the log has it, only an empty outcome is left. The field `base` applies to all steps of a rebuilt run: the lost store
 * may have used attempts up to it. `state` is the JSON of the run's state, empty when there is none or it was not requested. An owner that
 * the caller found `dead` is replaced. Once an owner has died, `repeated` stays set. A step of an erased run does not begin and leaves
 * nothing.
 */
export const beginStep = script<BeginReply>(
  'begin-step',
  `
local journal, started, run, cancelled = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local step, nonce, owner, dead, ttl, withState, flags = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])
if redis.call('HEXISTS', run, 'erased') == 1 then return { 'done', '', 0 } end
local function field(name) return name .. ':' .. step end
local function begun(attempt, repeated)
  local state = withState == '1' and redis.call('HGET', run, 'state') or ''
  local found, over = { 'begun', attempt, repeated, state }, redis.call('HGET', run, 'terminal') == '1'
  for n = 10, 9 + flags do
    if over or redis.call('SISMEMBER', cancelled, ARGV[n]) == 1 then found[#found + 1] = ARGV[n] end
  end
  return found
end
local held = redis.call('HMGET', journal, field('attempt'), field('nonce'), field('owner'), field('repeated'), field('outcome'), 'base')
local attempt, repeated = tonumber(held[1]) or 0, held[4] or '0'
if held[5] then
  keep(run, journal, ttl)
  return { 'done', held[5], attempt }
end
if held[2] == nonce then return begun(attempt, repeated) end
if held[3] and held[3] ~= '' then
  if held[3] ~= dead then return { 'held', held[3] } end
  repeated = '1'
end
attempt = math.max(attempt, tonumber(held[6] or 0)) + 1
redis.call('HSET', journal, field('attempt'), attempt, field('nonce'), nonce, field('owner'), owner, field('repeated'), repeated)
for n = 10 + flags, #ARGV do redis.call('SADD', started, ARGV[n]) end
keep(run, journal, ttl)
keep(run, started, ttl)
return begun(attempt, repeated)
`,
);

export const finishStep = script<'stored' | 'refused'>(
  'finish-step',
  `${payOnce}
local journal, run, ledger = KEYS[2], KEYS[3], KEYS[4]
local step, attempt, outcome, ttl = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local beforeAccount, paid, accountTtl = ARGV[7], ARGV[8], ARGV[9]
pay(run, ledger, beforeAccount, paid, ttl, accountTtl)
if redis.call('HEXISTS', run, 'erased') == 1 then return 'stored' end
local held = redis.call('HMGET', journal, 'attempt:' .. step, 'outcome:' .. step)
if held[2] == '' then return 'refused' end
local newest = tonumber(held[1]) or 0
if newest > attempt then return 'refused' end
if newest < attempt or not held[2] then
  redis.call('HSET', journal, 'attempt:' .. step, attempt, 'outcome:' .. step, outcome)
end
keep(run, journal, ttl)
return 'stored'
`,
);

export const abandonStep = script<number>(
  'abandon-step',
  `${payOnce}
local journal, run, ledger = KEYS[2], KEYS[3], KEYS[4]
local step, attempt, ttl, beforeAccount, paid, accountTtl, unsent = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
pay(run, ledger, beforeAccount, paid, ttl, accountTtl)
local held = redis.call('HMGET', journal, 'attempt:' .. step, 'outcome:' .. step, 'nonce:' .. step)
if tonumber(held[1]) ~= attempt or held[2] or (unsent ~= '' and held[3] ~= unsent) then return 0 end
if unsent ~= '' then attempt = attempt - 1 end
redis.call('HSET', journal, 'attempt:' .. step, attempt, 'nonce:' .. step, '', 'owner:' .. step, '')
return 1
`,
);

/** Counts once: the field `repeat:<attempt>` of the step marks it as counted. */
export const noteRepeat = script<number>(
  'note-repeat',
  `
local journal, run, repeats = KEYS[2], KEYS[3], KEYS[4]
local step, attempt, purpose, ttl = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('HSETNX', journal, 'repeat:' .. attempt .. ':' .. step, '1') == 0 then return 0 end
keep(run, journal, ttl)
redis.call('HINCRBY', repeats, purpose, 1)
return 1
`,
);

/** Purposes and their counts, alternating. */
export const readRepeats = script<string[]>('read-repeats', `return redis.call('HGETALL', KEYS[2])`);

export const isStarted = script<number>('is-started', `return redis.call('SISMEMBER', KEYS[2], ARGV[3])`);
