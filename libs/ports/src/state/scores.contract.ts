import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hostileNames, hostilePairs } from './__fixtures__/hostile-names.js';
import { newName, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { largestWeight, type CategoryScore, type Scores } from './scores.js';

/** Scores of models per tenant and category. */
export function describeScores({ open }: StoreHarness): void {
  describe('scores', () => {
    let under: StoreUnderTest;
    let scores: Scores;
    beforeEach(async () => {
      under = await open();
      scores = under.store.scores;
    });
    afterEach(() => under.dispose());

    const update = (model: string, positive: number, negative: number, category = 'math'): CategoryScore => ({
      ...{ category, model, positive, negative },
    });
    const add = (updates: readonly CategoryScore[], { tenant = 'acme', eventId = newName('event'), on = scores } = {}) =>
      on.add({ eventId, tenant, updates });
    const read = (models: readonly string[], tenant = 'acme', category = 'math') => scores.read({ tenant, category, models });

    it('are zeros for a model that nothing is known of', async () => {
      expect(await read(['a', 'b'])).toEqual(['a', 'b'].map((model) => ({ model, positive: 0, negative: 0 })));
      expect(await read([])).toEqual([]);
      expect(await scores.all('acme')).toEqual([]);
    });

    it('add up per model and category, and are read in the order that was asked for, by every process', async () => {
      expect(await add([update('a', 1, 0), update('b', 0, 1), update('a', 2, 0, 'science')])).toBe(true);
      expect(await add([update('a', 1, 3), update('a', 1, 0)], { on: (await under.another()).store.scores })).toBe(true);
      expect(await read(['b', 'unknown', 'a'])).toEqual([
        { model: 'b', positive: 0, negative: 1 },
        { model: 'unknown', positive: 0, negative: 0 },
        { model: 'a', positive: 3, negative: 3 },
      ]);
      expect(await scores.all('acme')).toEqual([update('a', 3, 3), update('b', 0, 1), update('a', 2, 0, 'science')]);
    });

    it('take weights between whole numbers, and small ones too, which add up', async () => {
      await Promise.all(Array.from({ length: 100 }, () => add([update('a', 0.1, 1e-7)])));
      const [found] = await read(['a']);
      expect(found!.positive).toBeCloseTo(10, 9);
      expect(found!.negative).toBeCloseTo(1e-5, 12);
    });

    it('count an event once, however many processes bring it at the same time, and nothing else it says later', async () => {
      const other = (await under.another()).store.scores;
      const asked = Array.from({ length: 20 }, (_, n) =>
        add([update('a', 1, 0), update('b', 0, 2)], { eventId: 'event-1', on: n % 2 ? other : scores }),
      );
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
      expect(await add([update('a', 9, 9)], { eventId: 'event-1' })).toBe(false);
      expect(await read(['a', 'b'])).toEqual([
        { model: 'a', positive: 1, negative: 0 },
        { model: 'b', positive: 0, negative: 2 },
      ]);
    });

    it('lose nothing of many events at the same time', async () => {
      const other = (await under.another()).store.scores;
      await Promise.all(Array.from({ length: 40 }, (_, n) => add([update('a', 1, n % 2)], { on: n % 2 ? other : scores })));
      expect(await read(['a'])).toEqual([{ model: 'a', positive: 40, negative: 20 }]);
    });

    it('know an event that changed nothing', async () => {
      expect([await add([], { eventId: 'empty' }), await add([update('a', 1, 0)], { eventId: 'empty' })]).toEqual([true, false]);
      expect(await scores.all('acme')).toEqual([]);
    });

    it('refuse a weight that cannot be added, together with everything in the same write', async () => {
      for (const wrong of [-1, NaN, Infinity, largestWeight * 1.01]) {
        await expect(add([update('a', 1, 0), update('b', wrong, 0)], { eventId: 'event-1' })).rejects.toThrow(RangeError);
        await expect(add([update('a', 1, 0), update('b', 0, wrong)], { eventId: 'event-1' })).rejects.toThrow(RangeError);
      }
      expect(await scores.all('acme')).toEqual([]);
      expect(await add([update('a', 0, largestWeight)], { eventId: 'event-1' })).toBe(true);
    });

    it('of one tenant are invisible to another, whose equal event id is another event', async () => {
      expect(await add([update('a', 1, 0)], { tenant: 'acme', eventId: 'event-1' })).toBe(true);
      expect(await add([update('a', 0, 5)], { tenant: 'beta', eventId: 'event-1' })).toBe(true);
      expect(await scores.all('acme')).toEqual([update('a', 1, 0)]);
      expect(await scores.all('beta')).toEqual([update('a', 0, 5)]);
      expect(await read(['a'], 'gamma')).toEqual([{ model: 'a', positive: 0, negative: 0 }]);
    });

    it('are held apart, whatever the names of categories and models are', async () => {
      const wanted = hostilePairs.map(([category, model], n) => update(model, n, 1, category));
      await add(wanted);
      const all = new Map((await scores.all('acme')).map((score) => [JSON.stringify([score.category, score.model]), score]));
      expect(all.size).toBe(wanted.length);
      expect(wanted.map(({ category, model }) => all.get(JSON.stringify([category, model])))).toEqual(wanted);
      const ofNoName = wanted.filter(({ category }) => category === '');
      expect(await read(hostileNames, 'acme', '')).toEqual(
        ofNoName.map(({ model, positive, negative }) => ({ model, positive, negative })),
      );
    });

    it('are held apart, whatever the names of tenants and events are', async () => {
      const added = hostilePairs.map(([tenant, eventId]) => add([update('a', 1, 0, tenant)], { tenant, eventId }));
      expect(new Set(await Promise.all(added))).toEqual(new Set([true]));
      const all = await Promise.all(hostileNames.map((tenant) => scores.all(tenant)));
      expect(all).toEqual(hostileNames.map((tenant) => [update('a', hostileNames.length, 0, tenant)]));
    });

    it('do not expire', async () => {
      await under.dispose();
      under = await open({ retentionMs: 100 });
      scores = under.store.scores;
      await add([update('a', 1, 0)]);
      await pass(under, 150);
      expect(await read(['a'])).toEqual([{ model: 'a', positive: 1, negative: 0 }]);
    });
  });
}
