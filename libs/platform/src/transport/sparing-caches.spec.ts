import { describe, expect, it } from '@jest/globals';
import { cacheValueBytes, MemoryStores } from '@conclave/ports';
import { sparingCaches } from './sparing-caches.js';

const entry = (value: string) => ({ tenant: 'a', key: 'k', value, ttlMs: 1_000, tags: [] });

describe('a cache', () => {
  it('leaves out a value that is too large, reports and counts it; the existing value stays', async () => {
    const counted: string[] = [];
    const caches = sparingCaches(new MemoryStores().caches, { count: (name) => void counted.push(name) });
    expect(await caches.write(entry('small'))).toBe(true);
    expect(await caches.write(entry('x'.repeat(cacheValueBytes)))).toBe(false);
    expect((await caches.read('a', 'k'))?.value).toBe('small');
    expect(counted).toEqual(['cache_values_too_large_total']);
  });

  it('lets every other failure through', async () => {
    const caches = sparingCaches(Object.assign(new MemoryStores().caches, { write: () => Promise.reject(new Error('away')) }), {
      count: () => undefined,
    });
    await expect(caches.write(entry('small'))).rejects.toThrow('away');
  });
});
