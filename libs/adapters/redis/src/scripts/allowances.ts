import { script } from './script.js';

/**
 * The start of scripts about allowances. All keys of a tenant are in its bucket, under the prefix ARGV[3]: reservations by the end of their lease
 * (`holds`), those whose charge is looked up again (`later`), a hash for each piece of work, and for each account its reservations, its spending by
 * month and day, and its last minute. Cost is counted in billionths, so that sums are exact.
 */
const allowances = `
local before = ARGV[3]
local holds, later = before .. ':holds', before .. ':later'
local function work(id) return before .. ':run:' .. id end
local amounts, sums = before .. ':amounts', before .. ':sums'
local function minute(account) return before .. ':minute:' .. account end
local today = math.floor(now / 86400000)
-- The civil month of a day since 1970, as a number that is unique to the month.
local function monthOf(day)
  local shifted = day + 719468
  local era = math.floor(shifted / 146097)
  local inEra = shifted - era * 146097
  local year = math.floor((inEra - math.floor(inEra / 1460) + math.floor(inEra / 36524) - math.floor(inEra / 146096)) / 365)
  local inYear = inEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * inYear + 2) / 153)
  return (era * 400 + year) * 12 + month
end
local month = monthOf(today)
local function spent(account) return before .. ':spent:' .. text(month) .. ':' .. account end
local function change(key, field, by) if by ~= 0 then redis.call('HINCRBY', key, field, text(by)) end end
-- Sets the reservation of a piece of work in every account that limits it; none ends it.
local function hold(id, accounts, tokens, cost, runs)
  local was = cjson.decode(redis.call('HGET', amounts, id) or '["0","0",0]')
  for _, account in ipairs(accounts) do
    change(sums, 'tokens:' .. account, tokens - tonumber(was[1]))
    change(sums, 'cost:' .. account, cost - tonumber(was[2]))
    change(sums, 'runs:' .. account, runs - was[3])
  end
  if runs == 0 then redis.call('HDEL', amounts, id)
  else redis.call('HSET', amounts, id, cjson.encode({ text(tokens), text(cost), runs, accounts })) end
end
local function free(id)
  local was = redis.call('HGET', amounts, id)
  if was then hold(id, cjson.decode(was)[4], 0, 0, 0) end
  redis.call('ZREM', holds, id)
end
-- Ends the reservations whose leases have ended. These keys live and end together.
local function freeLost()
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', holds, '-inf', text(now), 'LIMIT', 0, 1000)) do
    free(gone)
    redis.call('ZADD', later, text(now), gone)
  end
  for _, key in ipairs({ holds, amounts, sums }) do redis.call('PEXPIRE', key, 86400000) end
  redis.call('PEXPIRE', later, 86400000)
end
-- Charges the total spending of a piece of work, without the part that was charged before.
local function charge(id, tokens, cost)
  local is = redis.call('HMGET', work(id), 'accounts', 'spentTokens', 'spentCost')
  if not is[1] then return end
  local more = { tokens = math.max(0, tokens - tonumber(is[2])), cost = math.max(0, cost - tonumber(is[3])) }
  for _, account in ipairs(cjson.decode(is[1])) do
    for kind, by in pairs(more) do
      change(spent(account), kind, by)
      change(spent(account), kind .. ':' .. text(today), by)
    end
    redis.call('PEXPIRE', spent(account), 3456000000)
  end
  redis.call('HSET', work(id), 'spentTokens', text(tonumber(is[2]) + more.tokens), 'spentCost', text(tonumber(is[3]) + more.cost))
end
-- Adds to a second of the last minute of an account; each second is a field "second requests tokens".
local function count(account, second, requests, tokens)
  local slot = text(second % 61)
  local at, r, t = string.match(redis.call('HGET', minute(account), slot) or '', '^(%d+) (%d+) (%d+)$')
  if tonumber(at) ~= second then r, t = 0, 0 end
  local sum = text(second) .. ' ' .. text(tonumber(r) + requests) .. ' ' .. text(math.max(0, tonumber(t) + tokens))
  redis.call('HSET', minute(account), slot, sum)
  redis.call('PEXPIRE', minute(account), 62000)
end
`;

