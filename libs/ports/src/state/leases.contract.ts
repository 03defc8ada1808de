import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, newName, pass, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** Leases of processes and of provider slots. */
export function describeLeases({ open }: StoreHarness): void {
  describe('leases', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    const renew = (id: string, classes: readonly string[], ttlMs = 60_000) =>
      under.store.leases.renewProcess({ id, service: 'experts', classes, ttlMs });

    it('of a process are valid until they end, for every process to see', async () => {
      const id = newName('worker');
      const other = (await under.another()).store.leases;
      expect(await other.alive(id)).toBe(false);
      await renew(id, ['expert']);
      await renew(id, ['expert']);
      expect(await other.alive(id)).toBe(true);
      await other.endProcess(id);
      await other.endProcess(id);
      expect(await under.store.leases.alive(id)).toBe(false);
    });

    it('of a process expire if they are not renewed, and not while they are', async () => {
      const [silent, lively] = [newName('worker'), newName('worker')];
      await renew(silent, ['expert'], 150);
      await renew(lively, ['expert'], 150);
      await pass(under, 60);
      await renew(lively, ['expert'], 10_000);
      await pass(under, 140);
      expect([await under.store.leases.alive(silent), await under.store.leases.alive(lively)]).toEqual([false, true]);
      expect(await under.store.leases.liveWorkers('expert')).toBe(1);
    });

    it('count the live workers of a class, each once', async () => {
      const { leases } = under.store;
      const [a, b] = [newName('worker'), newName('worker')];
      await renew(a, ['expert', 'gpu']);
      await renew(a, ['expert', 'gpu']);
      await renew(b, ['expert']);
      expect([await leases.liveWorkers('expert'), await leases.liveWorkers('gpu'), await leases.liveWorkers('legal')]).toEqual([2, 1, 0]);
      await leases.endProcess(b);
      expect(await leases.liveWorkers('expert')).toBe(1);
    });

    it('list every living process', async () => {
      const { leases } = under.store;
      const [a, b, gone] = [newName('worker'), newName('worker'), newName('worker')];
      for (const id of [a, b, gone]) await renew(id, ['expert']);
      await leases.endProcess(gone);
      const live = await (await under.another()).store.leases.live();
      expect([a, b, gone].map((id) => live.includes(id))).toEqual([true, true, false]);
    });

    it('forget a class that a process no longer serves', async () => {
      const id = newName('worker');
      await renew(id, ['expert', 'gpu']);
      await renew(id, ['gpu']);
      expect([await under.store.leases.liveWorkers('expert'), await under.store.leases.liveWorkers('gpu')]).toEqual([0, 1]);
    });
  });

  describe('slots', () => {
    let under: StoreUnderTest;
    let name: string;
    beforeEach(async () => {
      under = await open();
      name = newName('provider');
    });
    afterEach(() => under.dispose());

    const acquire = (holder: string, limit = 2, ttlMs = 60_000) => under.store.leases.acquireSlot({ name, limit, holder, ttlMs });

    it('are assigned up to their limit, once to each holder', async () => {
      expect([await acquire('a'), await acquire('a'), await acquire('b'), await acquire('c')]).toEqual([true, true, true, false]);
      expect([await acquire('a'), await acquire('b')]).toEqual([true, true]);
      expect(await under.store.leases.acquireSlot({ name: newName('provider'), limit: 1, holder: 'c', ttlMs: 60_000 })).toBe(true);
    });

    it('keep their limit over two processes that ask at the same time', async () => {
      const other = await under.another();
      const asked = Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? under : other).store.leases.acquireSlot({ name, limit: 3, holder: `h${n}`, ttlMs: 60_000 }),
      );
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(3);
    });

    it('are free again when released, which the hint `slot` reports', async () => {
      const hints = await listen(await under.another(), 'slot');
      await acquire('a', 1);
      expect(await acquire('b', 1)).toBe(false);
      await under.store.leases.releaseSlot({ name, holder: 'a' });
      await under.store.leases.releaseSlot({ name, holder: 'a' });
      expect(await acquire('b', 1)).toBe(true);
      await until('the hint arrived', () => hints.heard.includes(name));
    });

    const wait = async (holder: string, limit = 1, waitMs = 60_000, leases = under.store.leases) =>
      leases.acquireSlot({ name, limit, holder, ttlMs: 60_000, waitMs });
    const release = (holder: string) => under.store.leases.releaseSlot({ name, holder });

    it('are for those that wait for longest, in every process, and for one that does not wait only if none is left for it', async () => {
      const other = (await under.another()).store.leases;
      await acquire('a', 1);
      expect([await wait('b'), await wait('c', 1, 60_000, other), await wait('d')]).toEqual([false, false, false]);
      await release('a');
      expect([await wait('d'), await wait('c', 1, 60_000, other), await acquire('e', 1)]).toEqual([false, false, false]);
      expect([await wait('b'), await wait('b')]).toEqual([true, true]);
      await release('b');
      expect([await wait('d'), await wait('c', 1, 60_000, other), await wait('d')]).toEqual([false, true, false]);
    });

    it('are as many as are left for those that come later', async () => {
      await acquire('a');
      await acquire('b');
      expect([await wait('c', 2), await wait('d', 2), await wait('e', 2)]).toEqual([false, false, false]);
      await release('a');
      await release('b');
      expect([await wait('e', 2), await wait('d', 2), await wait('c', 2), await wait('e', 2)]).toEqual([false, true, true, false]);
    });

    it('do not stay free for one that waits no longer, or has not asked for the time of its place', async () => {
      await acquire('a', 1);
      expect([await wait('silent', 1, 100), await wait('gone'), await wait('lively')]).toEqual([false, false, false]);
      await release('a');
      expect(await wait('lively')).toBe(false);
      await release('gone');
      await pass(under, 150);
      expect(await wait('lively')).toBe(true);
    });

    it('are counted while they are held', async () => {
      const held = () => under.store.leases.slotsHeld(name);
      expect(await held()).toBe(0);
      await acquire('a');
      await acquire('b', 2, 100);
      expect(await held()).toBe(2);
      await pass(under, 150);
      expect(await held()).toBe(1);
      await under.store.leases.releaseSlot({ name, holder: 'a' });
      expect(await held()).toBe(0);
    });

    it('are not freed by a process that does not hold them', async () => {
      await acquire('a', 1);
      await under.store.leases.releaseSlot({ name, holder: 'b' });
      expect(await acquire('b', 1)).toBe(false);
    });

    it('are free again when their holder stops renewing, and not while it renews', async () => {
      await acquire('silent', 2, 150);
      await acquire('lively', 2, 150);
      await pass(under, 60);
      await acquire('lively', 2, 10_000);
      await pass(under, 140);
      expect([await acquire('c'), await acquire('d')]).toEqual([true, false]);
    });
  });
}
