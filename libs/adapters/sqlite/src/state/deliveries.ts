import type { DeliveryKey, DeliveryLedger } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { Suspects } from '../event-log/suspects.js';
import type { ProcessLeases } from './leases.js';

/** Who has begun the record and not ended it: process id and opening of the file. */
type Opener = readonly [id: string, opening: number];

interface StoredAttempts {
  readonly attempts: number;
  readonly openers: readonly Opener[];
  /** Whether a row of the table holds them. */
  readonly stored: boolean;
}

const none: StoredAttempts = { attempts: 0, openers: [], stored: false };
const keyOf = ({ group, record }: DeliveryKey): string => `${group} ${record}`;

/** `topic/partition/offset`; a topic holds no slash. */
export function addressOf(record: string): { readonly topic: string; readonly seq: number } {
  const [topic, , offset] = record.split('/');
  return { topic: topic!, seq: Number(offset) };
}

/**
 * Counts of all deliveries that are under way, shared by all users of one database. They lie in memory: a row is written where a record
 * failed, and before a suspect is begun. Everything else that was under way when the process died is counted by the suspects' range.
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
    // It may have been in the hands of the process that died: one attempt that nobody ended.
    return this.isSuspect(delivery) ? { attempts: 1, openers: [['', this.database.opening - 1]], stored: false } : none;
  }

  isSuspect({ record }: DeliveryKey): boolean {
    return this.suspects.has(addressOf(record).seq);
  }

  /** In memory alone. */
  hold(delivery: DeliveryKey, counts: StoredAttempts): void {
    this.counts.set(keyOf(delivery), counts);
  }

  /** In a row, inside a write that is under way. */
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

  /** Drops all counts of a record, inside a write that is under way. */
  forget(tick: Tick, delivery: DeliveryKey): void {
    const { group, record } = delivery;
    if (this.of(delivery).stored) tick.sql.run('DELETE FROM delivery WHERE group_name = ? AND record = ?', group, record);
    tick.afterWrite(() => this.counts.delete(keyOf(delivery)));
  }

  /** A suspect was begun: what its run puts out now is suspect too. */
  began({ record }: DeliveryKey): void {
    this.suspects.began(addressOf(record).seq);
  }

  ended({ record }: DeliveryKey): void {
    this.suspects.ended(addressOf(record).seq);
  }
}

/** The deliveries of one process id. */
export class SqliteDeliveries implements DeliveryLedger {
  constructor(
    private readonly database: Store,
    private readonly counts: DeliveryCounts,
    private readonly leases: ProcessLeases,
    private readonly processId: string,
  ) {}

  async begin(delivery: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }> {
    // Nothing is begun by a store that is closed.
    await this.database.order(() => undefined);
    const { attempts, openers, stored } = this.counts.of(delivery);
    const others = openers.filter((opener) => !this.isOwn(opener));
    // The same process begins again only what it never closed: that is still the same attempt.
    const begun = attempts + (others.length === openers.length ? 1 : 0);
    const deaths = others.filter(([id, opening]) => opening !== this.database.opening || this.leases.leftMs(id) === 0).length;
    const held = { attempts: begun, openers: [...others, [this.processId, this.database.opening] as const] };
    if (this.counts.isSuspect(delivery)) {
      this.counts.hold(delivery, { ...held, stored });
      // If it kills this process too, that is known by this row.
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
      // Attempts that failed outlive the process; that one was begun and given back need not.
      else if (stored || left === attempts) this.counts.store(tick, delivery, { attempts: left, openers: others });
      else tick.afterWrite(() => this.counts.hold(delivery, { attempts: left, openers: others, stored }));
    });
  }

  private isOwn([id, opening]: Opener): boolean {
    return id === this.processId && opening === this.database.opening;
  }
}
