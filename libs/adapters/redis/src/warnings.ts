import type { Connection } from './connection.js';

/** Settings of the server that our promises stand on, and what is lost with any other value. */
const needed = [
  ['appendonly', 'yes', 'Redis keeps no append-only file: its restart loses runs, journal and timers that were acknowledged.'],
  ['appendfsync', 'always', 'a crash of its machine can lose up to a second of acknowledged steps and pay finished model calls twice.'],
  ['maxmemory-policy', 'noeviction', 'Redis may throw away runs and journal entries when its memory is full.'],
] as const;

/** Sentences about guarantees this server does not give. */
export async function redisWarnings(connection: Connection): Promise<readonly string[]> {
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
  return warnings;
}

/** The setting of a server, of a cluster that of a node which has another than the wanted one; null when they refuse to tell. */
async function configured(connection: Connection, name: string, wanted: string): Promise<string | null> {
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

/** Managed servers rename CONFIG or take it out of a user's permissions. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = cause instanceof Error ? cause.message : '';
  return /^(NOPERM|ERR)\b/.test(message);
}
