import type { Caches } from './caches.js';

/** Tag of every cached answer of a tenant: changed documents may change the answers. */
export const documentsTag = 'documents';

/** Key of an entry whose time is that of the last change. */
export const documentsChangedKey = 'documents/changed';
/** Milliseconds for which a change is remembered: longer than an answer is kept, which is the longest that its record may be late. */
const rememberedMs = 14 * 24 * 60 * 60_000;

/**
 * Documents of a tenant were added, changed or removed: removes its cached answers, and remembers the time, because the answer of a run that
 * read the former documents may arrive later. Throws STORE_*.
 */
export async function documentsChanged(caches: Caches, tenant: string): Promise<void> {
  await caches.write({ tenant, key: documentsChangedKey, value: null, ttlMs: rememberedMs, tags: [] });
  await caches.removeTagged(tenant, documentsTag);
}

/** Whether documents have changed since `at` (milliseconds since 1970 by the store's clock). Throws STORE_*. */
export async function documentsChangedSince(caches: Caches, tenant: string, at: number): Promise<boolean> {
  const changed = await caches.read(tenant, documentsChangedKey);
  return changed !== null && changed.writtenAt >= at;
}
