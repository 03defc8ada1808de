import { createHash } from 'node:crypto';

/**
 * A Lua script; `Reply` is the shape of what it returns (nil as null, integers as numbers). Every script is idempotent, because a command in flight
 * when a connection breaks is sent again after the reconnect.
 */
export interface Script<Reply> {
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  /** Never set; carries the type only. */
  readonly reply?: Reply;
}

/** Error text of the check below. */
export const replacedMark = 'CONCLAVE_REPLACED';

/**
 * The start of every script. KEYS[1] is the identity of the store; ARGV[1] and ARGV[2] are the store id and generation this process has
 * seen ('' before any): a script never runs on an empty, foreign or older store. A process that finds the store older marks it, so that
 * every process refuses it until it is rebuilt. `now` is the store's clock in milliseconds. `keep` sets the expiry of a key: none while
 * its run is open, else `ttl` ms.
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

/** Pairs up the reply for a Redis hash: fields and values, alternating. */
export const inPairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n]!, flat[2 * n + 1]!]);