/** Text of a number of tokens, or of billionths of a currency unit; null for none. */
type Sum = string | null;
/** [seconds of the last minute as "second requests tokens", [runs, tokens, cost] reserved, [tokens, cost] of the day, of the month] */
export type UseReply = [string[], [Sum, Sum, Sum], [Sum, Sum], [Sum, Sum]];
/** `unknown`: indexes of the accounts whose spending must be sent along. The last list: work whose reservation was not renewed. */
export type ReserveReply =
  ['unknown', number, ...number[]] | ['granted' | 'refused', now: number, estimate: [string, string], uses: UseReply[], lost: string[]];

/**
 * ARGV: prefix, work, kind, milliseconds of the lease, for which work is remembered, and for which spending stays valid; the request as JSON. For
 * an account with a budget that was idle for long, the caller must send its spending (`seed`). A refusal removes only what has ended anyway.
 */
export const reserveAllowance = script<ReserveReply>(
  'reserve-allowance',
  `${allowances}
local id, kind, leaseMs, knownMs, seedMs = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8])
local asked = cjson.decode(ARGV[9])
freeLost()

local unknown = { 'unknown', now }
for n, account in ipairs(asked.accounts) do
  local key = spent(account.id)
  local isStale = account.budget and now - tonumber(redis.call('HGET', key, 'at') or 0) > seedMs
  if isStale and account.seed then
    local seed = account.seed
    redis.call('HSET', key, 'at', text(now), 'tokens', seed.month[1], 'cost', seed.month[2])
    redis.call('HSET', key, 'tokens:' .. text(today), seed.day[1], 'cost:' .. text(today), seed.day[2])
    redis.call('PEXPIRE', key, 3456000000)
  elseif isStale then
    unknown[#unknown + 1] = n - 1
  end
end
if #unknown > 2 then return unknown end

local lost = redis.call('ZRANGEBYSCORE', later, '-inf', text(now), 'LIMIT', 0, 20)
for _, gone in ipairs(lost) do
  local began = tonumber(redis.call('HGET', work(gone), 'began') or 0)
  -- Checked at growing intervals, for as long as the work is remembered.
  if now - began > tonumber(knownMs) then redis.call('ZREM', later, gone)
  else redis.call('ZADD', later, text(now + math.max(60000, (now - began) / 2)), gone) end
end

local function useOf(account)
  local slots = {}
  for _, slot in ipairs(redis.call('HVALS', minute(account.id))) do
    if tonumber(string.match(slot, '^%d+')) > math.floor(now / 1000) - 61 then slots[#slots + 1] = slot end
  end
  local key, day = spent(account.id), text(today)
  return {
    slots,
    redis.call('HMGET', sums, 'runs:' .. account.id, 'tokens:' .. account.id, 'cost:' .. account.id),
    redis.call('HMGET', key, 'tokens:' .. day, 'cost:' .. day),
    redis.call('HMGET', key, 'tokens', 'cost'),
  }
end
local function isFull(limits, use)
  local requests, tokens = 0, 0
  for _, slot in ipairs(use[1]) do
    local _, r, t = string.match(slot, '^(%d+) (%d+) (%d+)$')
    requests, tokens = requests + r, tokens + t
  end
  local function sum(...)
    local total = 0
    for _, part in ipairs({ ... }) do total = total + (tonumber(part) or 0) end
    return total
  end
  local h, d, m = use[2], use[3], use[4]
  local of = {
    requests_per_minute = requests, tokens_per_minute = tokens, concurrent_runs = sum(h[1] or 0),
    tokens_per_day = sum(d[1] or 0, h[2] or 0), cost_per_day = sum(d[2] or 0, h[3] or 0),
    tokens_per_month = sum(m[1] or 0, h[2] or 0), cost_per_month = sum(m[2] or 0, h[3] or 0),
  }
  for limit, most in pairs(limits) do if of[limit] >= most then return true end end
  return false
end

local uses, full = {}, false
local known = redis.call('HMGET', work(id), 'estimate', 'estimateCost')
if known[1] then
  for n, account in ipairs(asked.accounts) do uses[n] = useOf(account) end
  return { 'granted', now, known, uses, lost }
end
for n, account in ipairs(asked.accounts) do
  uses[n] = useOf(account)
  full = full or isFull(account.limits, uses[n])
end
if full then return { 'refused', now, { '0', '0' }, uses, lost } end

local typical = redis.call('HMGET', before .. ':kinds', 'tokens:' .. kind, 'cost:' .. kind)
local tokens = math.max(asked.least[1], tonumber(typical[1] or asked.guess[1]))
local cost = math.max(asked.least[2], tonumber(typical[2] or asked.guess[2]))
local second, ids = math.floor(now / 1000), {}
for n, account in ipairs(asked.accounts) do
  ids[n] = account.id
  count(account.id, second, 1, tokens)
  if account.budget then redis.call('HSET', spent(account.id), 'at', text(now)) end
end
redis.call('HSET', work(id), 'accounts', cjson.encode(ids), 'kind', kind, 'began', text(now), 'second', text(second))
redis.call('HSET', work(id), 'estimate', text(tokens), 'estimateCost', text(cost), 'spentTokens', 0, 'spentCost', 0)
redis.call('PEXPIRE', work(id), knownMs)
hold(id, ids, tokens, cost, 1)
redis.call('ZADD', holds, text(now + leaseMs), id)
freeLost()
for n, account in ipairs(asked.accounts) do uses[n] = useOf(account) end
return { 'granted', now, { text(tokens), text(cost) }, uses, lost }
`,
);

