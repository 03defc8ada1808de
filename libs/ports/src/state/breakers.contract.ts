import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newName, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { type Breakers, type BreakerState, defaultBreaker, settle } from './breaker.js';

/** Circuit breakers that all processes share. */
export function describeBreakers({ open }: StoreHarness): void {
  describe('breakers', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    const closed = (failed: readonly boolean[]): BreakerState => ({ kind: 'closed', since: 0, failed });
    const write = (next: BreakerState, version: number, nonce = newName('nonce'), on: Breakers = under.store.breakers) =>
      on.swap({ provider: 'ollama', version, next, nonce });

    it('contain nothing at first, then what was written, for every process and each provider separately', async () => {
      const { breakers } = under.store;
      const before = await under.store.now();
      const { now, ...nothing } = await breakers.read('ollama');
      expect(nothing).toEqual({ version: 0, state: null });
      expect(now).toBeGreaterThanOrEqual(before);
      const opened: BreakerState = { kind: 'open', opened: { at: 1, by: 'p/call/0' } };
      expect(await write(opened, 0)).toMatchObject({ swapped: true, held: { version: 1, state: opened } });
      expect(await (await under.another()).store.breakers.read('ollama')).toMatchObject({ version: 1, state: opened });
      expect(await breakers.read('openai')).toMatchObject({ version: 0, state: null });
    });

    it('are not overwritten by a process that has not seen the present state', async () => {
      await write(closed([true]), 0);
      expect(await write(closed([true, true]), 0)).toMatchObject({ swapped: false, held: { version: 1, state: closed([true]) } });
      expect(await write(closed([true, true]), 1)).toMatchObject({ swapped: true, held: { version: 2 } });
    });

    it('distinguish two processes that write the same at the same moment, and return the same answer for a repeated write', async () => {
      const other = (await under.another()).store.breakers;
      expect(await write(closed([true]), 0, 'mine')).toMatchObject({ swapped: true });
      expect(await write(closed([true]), 0, 'theirs', other)).toMatchObject({ swapped: false, held: { version: 1 } });
      expect(await write(closed([true, true]), 1, 'theirs', other)).toMatchObject({ swapped: true });
      expect(await write(closed([true]), 0, 'mine')).toMatchObject({ swapped: true, held: { version: 2, state: closed([true, true]) } });
    });

    it('are opened by one of many calls that fail at the same moment, and every failure counts', async () => {
      const other = (await under.another()).store.breakers;
      const settings = { ...defaultBreaker, failures: 24, window: 24, share: 1 };
      const fail = async (n: number): Promise<{ readonly opened: boolean }> => {
        const on = n % 2 ? other : under.store.breakers;
        for (let held = await on.read('ollama'); ;) {
          // All in the same millisecond: only the writer distinguishes one opening from another.
          const next = settle(held.state, { by: `c${n}`, begunAt: 1, now: 1, health: 'unwell' }, settings)!;
          if (next === held.state) return { opened: false };
          const after = await on.swap({ provider: 'ollama', version: held.version, next, nonce: newName('nonce') });
          if (after.swapped) return { opened: next.kind === 'open' };
          held = after.held;
        }
      };
      const ended = await Promise.all(Array.from({ length: 30 }, (_, n) => fail(n)));
      const openers = ended.flatMap(({ opened }, n) => (opened ? [`c${n}`] : []));
      expect(openers).toHaveLength(1);
      expect(await under.store.breakers.read('ollama')).toMatchObject({
        version: 24,
        state: { kind: 'open', opened: { at: 1, by: openers[0] } },
      });
    });
  });
}
