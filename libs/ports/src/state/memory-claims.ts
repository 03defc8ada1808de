import { wholeMs, type CacheClaim, type Caches } from './caches.js';

/** Minimum number of claims before expired ones are purged. */
const fewClaims = 1_000;

/** In-memory claims of cache keys. Expired ones are purged from time to time, so they do not pile up. */
export class MemoryClaims {
  private readonly held = new Map<string, { readonly owner: string; readonly until: number }>();
  private sweepAt = fewClaims;

  constructor(private readonly now: () => number) {}

  get size(): number {
    return this.held.size;
  }

  claim({ tenant, key, owner, ttlMs }: CacheClaim): 'mine' | 'taken' {
    const name = nameOf(tenant, key);
    const now = this.now();
    const held = this.held.get(name);
    if (held && held.until > now && held.owner !== owner) return 'taken';
    this.held.set(name, { owner, until: now + wholeMs(ttlMs) });
    if (this.held.size > this.sweepAt) this.sweep(now);
    return 'mine';
  }

  release({ tenant, key, owner }: Parameters<Caches['release']>[0]): void {
    const name = nameOf(tenant, key);
    if (this.held.get(name)?.owner === owner) this.held.delete(name);
  }

  private sweep(now: number): void {
    for (const [name, { until }] of this.held) if (until <= now) this.held.delete(name);
    this.sweepAt = Math.max(fewClaims, 2 * this.held.size);
  }
}

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key]);
