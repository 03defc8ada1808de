import type { DeliveryKey, DeliveryLedger, MemoryLeases } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { Suspects } from '../event-log/suspects.js';

/** A process that has begun the record and not ended it: its id and its opening of the file. */
type Opener = readonly [id: string, opening: number];

interface StoredAttempts {
  readonly attempts: number;
  readonly openers: readonly Opener[];
  /** Whether the table has a row for them. */
  readonly stored: boolean;
}

const none: StoredAttempts = { attempts: 0, openers: [], stored: false };
const keyOf = ({ group, record }: DeliveryKey): string => `${group} ${record}`;

/** `topic/partition/offset`; a topic contains no slash. */
export function addressOf(record: string): { readonly topic: string; readonly seq: number } {
  const [topic, , offset] = record.split('/');
  return { topic: topic!, seq: Number(offset) };
}

/**
 * Attempt counts of all running deliveries, shared by all users of one database. They live in memory; a row is written only when a record
 * fails and before a suspect is begun. After a crash, `suspects` counts every other delivery that may have been running.
 */
export class DeliveryCounts {
  private readonly counts = new Map<string, StoredAttempts>();

  constructor(
    private readonly database: Store,
    private readonly suspects: Suspects,
  ) {
    const rows = database.read((sql) =>
      sql.all<{ group_name: string; record: string; attempts: number; openers: string }>('SELECT * FROM delivery'),
    );
    for (const { group_name: group, record, attempts, openers } of rows)
      this.counts.set(keyOf({ group, record }), { attempts, openers: JSON.parse(openers) as Opener[], stored: true });
  }

  of(delivery: DeliveryKey): StoredAttempts {
    const known = this.counts.get(keyOf(delivery));
    if (known) return known;
    // The process that died may have been handling it: one attempt that never ended.
    return this.isSuspect(delivery) ? { attempts: 1, openers: [['', this.database.opening - 1]], stored: false } : none;
  }

  isSuspect({ record }: DeliveryKey): boolean {
    return this.suspects.has(addressOf(record).seq);
  }

  /** Stores the counts in memory only. */
  hold(delivery: DeliveryKey, counts: StoredAttempts): void {
    this.counts.set(keyOf(delivery), counts);
  }

  /** Stores the counts in a row, inside a running write. */
  store(tick: Tick, delivery: DeliveryKey, { attempts, openers }: Omit<StoredAttempts, 'stored'>): void {
    const { group, record } = delivery;
    tick.sql.run(
      'INSERT OR REPLACE INTO delivery (group_name, record, attempts, openers) VALUES (?, ?, ?, ?)',
      group,
      record,
      attempts,
      JSON.stringify(openers),
    );
    tick.afterWrite(() => this.hold(delivery, { attempts, openers, stored: true }));
  }

  /** Deletes all counts of a record, inside a running write. */
  forget(tick: Tick, delivery: DeliveryKey): void {
    const { group, record } = delivery;
    if (this.of(delivery).stored) tick.sql.run('DELETE FROM delivery WHERE group_name = ? AND record = ?', group, record);
    tick.afterWrite(() => this.counts.delete(keyOf(delivery)));
  }

  /** A suspect was begun: new records of its run are suspect too. */
  began({ record }: DeliveryKey): void {
    this.suspects.began(addressOf(record).seq);
  }

  ended({ record }: DeliveryKey): void {
    this.suspects.ended(addressOf(record).seq);
  }
}

/** The deliveries of one process id. */
export class SqliteDeliveries implements Required<DeliveryLedger> {
  constructor(
    private readonly database: Store,
    private readonly counts: DeliveryCounts,
    private readonly leases: MemoryLeases,
    private readonly processId: string,
  ) {}

  async unended(delivery: DeliveryKey): Promise<number> {
    return this.counts.of(delivery).openers.filter((opener) => !this.isOwn(opener)).length;
  }

  async begin(delivery: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }> {
    // Throws when the store is closed.
    await this.database.order(() => undefined);
    const { attempts, openers, stored } = this.counts.of(delivery);
    const others = openers.filter((opener) => !this.isOwn(opener));
    // A process that begins a record again without having ended it is still in the same attempt.
    const begun = attempts + (others.length === openers.length ? 1 : 0);
    const deaths = others.filter(([id, opening]) => opening !== this.database.opening || this.leases.leftMs(id) === 0).length;
    const held = { attempts: begun, openers: [...others, [this.processId, this.database.opening] as const] };
    if (this.counts.isSuspect(delivery)) {
      this.counts.hold(delivery, { ...held, stored });
      // If it kills this process too, this row shows it.
      await this.database.write((tick) => this.counts.store(tick, delivery, held));
      this.counts.began(delivery);
    } else this.counts.hold(delivery, { ...held, stored });
    return { attempts: begun, deaths, suspects: others.length - deaths };
  }

  failed(delivery: DeliveryKey): Promise<void> {
    return this.end(delivery, (attempts) => attempts);
  }

  released(delivery: DeliveryKey): Promise<void> {
    return this.end(delivery, (attempts) => attempts - 1);
  }

  done(delivery: DeliveryKey): Promise<void> {
    return this.database.order((tick) => this.counts.forget(tick, delivery));
  }

  private end(delivery: DeliveryKey, attemptsAfter: (attempts: number) => number): Promise<void> {
    return this.database.order((tick) => {
      const { attempts, openers, stored } = this.counts.of(delivery);
      const others = openers.filter((opener) => !this.isOwn(opener));
      if (others.length === openers.length) return;
      const left = attemptsAfter(attempts);
      tick.afterWrite(() => this.counts.ended(delivery));
      if (left <= 0 && others.length === 0) this.counts.forget(tick, delivery);
      // Failed attempts must survive the process; a released one need not.
      else if (stored || left === attempts) this.counts.store(tick, delivery, { attempts: left, openers: others });
      else tick.afterWrite(() => this.counts.hold(delivery, { attempts: left, openers: others, stored }));
    });
  }

  private isOwn([id, opening]: Opener): boolean {
    return id === this.processId && opening === this.database.opening;
  }
}
