import type { TaskDispatched } from '@conclave/contracts';
import type { StateStore } from '@conclave/ports';

/** A cache of one tenant, as capabilities use it. */
export interface TenantCache {
  read(key: string): Promise<string | null>;
  write(key: string, value: string, ttlMs: number): Promise<void>;
}

/** The cache of a tenant's findings. What is too large to be kept is not kept. */
export const tenantCache = (caches: StateStore['caches'], tenant: string): TenantCache => ({
  read: async (key) => {
    const entry = await caches.read(tenant, key);
    return typeof entry?.value === 'string' ? entry.value : null;
  },
  write: async (key, value, ttlMs) => {
    await caches.write({ tenant, key, value, ttlMs, tags: [] });
  },
});

/** The cache a task may use: that of its tenant, where its run wants one. */
export const cacheOfTask =
  (caches: StateStore['caches']) =>
  (task: TaskDispatched): TenantCache | null =>
    task.data.cached ? tenantCache(caches, task.data.tenant) : null;
