import { randomUUID } from 'node:crypto';
import { storedEntry, wholeMs, type CacheClaim, type CacheEntry, type Caches, type CacheWrite } from '@conclave/ports';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { claimKey, readCached, releaseKey, removeCached, removeTagged, writeCached } from './scripts/caches.js';
import { inPairs } from './scripts/script.js';

const tagField = 'tag:';

export class RedisCaches implements Caches {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
  ) {}

  async read(tenant: string, key: string): Promise<CacheEntry | null> {
    const fields = new Map(inPairs(await this.connection.run(readCached, [this.keys.cached(tenant, key)], [])));
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
    const written = await this.connection.run(
      writeCached,
      [keys.cached(tenant, key), ...tags.flatMap((tag) => [keys.cacheTag(tenant, tag), keys.cacheBan(tenant, tag)])],
      [text, ttlMs, ...tags.map((tag) => JSON.stringify(tag))],
    );
    return written === 1;
  }

  async remove(tenant: string, key: string): Promise<void> {
    await this.connection.run(removeCached, [this.keys.cached(tenant, key)], []);
  }

  async removeTagged(tenant: string, tag: string, bannedMs = 0): Promise<number> {
    const { keys } = this;
    return this.connection.run(
      removeTagged,
      [keys.cacheTag(tenant, tag), keys.cacheBan(tenant, tag), keys.cacheRemoval(randomUUID())],
      [JSON.stringify(tag), bannedMs === 0 ? 0 : wholeMs(bannedMs)],
    );
  }

  async claim({ tenant, key, owner, ttlMs }: CacheClaim): Promise<'mine' | 'taken'> {
    const parameters = [JSON.stringify(owner), wholeMs(ttlMs)];
    return (await this.connection.run(claimKey, [this.keys.cacheClaim(tenant, key)], parameters)) === 1 ? 'mine' : 'taken';
  }

  async release({ tenant, key, owner }: Parameters<Caches['release']>[0]): Promise<void> {
    await this.connection.run(releaseKey, [this.keys.cacheClaim(tenant, key)], [JSON.stringify(owner)]);
  }
}
