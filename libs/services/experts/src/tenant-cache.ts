import { rootOf, type TaskDispatched } from '@conclave/contracts';
import type { StateStore } from '@conclave/ports';
import { layerTag, runTag } from '@conclave/strategies';

/** What the experts of one tenant keep between runs. */
export interface TenantCache {
  /** The value under the key; null if missing or expired. */
  read(key: string): Promise<string | null>;
  write(key: string, value: string, ttlMs: number): Promise<void>;
}

/** The cache a task may use: its tenant's, if its run wants one. */
export const cacheOfTask =
  (caches: StateStore['caches']) =>
  (task: TaskDispatched): TenantCache | null =>
    task.data.cached ? tenantCache(caches, task.data.tenant, task.runId) : null;

const tenantCache = (caches: StateStore['caches'], tenant: string, runId: string): TenantCache => ({
  read: async (key) => {
    const entry = await caches.read(tenant, key);
    return typeof entry?.value === 'string' ? entry.value : null;
  },
  write: async (key, value, ttlMs) => {
    await caches.write({ tenant, key, value, ttlMs, tags: [layerTag('search'), runTag(rootOf(runId))] });
  },
});
