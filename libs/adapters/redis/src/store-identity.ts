import { randomUUID } from 'node:crypto';
import type { StateStore, StoreMark } from '@conclave/ports';
import type { Connection } from './connection.js';
import type { Bucket, Keys } from './keys.js';
import { noteEverywhere, readIdentity, startIdentity, storeFormat } from './scripts/store.js';

/**
 * The mark of a store stands in each of its buckets, and the first one's is the store's. Whoever has read or started it works on that store
 * alone from then on; generation 0 is a store to be rebuilt, which nobody works on.
 */
export function identityOf(connection: Connection, keys: Keys, watched: boolean): StateStore['identity'] {
  const remember = (at: Bucket, mark: StoreMark): void => (watched ? connection.remember(at, mark) : undefined);
  return {
    async read() {
      const found = await Promise.all(keys.buckets.map((at) => connection.runUnguarded(at, readIdentity, [], [])));
      const [storeId, generation, everywhere] = found[0]!;
      if (storeId === null) return null;
      // One bucket that has lost its mark, or has another, is as bad as a store that has.
      const isWhole = (other: string | null): boolean => other === storeId || (other === null && everywhere === null);
      if (!found.every(([other, of]) => isWhole(other) && of !== '0')) return { storeId, generation: 0 };
      for (const at of keys.buckets) {
        const [own, of] = found[at.n]!;
        if (own !== null) remember(at, { storeId, generation: Number(of) });
      }
      return { storeId, generation: Number(generation) };
    },
    async start(storeId) {
      const start = (at: Bucket, id: string, how: 'first' | 'over' | 'raise') =>
        connection.runUnguarded(at, startIdentity, [], [id, randomUUID(), storeFormat, how]);
      const [first, ...others] = keys.buckets;
      const [id, generation, everywhere] = await start(first!, storeId, 'first');
      const mark = { storeId: id!, generation: Number(generation) };
      const raised = await Promise.all(others.map((at) => start(at, mark.storeId, everywhere === null ? 'over' : 'raise')));
      if (everywhere === null) await connection.runUnguarded(first!, noteEverywhere, [], []);
      remember(first!, mark);
      // Of a bucket without a mark the store's is remembered: nothing runs there.
      others.forEach((at, n) => remember(at, { storeId: mark.storeId, generation: Number(raised[n]![1] ?? 0) }));
      return mark;
    },
  };
}
