import { defaultTtl, type StoreTtl } from '@conclave/ports';
import { newName, type StoreHarness, type StoreProcess } from '@conclave/ports/suites';
import { Database } from '../database/database.js';
import { LogTable } from '../event-log/log-table.js';
import { SharedState, SqliteState } from '../state/sqlite-state.js';
import { ShiftedClock } from './shifted-clock.js';

/** A store in memory whose clock can be moved; its processes are several users of the same database. */
export const stateHarness: StoreHarness = {
  async open(ttl: Partial<StoreTtl> = {}) {
    const clock = new ShiftedClock();
    const now = () => clock.now();
    const database = Database.open({ home: ':memory:', durability: 'process', now });
    const shared = new SharedState(database, new LogTable(database, now), clock, { ...defaultTtl, ...ttl });
    const another = async (): Promise<StoreProcess> => {
      const processId = newName('process');
      const store = new SqliteState(shared, processId);
      return { processId, store, stream: store.stream };
    };
    return {
      ...(await another()),
      another,
      advance: (ms) => clock.shift(ms),
      clockIsReal: false,
      async dispose() {
        shared.close();
        await database.close();
      },
    };
  },
};
