import { script } from './script.js';

export type AppendReply = ['appended'] | ['refused'] | ['conflict', (string | null)[]];

/**
 * Appends bodies with compare-and-set on the stored progress of their tasks. The change arrives as JSON whose payloads are strings.
 * A repeat meets a conflict, and computing it again finds nothing to append.
 */
export const appendEntries = script<AppendReply>(
  'append-entries',
  `
local run, stream, tasks = KEYS[2], KEYS[3], KEYS[4]
local runId, change, ttl, hint = ARGV[3], cjson.decode(ARGV[4]), ARGV[5], ARGV[6]
local over = redis.call('HMGET', run, 'terminal', 'ended')
if over[1] == '1' or over[2] == '1' then return { 'refused' } end
local held = redis.call('HMGET', tasks, unpack(change.tasks))
for n, known in ipairs(change.known) do
  if (held[n] or '') ~= known then return { 'conflict', held } end
end
if #change.bodies == 0 then return { 'appended' } end
for _, body in ipairs(change.bodies) do redis.call('RPUSH', stream, text(now) .. ' ' .. body) end
for n, progress in ipairs(change.next) do redis.call('HSET', tasks, change.tasks[n], progress) end
keep(run, stream, ttl)
keep(run, tasks, ttl)
redis.call('PUBLISH', hint, runId)
return { 'appended' }
`,
);

/** [length, ended, entries, base]: the first entry has the id base + 1, which is 1 unless the stream was rebuilt. */
export const readEntries = script<[number, string | null, string[], number]>(
  'read-entries',
  `
local run, stream = KEYS[2], KEYS[3]
local limit = tonumber(ARGV[4])
local held = redis.call('HMGET', run, 'ended', 'streamBase')
local base = tonumber(held[2] or 0)
local from = math.max(0, tonumber(ARGV[3]) - base)
local entries = {}
if limit > 0 then entries = redis.call('LRANGE', stream, from, from + limit - 1) end
return { redis.call('LLEN', stream), held[1], entries, base }
`,
);
