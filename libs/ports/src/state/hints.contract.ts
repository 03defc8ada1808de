import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** Hints, identity and the store's other small reports about itself. */
export function describeHintsIdentity({ open }: StoreHarness): void {
  let under: StoreUnderTest;
  beforeEach(async () => {
    under = await open();
  });
  afterEach(() => under.dispose());

  describe('hints', () => {
    it('reach every listener of their channel in every process, and no other channel', async () => {
      const other = await under.another();
      const [here, there, second, elsewhere] = [
        await listen(under, 'slot'),
        await listen(other, 'slot'),
        await listen(other, 'slot'),
        await listen(other, 'stream'),
      ];
      await under.store.hints.publish('slot', 'local');
      await until('all three heard it', () => [here, there, second].every(({ heard }) => heard.length > 0));
      expect([here.heard, there.heard, second.heard, elsewhere.heard]).toEqual([['local'], ['local'], ['local'], []]);
    });

    it('stop for one listener when it unsubscribes and continue for the others', async () => {
      const [leaving, staying] = [await listen(under, 'slot'), await listen(under, 'slot')];
      await leaving.stop();
      await leaving.stop();
      await under.store.hints.publish('slot', 'later');
      await until('the other heard it', () => staying.heard.length > 0);
      expect(leaving.heard).toEqual([]);
    });
  });

  describe('identity', () => {
    it('is null on a new store, then keeps its id and grows by one with every start', async () => {
      const { identity } = under.store;
      expect(await identity.read()).toBeNull();
      expect(await identity.start('store-1')).toEqual({ storeId: 'store-1', generation: 1 });
      const other = (await under.another()).store.identity;
      expect(await other.start('another id')).toEqual({ storeId: 'store-1', generation: 2 });
      expect(await identity.read()).toEqual({ storeId: 'store-1', generation: 2 });
    });
  });

  describe('the store', () => {
    it('has a clock in milliseconds since 1970 that does not go back, and is healthy', async () => {
      const first = await under.store.now();
      const second = await (await under.another()).store.now();
      expect(first).toBeGreaterThan(1_600_000_000_000);
      expect(second).toBeGreaterThanOrEqual(first);
      expect(Number.isInteger(first)).toBe(true);
      expect(await under.store.health()).toBeNull();
    });

    it('throws STORE_UNAVAILABLE after it was closed, and closing twice is fine', async () => {
      const other = await under.another();
      await other.store.close();
      await other.store.close();
      const { runs, settings, caches, scores, once } = other.store;
      const calls = [
        () => runs.openCount(),
        () => settings.list(''),
        () => caches.read('acme', 'k'),
        () => caches.write({ tenant: 'acme', key: 'k', value: 1, ttlMs: 1_000, tags: [] }),
        () => caches.claim({ tenant: 'acme', key: 'k', owner: 'o', ttlMs: 1_000 }),
        () => scores.all('acme'),
        () => once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: null }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await expect(other.store.health()).resolves.toEqual(expect.any(String));
      expect(await under.store.health()).toBeNull();
    });
  });
}
