import { randomUUID } from 'node:crypto';
import { deadTopic, Failure, type Event } from '@conclave/contracts';
import {
  storedRecord,
  type Blobs,
  type Clock,
  type Consumption,
  type DeadHeaders,
  type DeadRecord,
  type DeliveryHooks,
  type DeliveryKey,
  type DeliveryLedger,
  type EventLog,
  type Lag,
  type OutgoingRecord,
  type PoolChange,
  type StoredRecord,
  type StoreMark,
  type Subscription,
  type SuspectTurns,
} from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import { addressOf, type DeliveryCounts } from '../state/deliveries.js';
import { markOf, writeMark } from '../state/identity.js';
import { SqliteConsumption } from './consumption.js';
import { Group } from './group.js';
import type { LogTable } from './log-table.js';

export interface SqliteLogParts {
  readonly store: Store;
  readonly table: LogTable;
  readonly groups: Groups;
  readonly blobs: Blobs;
  readonly ledger: Required<DeliveryLedger>;
  readonly deliveries: DeliveryCounts;
  readonly clock: Clock;
  readonly turns: SuspectTurns;
  readonly hooks?: DeliveryHooks;
  readonly poolChange?: PoolChange;
}

/** The consumer groups of one database, shared by all its users inside the process. */
export class Groups {
  private readonly groups = new Map<string, Group>();

  constructor(
    private readonly store: Store,
    private readonly table: LogTable,
    private readonly clock: Clock,
  ) {}

  named(name: string): Group {
    const group = this.groups.get(name) ?? new Group(name, this.store, this.table, this.clock);
    this.groups.set(name, group);
    return group;
  }

  close(): void {
    for (const group of this.groups.values()) group.close();
    this.groups.clear();
  }
}

const readPage = 100;

/** The embedded event log: no partitions, no polling; consumers are woken by the commit that appended for them. */
export class SqliteLog implements EventLog {
  private readonly consumptions = new Set<SqliteConsumption>();
  private readonly ledger: Required<DeliveryLedger>;
  private closing: Promise<void> | null = null;
  private closed = false;

  constructor(private readonly parts: SqliteLogParts) {
    const { ledger } = parts;
    this.ledger = {
      unended: (delivery) => ledger.unended(delivery),
      begin: (delivery) => ledger.begin(delivery),
      failed: (delivery) => ledger.failed(delivery),
      released: (delivery) => ledger.released(delivery),
      done: (delivery) => this.done(delivery),
    };
  }

  async publish(events: readonly Event[]): Promise<void> {
    if (this.closed) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    await this.append(events, 'durable');
  }

  async publishRaw(record: OutgoingRecord): Promise<void> {
    if (this.closed) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    // A separate id: the event that it may contain is in its topic already.
    await logFailures(this.parts.store.write((tick) => this.parts.table.append(tick, { ...record, id: `raw:${randomUUID()}` })));
  }

  async subscribe(subscription: Subscription): Promise<Consumption> {
    if (this.closing) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    const { groups, blobs, clock, turns, hooks, poolChange } = this.parts;
    const consumption = new SqliteConsumption(
      groups.named(subscription.group),
      {
        subscription,
        ledger: this.ledger,
        blobs,
        clock,
        turns,
        ...(hooks ? { hooks } : {}),
        publish: (events) => this.append(events, 'ordered'),
        publishDead: (dead) => this.deadLetter(dead),
      },
      (ended) => this.consumptions.delete(ended),
      poolChange,
    );
    this.consumptions.add(consumption);
    await logFailures(consumption.start());
    return consumption;
  }

  async erase(runId: string): Promise<'gone'> {
    const { store, table } = this.parts;
    await logFailures(table.erase(runId));
    await store.scrub();
    return 'gone';
  }

  async lag(group: string): Promise<readonly Lag[]> {
    const rows = this.parts.store.read((sql) =>
      sql.all<{ topic: string; records: number }>(
        `SELECT topic,
           (SELECT COUNT(*) FROM log WHERE log.topic = log_cursor.topic AND seq > position)
           - (SELECT COUNT(*) FROM log_finished AS f WHERE f.group_name = log_cursor.group_name AND f.topic = log_cursor.topic AND seq > position) AS records
         FROM log_cursor WHERE group_name = ? ORDER BY topic`,
        group,
      ),
    );
    return rows.map(({ topic, records }) => ({ topic, partition: 0, records }));
  }

  async *read(topic: string): AsyncIterable<StoredRecord> {
    const { table, blobs } = this.parts;
    const end = table.end(topic);
    for (let position = 0; position < end;) {
      const page = table.page(topic, position, readPage).filter(({ seq }) => seq <= end);
      if (page.length === 0) return;
      position = page.at(-1)!.seq;
      for (const record of page) yield await storedRecord(record, blobs);
    }
  }

  readonly identity = {
    read: async (): Promise<StoreMark | null> => this.parts.store.read((sql) => markOf(sql, 'log')),
    write: (mark: StoreMark): Promise<void> => this.parts.store.write(({ sql }) => writeMark(sql, 'log', mark)),
  };

  async health(): Promise<string | null> {
    return this.closed ? 'The event log was closed.' : this.parts.store.health();
  }

  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    await Promise.all([...this.consumptions].map((consumption) => consumption.close()));
    this.closed = true;
  }

  /** The outputs of a handler are ordered with the rest of its work; any other publisher continues when they are durable. */
  private async append(events: readonly Event[], until: 'ordered' | 'durable'): Promise<void> {
    const { store, table } = this.parts;
    const missing = table.withoutAppended(events);
    const append = (tick: Tick): void => table.appendEvents(tick, missing);
    if (missing.length > 0) await logFailures(until === 'ordered' ? store.order(append) : store.write(append));
    else if (until === 'durable') await store.durable();
  }

  /** The same letter of the same group is written once. */
  private deadLetter({ key, headers, raw }: DeadRecord): Promise<void> {
    const of = headers as unknown as DeadHeaders;
    const id = `${of['dead-group']}:${of['dead-topic']}/${of['dead-partition']}/${of['dead-offset']}`;
    return logFailures(this.parts.store.write((tick) => this.parts.table.append(tick, { topic: deadTopic, key, id, headers, raw })));
  }

  /** Deletes the counts of a delivery and moves the position of its group, together with what its handler wrote or after it. */
  private async done(delivery: DeliveryKey): Promise<void> {
    const { store, groups, table, deliveries } = this.parts;
    const { topic, seq } = addressOf(delivery.record);
    const group = groups.named(delivery.group);
    await store.order((tick) => {
      deliveries.forget(tick, delivery);
      tick.afterWrite(() => {
        group.finish(topic, seq);
        table.suspects.finished(seq);
      });
    });
  }
}

/** For publishers, the store is the log. */
async function logFailures<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure && error.code === 'STORE_UNAVAILABLE')
      throw new Failure('LOG_UNAVAILABLE', error.detail, { cause: error });
    throw error;
  }
}
