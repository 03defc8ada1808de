import type { RedisConnection } from './connection.js';

/** Server settings that our guarantees depend on, and what is lost with any other value. */
const needed = [
  ['appendonly', 'yes', 'Redis keeps no append-only file: its restart loses runs, journal and timers that were acknowledged.'],
  ['appendfsync', 'always', 'a crash of its machine can lose up to a second of acknowledged steps and pay finished model calls twice.'],
  ['maxmemory-policy', 'noeviction', 'Redis may throw away runs and journal entries when its memory is full.'],
] as const;

/** A primary that Sentinel replaces does not notice this while it is cut off. */
const unheard =
  '`min-replicas-to-write` is 0: a primary that is cut off from its replicas keeps accepting writes, and all of them are lost when it returns as a replica.';

/** One sentence per guarantee that this server does not provide. `replaceable`: sentinels may put a replica in its place. */
export async function redisWarnings(connection: RedisConnection, replaceable: boolean): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const [name, wanted, loss] of needed) {
    const found = await configured(connection, name, wanted);
    if (found === null)
      return [
        'Redis does not let this user read its configuration: whether it keeps what it acknowledges (`appendonly yes`, `appendfsync always`, `maxmemory-policy noeviction`) cannot be checked.',
      ];
    if (found !== wanted && !(name === 'appendfsync' && warnings.length > 0)) {
      warnings.push(`Redis has \`${name} ${found}\` instead of \`${name} ${wanted}\`: ${loss}`);
    }
  }
  if (replaceable && (await configured(connection, 'min-replicas-to-write', '1')) === '0') warnings.push(unheard);
  return warnings;
}

/** A setting of the server; in a cluster, a value other than `wanted` from any node wins. Null if it may not be read. */
async function configured(connection: RedisConnection, name: string, wanted: string): Promise<string | null> {
  try {
    const reply = await connection.send(`config get ${name}`, async (redis) => {
      const servers = 'nodes' in redis ? redis.nodes('master') : [redis];
      return Promise.all(servers.map(async (server) => ((await server.config('GET', name)) as string[])[1]));
    });
    return reply.find((value) => value !== wanted) ?? reply[0] ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Managed servers rename CONFIG or do not permit it. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = cause instanceof Error ? cause.message : '';
  return /^(NOPERM|ERR)\b/.test(message);
}
