import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hostilePairs } from './__fixtures__/hostile-names.js';
import { pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** Names that can be claimed once. */
export function describeOnce({ open }: StoreHarness): void {
  describe('once', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    const claim = (holder: string, { name = 'feedback', tenant = 'acme', ttlMs = null as number | null, on = under.store.once } = {}) =>
      on.claim({ tenant, name, holder, ttlMs });

    it('belongs to the first caller, and returns that caller to all others', async () => {
      expect(await claim('a')).toEqual({ mine: true, holder: 'a' });
      expect(await claim('b')).toEqual({ mine: false, holder: 'a' });
      expect(await claim('b', { on: (await under.another()).store.once })).toEqual({ mine: false, holder: 'a' });
      expect(await claim('a')).toEqual({ mine: true, holder: 'a' });
      expect(await claim('b', { name: 'something else' })).toEqual({ mine: true, holder: 'b' });
    });

    it('belongs to one of many callers at the same time, and all receive the same one', async () => {
      const other = (await under.another()).store.once;
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(`h${n}`, { on: n % 2 ? other : under.store.once })));
      const winner = answers.findIndex(({ mine }) => mine);
      expect(answers).toEqual(answers.map((_, n) => ({ mine: n === winner, holder: `h${winner}` })));
    });

    it('ends when its time is over, which a repeated claim does not prolong', async () => {
      await claim('a', { ttlMs: 600 });
      await claim('a', { name: 'for good' });
      await pass(under, 300);
      expect(await claim('a', { ttlMs: 60_000 })).toEqual({ mine: true, holder: 'a' });
      await pass(under, 310);
      expect(await claim('b', { ttlMs: 60_000 })).toEqual({ mine: true, holder: 'b' });
      expect(await claim('b', { name: 'for good' })).toEqual({ mine: false, holder: 'a' });
    });

    it('refuses an invalid time to live', async () => {
      for (const ttlMs of [0, -1, NaN]) await expect(claim('a', { ttlMs })).rejects.toThrow(RangeError);
      expect(await claim('b')).toEqual({ mine: true, holder: 'b' });
    });

    it('is separate for each tenant and name, whatever they and their holders are called', async () => {
      const all = (holderOf: (n: number) => string) =>
        Promise.all(hostilePairs.map(([tenant, name], n) => claim(holderOf(n), { tenant, name })));
      const holders = hostilePairs.map(([a, b]) => `${b}${a}`);
      expect(await all((n) => holders[n]!)).toEqual(holders.map((holder) => ({ mine: true, holder })));
      expect(await all(() => 'nobody')).toEqual(holders.map((holder) => ({ mine: false, holder })));
    });
  });
}
