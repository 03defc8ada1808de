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
    const found = await configured(connection, name);
    if (found === null)
      return [
        'Redis does not let this user read its configuration: whether it keeps what it acknowledges (`appendonly yes`, `appendfsync always`, `maxmemory-policy noeviction`) cannot be checked.',
      ];
    if (found !== wanted && !(name === 'appendfsync' && warnings.length > 0)) {
      warnings.push(`Redis has \`${name} ${found}\` instead of \`${name} ${wanted}\`: ${loss}`);
    }
  }
  if (await isCluster(connection)) {
    warnings.push('Redis runs in cluster mode: a step writes keys of several slots at once, so use one primary without cluster mode.');
  }
  return warnings;
}

/** Null when the server refuses to tell. */
async function configured(connection: Connection, name: string): Promise<string | null> {
  try {
    const reply = (await connection.send(`config get ${name}`, (redis) => redis.config('GET', name))) as string[];
    return reply[1] ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

async function isCluster(connection: Connection): Promise<boolean> {
  try {
    return (await connection.send('info cluster', (redis) => redis.info('cluster'))).includes('cluster_enabled:1');
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** Managed servers rename CONFIG or take it out of a user's permissions. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = cause instanceof Error ? cause.message : '';
  return /^(NOPERM|ERR)\b/.test(message);
}
