import { createHash } from 'node:crypto';

/**
 * A Lua script; `Reply` is the shape of what it returns (nil as null, integers as numbers).
 * Every script is idempotent, because a command in flight when a connection breaks is sent again after the reconnect.
 */
export interface Script<Reply> {
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  /** Never set; carries the type. */
  readonly reply?: Reply;
}

/** Error text of the guard below. */
export const replacedMark = 'CONCLAVE_REPLACED';

/**
 * What every script begins with. KEYS[1] is the identity of the store, ARGV[1] and ARGV[2] are the store id and the
 * generation this process has seen ('' before it has seen any): a script never runs on an empty, foreign or older store. Whoever
 * knows that the store is older says so in it, for those who know less: it stays refused to all until it is rebuilt.
 * `now` is the store's clock in milliseconds. `keep` lets nothing of an open run expire, and the rest after `ttl` ms.
 */
const prelude = `
if ARGV[1] ~= '' then
  local mark = redis.call('HMGET', KEYS[1], 'storeId', 'generation', 'older')
  local isOlder = mark[1] == ARGV[1] and tonumber(mark[2]) < tonumber(ARGV[2])
  if isOlder then redis.pcall('HSET', KEYS[1], 'older', '1') end
  if isOlder or mark[1] ~= ARGV[1] or mark[3] then
    return redis.error_reply('${replacedMark} this is not the store that was opened')
  end
end
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function text(number) return string.format('%.0f', number) end
local function isOpen(run) return redis.call('EXISTS', run) == 1 and redis.call('HGET', run, 'terminal') ~= '1' end
local function keep(run, key, ttl)
  if isOpen(run) then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ttl) end
end
`;

export function script<Reply>(name: string, body: string): Script<Reply> {
  const lua = `-- ${name}${prelude}${body}`;
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** What Redis gives for a hash: fields and values, one after the other. */
export const inPairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n]!, flat[2 * n + 1]!]);
