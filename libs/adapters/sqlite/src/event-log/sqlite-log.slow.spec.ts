import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '@conclave/contracts';
import type { DeliveryLedger, EventLog } from '@conclave/ports';
import { describeEventLog, type EventLogWorld } from '@conclave/ports/suites';
import { SuspectTurns, systemClock } from '@conclave/ports';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { SqliteBlobs } from '../blobs.js';
import { Database } from '../database/database.js';
import { embeddedTtl } from '../housekeeping.js';
import { SharedState, SqliteState } from '../state/sqlite-state.js';
import { LogTable } from './log-table.js';
import { Groups, SqliteLog } from './sqlite-log.js';

/** One life of the process that owns the data folder. */
class Life {
  readonly logs: EventLog[] = [];
  readonly database: Database;
  readonly table: LogTable;
  private readonly shared: SharedState;
  private readonly groups: Groups;
  private readonly turns = new SuspectTurns();

  constructor(
    readonly home: string,
    private readonly ledgerIsDown: () => boolean,
  ) {
    this.database = Database.open({ home, durability: 'process', now: Date.now });
    this.table = new LogTable(this.database, Date.now);
    this.shared = new SharedState(this.database, this.table, systemClock, embeddedTtl());
    this.groups = new Groups(this.database, this.table, systemClock);
  }

  connect(): EventLog {
    const processId = randomUUID();
    const { database: store, table } = this;
    const state = new SqliteState(this.shared, processId);
    const down = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
    const { deliveries } = state;
    const ledger: Required<DeliveryLedger> = {
      unended: (key) => (this.ledgerIsDown() ? down() : deliveries.unended(key)),
      begin: (key) => (this.ledgerIsDown() ? down() : deliveries.begin(key)),
      failed: (key) => (this.ledgerIsDown() ? down() : deliveries.failed(key)),
      released: (key) => (this.ledgerIsDown() ? down() : deliveries.released(key)),
      done: (key) => (this.ledgerIsDown() ? down() : deliveries.done(key)),
    };
    const log = new SqliteLog({
      ...{ store, table, groups: this.groups, blobs: new SqliteBlobs(store, Date.now), ledger, clock: systemClock },
      deliveries: this.shared.deliveries,
      turns: this.turns,
    });
    void state.leases.renewProcess({ id: processId, service: 'test', classes: [], ttlMs: 60_000 });
    this.logs.push(log);
    return log;
  }

  async end(): Promise<void> {
    await Promise.all(this.logs.map((log) => log.close()));
    this.groups.close();
    this.shared.close();
    await this.database.close();
  }
}

async function openWorld(): Promise<EventLogWorld> {
  const folder = newFolder();
  let down = false;
  const begin = () => new Life(join(folder, randomUUID()), () => down);
  const lives = [begin()];
  const endings: Promise<void>[] = [];
  const living = () => lives.at(-1)!;
  return {
    log: living().connect(),
    another: async () => living().connect(),
    /** The next life starts from what is on disk now; the old one runs on in its own folder, without effect, until it ends. */
    crash: async (log) => {
      if (!living().logs.includes(log)) return;
      const home = join(folder, randomUUID());
      copyAsKilled(living().home, home);
      endings.push(living().end());
      lives.push(new Life(home, () => down));
    },
    publishRaw: ({ topic, key, headers, raw }) => {
      const { database, table } = living();
      return database.write((tick) => table.append(tick, { topic, key, id: randomUUID(), headers, raw }));
    },
    ledgerOutage: {
      begin: async () => void (down = true),
      end: async () => void (down = false),
    },
    dispose: async () => {
      await Promise.all([...endings, living().end()]);
      removeFolder(folder);
    },
  };
}

describeEventLog('SqliteLog', {
  open: openWorld,
  gaps: {
    'loses nothing it acknowledged when connections are cut in the middle of sends': 'It has no connections.',
  },
});
