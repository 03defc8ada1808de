import {
  describeRecovery,
  describeRunStream,
  describeStateStore,
  newName,
  type RecoverableStore,
  type RecoveryHarness,
  type StoreHarness,
} from '@conclave/ports/suites';
import { defaultTtl, type StoreTtl } from '@conclave/ports';
import { SqliteBlobs } from '../blobs.js';
import { Database } from '../database/database.js';
import { LogTable } from '../event-log/log-table.js';
import { SharedState, SqliteState } from './sqlite-state.js';
import { ShiftedClock } from '../__fixtures__/shifted-clock.js';

/** A store in memory with a movable clock; its processes are users of the same database. */
const stateHarness: StoreHarness & RecoveryHarness = {
  async open(ttl: Partial<StoreTtl> = {}): Promise<RecoverableStore> {
    const clock = new ShiftedClock();
    const now = () => clock.now();
    const database = Database.open({ home: ':memory:', durability: 'process', now });
    const shared = new SharedState(database, new LogTable(database, now), clock, { ...defaultTtl, ...ttl });
    const another = async () => {
      const processId = newName('process');
      const store = new SqliteState(shared, processId);
      return { processId, store, stream: store.stream, recovery: store.recovery };
    };
    return {
      ...(await another()),
      another,
      blobs: new SqliteBlobs(database, now),
      advance: (ms) => clock.shift(ms),
      clockIsReal: false,
      async dispose() {
        shared.close();
        await database.close();
      },
    };
  },
};

describeStateStore('SQLite', stateHarness);
describeRunStream('SQLite', stateHarness);
describeRecovery('SQLite', stateHarness);
