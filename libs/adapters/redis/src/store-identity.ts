import { randomUUID } from 'node:crypto';
import type { StateStore, StoreMark } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Bucket, Keys } from './keys.js';
import { noteEverywhere, readIdentity, startIdentity, storeFormat } from './scripts/store.js';

/**
 * Each bucket of a store has a mark; the mark of the first bucket identifies the store. A process that has read or started it works only on that
 * store from then on. Generation 0 means a store that must be rebuilt, on which no process works.
 */
export function identityOf(connection: RedisConnection, keys: Keys, watched: boolean): StateStore['identity'] {
  const remember = (at: Bucket, mark: StoreMark): void => (watched ? connection.remember(at, mark) : undefined);
  return {
    async read() {
      const found = await Promise.all(keys.buckets.map((at) => connection.runUnguarded(at, readIdentity, [], [])));
      const [storeId, generation, everywhere] = found[0]!;
      if (storeId === null) return null;
      // A bucket with a lost or different mark makes the whole store invalid.
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
      // For a bucket without a mark, the store's id is remembered, so that scripts refuse to run there.
      others.forEach((at, n) => remember(at, { storeId: mark.storeId, generation: Number(raised[n]![1] ?? 0) }));
      return mark;
    },
  };
}
