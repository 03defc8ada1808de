import { Redis } from 'ioredis';

/** A key of a run and the memory that it uses. */
export interface KeptKey {
  /** The part of the key's name after the run's id. */
  readonly name: string;
  /** Memory of the key, its name and its value. */
  readonly bytes: number;
  /** Milliseconds until it expires; Infinity if it does not. */
  readonly leftMs: number;
}

const nameOf = (key: string): string => /:run:[^:]+:(.*)$/.exec(key)?.[1] ?? key;

/** The keys of one run in Redis, or of all of them, the largest first. */
export async function keptOfRun(url: string, runId = '*'): Promise<readonly KeptKey[]> {
  const redis = new Redis(url);
  try {
    const found: KeptKey[] = [];
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `*:run:${runId}:*`, 'COUNT', 1_000);
      for (const key of keys) {
        const [bytes, leftMs] = await Promise.all([redis.memory('USAGE', key, 'SAMPLES', 0), redis.pttl(key)]);
        found.push({ name: nameOf(key), bytes: bytes ?? 0, leftMs: leftMs === -1 ? Infinity : leftMs });
      }
      cursor = next;
    } while (cursor !== '0');
    return found.sort((a, b) => b.bytes - a.bytes);
  } finally {
    redis.disconnect();
  }
}

export const bytesOf = (keys: readonly Pick<KeptKey, 'bytes'>[]): number => keys.reduce((sum, { bytes }) => sum + bytes, 0);
