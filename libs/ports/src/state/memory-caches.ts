import { storedEntry, wholeMs, type CacheClaim, type CacheEntry, type Caches, type CacheWrite } from './caches.js';
import { MemoryClaims } from './memory-claims.js';

interface Held {
  readonly text: string;
  readonly tags: readonly string[];
  readonly writtenAt: number;
  readonly expiresAt: number;
}

export class MemoryCaches implements Caches {
  /** Tenant -> key -> entry; an expired one stays until it is overwritten or removed. */
  private readonly tenants = new Map<string, Map<string, Held>>();
  /** Tenant -> tag -> when its ban ends. */
  private readonly bans = new Map<string, Map<string, number>>();
  private readonly claims: MemoryClaims;

  constructor(private readonly now: () => number) {
    this.claims = new MemoryClaims(now);
  }

  async read(tenant: string, key: string): Promise<CacheEntry | null> {
    const held = this.tenants.get(tenant)?.get(key);
    if (!held || held.expiresAt <= this.now()) return null;
    const { text, ...rest } = held;
    return { value: JSON.parse(text), ...rest };
  }

  async write({ tenant, key, ...rest }: CacheWrite): Promise<boolean> {
    const { text, ttlMs, tags } = storedEntry(rest);
    const now = this.now();
    const bans = this.bans.get(tenant);
    if (tags.some((tag) => (bans?.get(tag) ?? 0) > now)) return false;
    of(this.tenants, tenant).set(key, { text, tags, writtenAt: now, expiresAt: now + ttlMs });
    return true;
  }

  async remove(tenant: string, key: string): Promise<void> {
    this.tenants.get(tenant)?.delete(key);
  }

  async removeTagged(tenant: string, tag: string, bannedMs = 0): Promise<number> {
    const now = this.now();
    if (bannedMs !== 0) {
      const bans = of(this.bans, tenant);
      bans.set(tag, Math.max(bans.get(tag) ?? 0, now + wholeMs(bannedMs)));
    }
    const entries = of(this.tenants, tenant);
    const tagged = [...entries].filter(([, { tags }]) => tags.includes(tag));
    for (const [key] of tagged) entries.delete(key);
    return tagged.filter(([, { expiresAt }]) => expiresAt > now).length;
  }

  async claim(claim: CacheClaim): Promise<'mine' | 'taken'> {
    return this.claims.claim(claim);
  }

  async release(claim: Parameters<Caches['release']>[0]): Promise<void> {
    this.claims.release(claim);
  }
}

function of<V>(tenants: Map<string, Map<string, V>>, tenant: string): Map<string, V> {
  const own = tenants.get(tenant) ?? new Map<string, V>();
  tenants.set(tenant, own);
  return own;
}
