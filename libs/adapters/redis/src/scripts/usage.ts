import { script } from './script.js';

/**
 * The start of scripts that add to the usage ledger. `paid` is '' or JSON whose values are strings: the attempt of the call, its usage,
 * the day, the accounts (absent when the run's own are charged), the model and the amounts. A third name in the accounts is the end user. An attempt counts once. The keys of accounts are built
 * here, because only the run knows them.
 */
export const payOnce = `
local function pay(run, ledger, beforeAccount, paid, ttl, accountTtl)
  if paid == '' then return end
  local p = cjson.decode(paid)
  local isNew = redis.call('HSETNX', ledger, p.call, p.usage) == 1
  keep(run, ledger, ttl)
  local accounts = isNew and (p.accounts or redis.call('HGET', run, 'accounts'))
  if not accounts then return end
  local names = cjson.decode(accounts)
  local items = beforeAccount .. 'items:' .. names[1] .. ':' .. p.day
  local item = ':' .. cjson.encode({ names[2], p.model or '', names[3] or '' })
  for n, field in ipairs({ 'calls', 'prompt', 'completion', 'reasoning' }) do redis.call('HINCRBY', items, field .. item, p.amounts[n]) end
  redis.call('HINCRBYFLOAT', items, 'cost' .. item, p.cost)
  if p.estimated == '1' then redis.call('HSET', items, 'estimated' .. item, '1') end
  redis.call('PEXPIRE', items, accountTtl)
  for n = 1, 2 do
    local account = beforeAccount .. names[n] .. ':' .. p.day
    for n, field in ipairs({ 'calls', 'prompt', 'completion', 'reasoning' }) do redis.call('HINCRBY', account, field, p.amounts[n]) end
    redis.call('HINCRBYFLOAT', account, 'cost', p.cost)
    if p.estimated == '1' then redis.call('HSET', account, 'estimated', '1') end
    redis.call('PEXPIRE', account, accountTtl)
  end
end
`;

export const addUsage = script<number>(
  'add-usage',
  `${payOnce}
pay(KEYS[2], KEYS[3], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 1
`,
);

/** Fields and values, alternating, for each key. */
export const readItems = script<string[][]>(
  'read-usage-items',
  `
local found = {}
for n = 2, #KEYS do found[n - 1] = redis.call('HGETALL', KEYS[n]) end
return found
`,
);

/** The usage of each call of a run, as JSON. */
export const readUsage = script<string[]>('read-usage', `return redis.call('HVALS', KEYS[2])`);

export type AccountReply = (string | null)[];

/** [calls, prompt, completion, reasoning, cost, estimated] for each key. */
export const readAccounts = script<AccountReply[]>(
  'read-accounts',
  `
local found = {}
for n = 2, #KEYS do found[n - 1] = redis.call('HMGET', KEYS[n], 'calls', 'prompt', 'completion', 'reasoning', 'cost', 'estimated') end
return found
`,
);
