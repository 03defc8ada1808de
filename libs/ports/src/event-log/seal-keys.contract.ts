import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newRunId } from '../state/__fixtures__/store-harness.js';
import { destroyedKey, type SealKeys } from './seals.js';

export interface SealKeysUnderTest {
  readonly keys: SealKeys;
  /** The same keys as another process sees them. */
  another(): Promise<SealKeys>;
  dispose(): Promise<void>;
}

/** Keys of runs that can be destroyed. */
export function describeSealKeys(name: string, open: () => Promise<SealKeysUnderTest>): void {
  describe(`${name} keeps seal keys`, () => {
    let under: SealKeysUnderTest;
    let runId: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
    });
    afterEach(() => under.dispose());

    it('has no key at first, then the first one that is offered, for every process', async () => {
      const other = await under.another();
      expect(await under.keys.read(runId)).toBeNull();
      const offers = ['a', 'b', 'c', 'd'].map((offer, n) => (n % 2 ? other : under.keys).keep(runId, offer));
      const [kept, ...others] = new Set(await Promise.all(offers));
      expect(others).toEqual([]);
      expect([await under.keys.read(runId), await other.read(runId)]).toEqual([kept, kept]);
      expect(await under.keys.read(newRunId())).toBeNull();
    });

    it('returns a destroyed key to nobody, nor another one, and says whether there was one, however often', async () => {
      await under.keys.keep(runId, 'a');
      expect([await under.keys.destroy(runId), await under.keys.destroy(runId)]).toEqual([true, true]);
      const other = await under.another();
      expect([await other.read(runId), await other.keep(runId, 'b')]).toEqual([destroyedKey, destroyedKey]);
      expect(await under.keys.destroy(newRunId())).toBe(false);
    });
  });
}
