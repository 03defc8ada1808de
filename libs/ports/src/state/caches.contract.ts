import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hostileNames, hostilePairs } from './__fixtures__/hostile-names.js';
import { newName, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import type { Caches } from './caches.js';
import { cacheValueBytes } from './limits.js';

/** Cached values, their tags, and claims to compute one. */
export function describeCaches({ open }: StoreHarness): void {
  let under: StoreUnderTest;
  let caches: Caches;
  beforeEach(async () => {
    under = await open();
    caches = under.store.caches;
  });
  afterEach(() => under.dispose());

  const write = (key: string, more: { value?: unknown; ttlMs?: number; tags?: readonly string[]; tenant?: string } = {}, on = caches) =>
    on.write({ tenant: 'acme', key, value: key, ttlMs: 60_000, tags: [], ...more });
  const read = async (key: string, tenant = 'acme', on = caches) => (await on.read(tenant, key))?.value;
  const many = <T>(count: number, make: (n: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, n) => make(n)));

  describe('caches', () => {
    it('return what was written with its tags and times, to every process, and null for unknown keys', async () => {
      const before = await under.store.now();
      expect(await write('k', { value: { answer: 'blue' }, tags: ['run-2', 'run-1', 'run-2'], ttlMs: 5_000 })).toBe(true);
      const entry = await (await under.another()).store.caches.read('acme', 'k');
      expect(entry).toEqual({
        value: { answer: 'blue' },
        tags: ['run-1', 'run-2'],
        writtenAt: expect.any(Number),
        expiresAt: entry!.writtenAt + 5_000,
      });
      expect(entry!.writtenAt).toBeGreaterThanOrEqual(before);
      expect(entry!.writtenAt).toBeLessThanOrEqual(await under.store.now());
      expect(await caches.read('acme', 'other')).toBeNull();
    });

    it('keep any JSON as it is', async () => {
      const values = [null, 0, '', false, [], {}, -0.1, 1e300, 'é🦁\u0000\ud83e', { a: [{ b: null }] }, '"]}', undefined];
      await Promise.all(values.map((value, n) => write(`k${n}`, { value })));
      expect(await Promise.all(values.map((_, n) => read(`k${n}`)))).toEqual(values.map((value) => value ?? null));
    });

    it('forget an entry when its time is over, not before, and start its time again with a new write', async () => {
      await Promise.all([write('short', { ttlMs: 400 }), write('long', { ttlMs: 60_000 }), write('renewed', { ttlMs: 400 })]);
      expect(await read('short')).toBe('short');
      await write('renewed', { ttlMs: 60_000 });
      await pass(under, 410);
      expect([await read('short'), await read('long'), await read('renewed')]).toEqual([undefined, 'long', 'renewed']);
      await write('short', { value: 'again' });
      expect(await read('short')).toBe('again');
    });

    it('let the last write win, also over its tags and its time', async () => {
      await write('k', { value: 1, tags: ['old', 'both'], ttlMs: 60_000 });
      await write('k', { value: 2, tags: ['both', 'new'], ttlMs: 400 });
      expect(await caches.read('acme', 'k')).toMatchObject({ value: 2, tags: ['both', 'new'] });
      expect(await caches.removeTagged('acme', 'old')).toBe(0);
      expect(await read('k')).toBe(2);
      await pass(under, 410);
      expect(await read('k')).toBeUndefined();
    });

    it('are not harmed by the same write twice, nor by many at the same time: one of them is kept whole', async () => {
      await many(2, () => write('same', { tags: ['t'] }));
      expect(await caches.removeTagged('acme', 't')).toBe(1);
      const other = (await under.another()).store.caches;
      await many(20, (n) => write('k', { value: n, tags: [`t${n}`] }, n % 2 ? other : caches));
      const entry = await caches.read('acme', 'k');
      expect(entry!.tags).toEqual([`t${entry!.value as number}`]);
      const removed = await many(20, (n) => caches.removeTagged('acme', `t${n}`));
      expect(removed.reduce((sum, count) => sum + count)).toBe(1);
    });

    it('remove one entry, or nothing if there is none', async () => {
      await Promise.all([write('k'), write('other'), write('k', { tenant: 'beta' })]);
      await caches.remove('acme', 'k');
      await caches.remove('acme', 'k');
      expect([await read('k'), await read('other'), await read('k', 'beta')]).toEqual([undefined, 'other', 'k']);
    });

    it('keep a value of the largest size and refuse a larger one, counted in bytes, without changing the existing value', async () => {
      const largest = 'x'.repeat(cacheValueBytes - 2);
      expect(await write('k', { value: largest })).toBe(true);
      await expect(write('k', { value: `${largest}x` })).rejects.toMatchObject({ code: 'CACHE_VALUE_TOO_LARGE' });
      await expect(write('k', { value: 'ä'.repeat(cacheValueBytes / 2) })).rejects.toMatchObject({ code: 'CACHE_VALUE_TOO_LARGE' });
      expect(await read('k')).toBe(largest);
    });

    it('refuse an invalid time to live', async () => {
      for (const ttlMs of [0, -1, NaN, Infinity]) await expect(write('k', { ttlMs })).rejects.toThrow(RangeError);
      expect(await read('k')).toBeUndefined();
      expect(await write('k', { ttlMs: 0.5 })).toBe(true);
    });

    it('keep each tenant and key apart, whatever their names are', async () => {
      await Promise.all(hostilePairs.map(([tenant, key], n) => write(key, { tenant, value: n })));
      expect(await Promise.all(hostilePairs.map(([tenant, key]) => read(key, tenant)))).toEqual(hostilePairs.map((_, n) => n));
      await caches.remove('a', 'a');
      const left = await Promise.all(hostilePairs.map(([tenant, key]) => read(key, tenant)));
      expect(left.flatMap((value, n) => (value === undefined ? [hostilePairs[n]] : []))).toEqual([['a', 'a']]);
    });
  });

  describe('removal by tag', () => {
    it('takes every entry of the tenant that carries it, tells how many, and takes nothing else', async () => {
      await Promise.all([
        ...['a', 'b', 'c'].map((key) => write(key, { tags: ['run-1', key] })),
        write('d', { tags: ['run-2'] }),
        write('e', { tags: ['run-1'], tenant: 'beta' }),
      ]);
      expect(await caches.removeTagged('acme', 'run-1')).toBe(3);
      expect(await Promise.all(['a', 'b', 'c', 'd'].map((key) => read(key)))).toEqual([undefined, undefined, undefined, 'd']);
      expect(await read('e', 'beta')).toBe('e');
      expect(await caches.removeTagged('acme', 'run-1')).toBe(0);
      expect(await caches.removeTagged('acme', 'never')).toBe(0);
      await write('a', { tags: ['run-1'] });
      expect(await read('a')).toBe('a');
    });

    it('counts no entry whose time is over', async () => {
      await Promise.all([write('short', { tags: ['t'], ttlMs: 100 }), write('long', { tags: ['t'] })]);
      await pass(under, 110);
      await write('late', { tags: ['t'] });
      expect(await caches.removeTagged('acme', 't')).toBe(2);
    });

    it('finds entries that outlive others with the same tag', async () => {
      await write('long', { tags: ['t'], ttlMs: 60_000 });
      await write('short', { tags: ['t'], ttlMs: 100 });
      await pass(under, 110);
      expect(await caches.removeTagged('acme', 't')).toBe(1);
      expect(await read('long')).toBeUndefined();
    });

    it('keeps tags apart, whatever the names of tenants and tags are', async () => {
      await Promise.all(hostilePairs.map(([tenant, tag]) => write(`of ${tag}`, { tenant, tags: [tag] })));
      expect(await Promise.all(hostileNames.map((tag) => caches.removeTagged('a', tag)))).toEqual(hostileNames.map(() => 1));
      const left = await Promise.all(hostilePairs.map(([tenant, tag]) => read(`of ${tag}`, tenant)));
      left.forEach((value, n) => expect(value).toBe(hostilePairs[n]![0] === 'a' ? undefined : `of ${hostilePairs[n]![1]}`));
    });

    it('misses no entry that was written before it, however many are written in the meantime', async () => {
      const other = (await under.another()).store.caches;
      const total = 60;
      const acknowledged = new Set<string>();
      const writing = (n: number) => write(`k${n}`, { tags: ['t', `t${n}`] }, n % 2 ? other : caches).then(() => acknowledged.add(`k${n}`));
      await many(total / 3, writing);
      const early = [...acknowledged];
      const rest = many((2 * total) / 3, (n) => writing(n + total / 3));
      const removed = await other.removeTagged('acme', 't');
      expect(await Promise.all(early.map((key) => read(key)))).toEqual(early.map(() => undefined));
      await rest;
      const present = (await many(total, (n) => read(`k${n}`))).filter((value) => value !== undefined).length;
      expect(removed + present).toBe(total);
      expect(await caches.removeTagged('acme', 't')).toBe(present);
      expect((await many(total, (n) => read(`k${n}`))).filter((value) => value !== undefined)).toEqual([]);
    });

    it('refuses entries with the tag while it is banned, so that nothing on its way comes back', async () => {
      const other = (await under.another()).store.caches;
      const writes = many(30, (n) => write(`k${n}`, { tags: ['bad'] }, n % 2 ? other : caches));
      await caches.removeTagged('acme', 'bad', 60_000);
      await writes;
      expect((await many(30, (n) => read(`k${n}`))).filter((value) => value !== undefined)).toEqual([]);
      await write('kept', { value: 'before' });
      expect(await write('kept', { value: 'banned', tags: ['good', 'bad'] })).toBe(false);
      expect(await read('kept')).toBe('before');
      expect([await write('k', { tags: ['good'] }), await write('k', { tags: ['bad'], tenant: 'beta' })]).toEqual([true, true]);
    });

    it('lets a ban end with its time, and no shorter one cut it', async () => {
      await caches.removeTagged('acme', 'brief', 150);
      await caches.removeTagged('acme', 'lasting', 60_000);
      await caches.removeTagged('acme', 'lasting', 150);
      await caches.removeTagged('acme', 'lasting');
      await pass(under, 160);
      expect([await write('a', { tags: ['brief'] }), await write('b', { tags: ['lasting'] })]).toEqual([true, false]);
    });
  });

  describe('claims', () => {
    const claim = (owner: string, key = 'k', ttlMs = 60_000, tenant = 'acme') => caches.claim({ tenant, key, owner, ttlMs });

    it('go to one of many who ask at the same time in several processes, and to that one again', async () => {
      const other = (await under.another()).store.caches;
      const key = newName('key');
      const answers = await many(20, (n) => (n % 2 ? other : caches).claim({ tenant: 'acme', key, owner: `owner-${n}`, ttlMs: 60_000 }));
      expect(answers.filter((answer) => answer === 'mine')).toHaveLength(1);
      expect(await claim(`owner-${answers.indexOf('mine')}`, key)).toBe('mine');
    });

    it('are free again when their owner releases them, and nobody else can release them', async () => {
      expect([await claim('a'), await claim('b')]).toEqual(['mine', 'taken']);
      await caches.release({ tenant: 'acme', key: 'k', owner: 'b' });
      expect(await claim('b')).toBe('taken');
      await caches.release({ tenant: 'acme', key: 'k', owner: 'a' });
      await caches.release({ tenant: 'acme', key: 'k', owner: 'a' });
      expect(await claim('b')).toBe('mine');
    });

    it('are free again when their time is over, unless their owner has renewed them', async () => {
      expect([await claim('a', 'silent', 150), await claim('a', 'lively', 150)]).toEqual(['mine', 'mine']);
      expect(await claim('a', 'lively', 60_000)).toBe('mine');
      await pass(under, 160);
      expect([await claim('b', 'silent'), await claim('b', 'lively')]).toEqual(['mine', 'taken']);
    });

    it('stay with their owner while the entry is written, read and removed', async () => {
      await claim('a');
      await write('k');
      await caches.remove('acme', 'k');
      expect(await claim('b')).toBe('taken');
    });

    it('are held apart, whatever the names of tenants, keys and owners are', async () => {
      const all = (owner: string) => Promise.all(hostilePairs.map(([tenant, key]) => claim(owner, key, 60_000, tenant)));
      expect(new Set(await all('a'))).toEqual(new Set(['mine']));
      expect(new Set(await all('b'))).toEqual(new Set(['taken']));
      await claim('\ud83e', 'half');
      expect(await claim('\udd81', 'half')).toBe('taken');
    });
  });
}
