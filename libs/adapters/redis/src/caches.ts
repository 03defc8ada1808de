import { randomUUID } from 'node:crypto';
import { storedEntry, wholeMs, type CacheClaim, type CacheEntry, type Caches, type CacheWrite } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys, PlacedKey } from './keys.js';
import { claimKey, readCached, releaseKey, removeCached, removeTagged, writeCached } from './scripts/caches.js';
import { inPairs, type Script } from './scripts/script.js';

const tagField = 'tag:';

export class RedisCaches implements Caches {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async read(tenant: string, key: string): Promise<CacheEntry | null> {
    const fields = new Map(inPairs(await this.on(this.keys.cached(tenant, key), readCached)));
    const value = fields.get('value');
    if (value === undefined) return null;
    const tags = [...fields.keys()].filter((field) => field.startsWith(tagField));
    return {
      value: JSON.parse(value) as unknown,
      tags: tags.map((field) => JSON.parse(field.slice(tagField.length)) as string).sort(),
      writtenAt: Number(fields.get('at')),
      expiresAt: Number(fields.get('until')),
    };
  }

  async write({ tenant, key, ...rest }: CacheWrite): Promise<boolean> {
    const { keys } = this;
    const { text, ttlMs, tags } = storedEntry(rest);
    const entry = keys.cached(tenant, key);
    const written = await this.connection.run(
      entry.at,
      writeCached,
      [entry.key, ...tags.flatMap((tag) => [keys.cacheTag(tenant, tag).key, keys.cacheBan(tenant, tag).key])],
      [text, ttlMs, ...tags.map((tag) => JSON.stringify(tag))],
    );
    return written === 1;
  }

  async remove(tenant: string, key: string): Promise<void> {
    await this.on(this.keys.cached(tenant, key), removeCached);
  }

  async removeTagged(tenant: string, tag: string, bannedMs = 0): Promise<number> {
    const { keys } = this;
    const tagged = keys.cacheTag(tenant, tag);
    return this.connection.run(
      tagged.at,
      removeTagged,
      [tagged.key, keys.cacheBan(tenant, tag).key, keys.cacheRemoval(tenant, randomUUID()).key],
      [JSON.stringify(tag), bannedMs === 0 ? 0 : wholeMs(bannedMs)],
    );
  }

  async claim({ tenant, key, owner, ttlMs }: CacheClaim): Promise<'mine' | 'taken'> {
    const parameters = [JSON.stringify(owner), wholeMs(ttlMs)];
    return (await this.on(this.keys.cacheClaim(tenant, key), claimKey, parameters)) === 1 ? 'mine' : 'taken';
  }

  async release({ tenant, key, owner }: Parameters<Caches['release']>[0]): Promise<void> {
    await this.on(this.keys.cacheClaim(tenant, key), releaseKey, [JSON.stringify(owner)]);
  }

  private on<Reply>({ at, key }: PlacedKey, script: Script<Reply>, parameters: readonly (string | number)[] = []): Promise<Reply> {
    return this.connection.run(at, script, [key], parameters);
  }
}
