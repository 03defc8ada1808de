import { Injectable } from '@nestjs/common';
import type { CacheReport } from '@conclave/contracts';
import { nearestDistance } from '@conclave/strategies';
import type { CacheName } from '../options.js';

/** Width of one bucket as a cosine distance, and the number of buckets; the last one holds everything above. */
const width = 0.025;
const buckets = 21;
/** Most tenants that are counted; beyond that, the tenant that was not seen for the longest time is dropped. */
const mostTenants = 1_000;

interface Counts {
  readonly layers: Record<CacheName, { hit: number; miss: number; failed: number }>;
  readonly accepted: number[];
  readonly refused: number[];
}

const none = () => ({ hit: 0, miss: 0, failed: 0 });
const noCounts = (): Counts => ({
  layers: { exact: none(), semantic: none(), plan: none() },
  accepted: Array<number>(buckets).fill(0),
  refused: Array<number>(buckets).fill(0),
});

/** Cache lookups of this process by tenant, since its start. */
@Injectable()
export class CacheCounts {
  readonly since = Date.now();
  private readonly tenants = new Map<string, Counts>();

  looked(tenant: string, cache: CacheName, result: 'hit' | 'miss' | 'failed'): void {
    this.of(tenant).layers[cache][result] += 1;
  }

  /** The nearest earlier question of a semantic lookup, and whether its answer was returned. */
  nearest(tenant: string, distance: number, accepted: boolean): void {
    const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(distance / width)));
    this.of(tenant)[accepted ? 'accepted' : 'refused'][bucket]! += 1;
  }

  layer(tenant: string, cache: CacheName): { readonly lookups: number; readonly hits: number; readonly failed: number } {
    const { hit, miss, failed } = this.tenants.get(tenant)?.layers[cache] ?? none();
    return { lookups: hit + miss + failed, hits: hit, failed };
  }

  distances(tenant: string): CacheReport['distances'] {
    const { accepted, refused } = this.tenants.get(tenant) ?? noCounts();
    return {
      threshold: nearestDistance,
      width,
      buckets: accepted.map((count, n) => ({ from: Number((n * width).toFixed(3)), accepted: count, refused: refused[n]! })),
    };
  }

  private of(tenant: string): Counts {
    const counts = this.tenants.get(tenant) ?? noCounts();
    this.tenants.delete(tenant);
    this.tenants.set(tenant, counts);
    if (this.tenants.size > mostTenants) this.tenants.delete(this.tenants.keys().next().value!);
    return counts;
  }
}
