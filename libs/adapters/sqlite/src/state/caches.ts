import { storedEntry, wholeMs, type CacheClaim, type CacheEntry, type Caches, type CacheWrite, type MemoryClaims } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import { storedName } from './stored-name.js';

interface CacheRow {
  readonly value: string;
  readonly tags: string;
  readonly written_at: number;
  readonly expires_at: number;
}

/** Claims live in memory: the store has one owner, so every earlier holder is dead. */
export class SqliteCaches implements Caches {
  constructor(
    private readonly database: Store,
    private readonly claims: MemoryClaims,
    private readonly now: () => number,
  ) {}

  async read(tenant: string, key: string): Promise<CacheEntry | null> {
    const row = this.database.read((sql) =>
      sql.get<CacheRow>(
        'SELECT value, tags, written_at, expires_at FROM cache WHERE tenant = ? AND key = ? AND expires_at > ?',
        storedName(tenant),
        storedName(key),
        this.now(),
      ),
    );
    if (!row) return null;
    return { value: JSON.parse(row.value), tags: JSON.parse(row.tags) as string[], writtenAt: row.written_at, expiresAt: row.expires_at };
  }

  async write({ tenant: givenTenant, key: givenKey, ...rest }: CacheWrite): Promise<boolean> {
    const { text, ttlMs, tags } = storedEntry(rest);
    const [tenant, key] = [storedName(givenTenant), storedName(givenKey)];
    return this.database.write((tick) => {
      const { sql } = tick;
      const now = this.now();
      const isBanned = (tag: string): boolean =>
        sql.get('SELECT 1 AS found FROM cache_ban WHERE tenant = ? AND tag = ? AND expires_at > ?', tenant, storedName(tag), now) !==
        undefined;
      if (tags.some(isBanned)) return false;
      forget(tick, tenant, key);
      sql.run(
        'INSERT INTO cache (tenant, key, value, tags, written_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
        tenant,
        key,
        text,
        JSON.stringify(tags),
        now,
        now + ttlMs,
      );
      const id = idOf(tick, tenant, key)!;
      for (const tag of tags) sql.run('INSERT INTO cache_tag (tenant, tag, cache_id) VALUES (?, ?, ?)', tenant, storedName(tag), id);
      return true;
    });
  }

  remove(tenant: string, key: string): Promise<void> {
    return this.database.write((tick) => forget(tick, storedName(tenant), storedName(key)));
  }

  async removeTagged(givenTenant: string, givenTag: string, bannedMs = 0): Promise<number> {
    const ban = bannedMs === 0 ? 0 : wholeMs(bannedMs);
    const [tenant, tag] = [storedName(givenTenant), storedName(givenTag)];
    return this.database.write((tick) => {
      const { sql } = tick;
      const now = this.now();
      if (ban > 0)
        sql.run(
          `INSERT INTO cache_ban (tenant, tag, expires_at) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
          tenant,
          tag,
          now + ban,
        );
      const tagged = sql.all<{ id: number; expires_at: number }>(
        'SELECT id, expires_at FROM cache JOIN cache_tag ON cache_id = id WHERE cache_tag.tenant = ? AND tag = ?',
        tenant,
        tag,
      );
      for (const { id } of tagged) forgetCached(tick, id);
      return tagged.filter(({ expires_at }) => expires_at > now).length;
    });
  }

  async claim(claim: CacheClaim): Promise<'mine' | 'taken'> {
    return this.database.read(() => this.claims.claim(claim));
  }

  async release(claim: Parameters<Caches['release']>[0]): Promise<void> {
    this.database.read(() => this.claims.release(claim));
  }
}

const idOf = ({ sql }: Tick, tenant: string, key: string): number | undefined =>
  sql.get<{ id: number }>('SELECT id FROM cache WHERE tenant = ? AND key = ?', tenant, key)?.id;

function forget(tick: Tick, tenant: string, key: string): void {
  const id = idOf(tick, tenant, key);
  if (id !== undefined) forgetCached(tick, id);
}

/** Deletes an entry with its tags, inside a running write. */
export function forgetCached({ sql }: Tick, id: number): void {
  sql.run('DELETE FROM cache_tag WHERE cache_id = ?', id);
  sql.run('DELETE FROM cache WHERE id = ?', id);
}