export const renewAllowance = script<number>(
  'renew-allowance',
  `${allowances}
local id, tokens, cost, leaseMs, knownMs = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
freeLost()
local is = redis.call('HMGET', work(id), 'estimate', 'estimateCost', 'over', 'accounts')
if not is[1] then return 0 end
redis.call('PEXPIRE', work(id), knownMs)
charge(id, tokens, cost)
if is[3] then return 0 end
hold(id, cjson.decode(is[4]), math.max(0, is[1] - tokens), math.max(0, is[2] - cost), 1)
redis.call('ZREM', later, id)
redis.call('ZADD', holds, text(now + leaseMs), id)
return 1
`,
);

/** `learns`: whether the spending of this work counts towards the estimate for its kind. `isEnd` is '0' when only a charge is added. */
export const settleAllowance = script<number>(
  'settle-allowance',
  `${allowances}
local id, tokens, cost, learns, isEnd = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8] == '1'
freeLost()
local is = redis.call('HMGET', work(id), 'accounts', 'estimate', 'second', 'kind', 'over')
if not is[1] then return 0 end
charge(id, tokens, cost)
if not isEnd then return 1 end
redis.call('ZREM', later, id)
if is[5] then return 1 end
free(id)
redis.call('HSET', work(id), 'over', 1)
if learns then
  local kinds = before .. ':kinds'
  for field, by in pairs({ ['tokens:' .. is[4]] = tokens, ['cost:' .. is[4]] = cost }) do
    local was = tonumber(redis.call('HGET', kinds, field) or 0)
    redis.call('HSET', kinds, field, text(math.max(by, math.ceil(0.9 * was + 0.1 * by))))
  end
  redis.call('PEXPIRE', kinds, 3456000000)
end
-- Tokens beyond the reservation count from now on; unused tokens never counted.
local more, second = tokens - tonumber(is[2]), math.floor(now / 1000)
if more < 0 then second = tonumber(is[3]) end
if second > math.floor(now / 1000) - 61 then
  for _, account in ipairs(cjson.decode(is[1])) do count(account, second, 0, more) end
end
return 1
`,
);
