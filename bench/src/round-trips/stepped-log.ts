import type { Event } from '@conclave/contracts';
import {
  DeliveryPool,
  encodeEvent,
  type Blobs,
  type Consumption,
  type DeliveryLedger,
  type EventLog,
  type RawRecord,
  type Subscription,
} from '@conclave/ports';

/** One record to be handled by one group. */
export interface Hop {
  readonly group: string;
  readonly event: Event;
  /** Handles the record; resolves when it is finished. */
  take(): Promise<void>;
}

interface Member {
  readonly subscription: Subscription;
  readonly pool: DeliveryPool;
}

/**
 * A log in memory that hands out one record at a time, on request. Records pass through the same delivery pool as in every log, with
 * the ledger and blobs of the real store, so that all requests to the store in that time belong to this record.
 */
export class SteppedLog implements EventLog {
  private readonly members: Member[] = [];
  private readonly hops: Hop[] = [];
  private readonly published = new Set<string>();
  private offset = 0;

  constructor(private readonly parts: { readonly ledger: DeliveryLedger; readonly blobs: Blobs }) {}

  readonly identity = { read: async () => null, write: async () => undefined };

  /** The next record that was not handed out yet. */
  next(): Hop | undefined {
    return this.hops.shift();
  }

  async publish(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      // Receivers would drop a duplicate; nothing is redelivered here.
      if (this.published.has(event.id)) continue;
      this.published.add(event.id);
      const encoded = await encodeEvent(event, this.parts.blobs);
      // `fresh` as on Kafka once a member has its partitions: no other member can have begun later records.
      const record: RawRecord = { fresh: true, partition: 0, offset: String((this.offset += 1)), appendedAt: Date.now(), ...encoded };
      for (const { subscription, pool } of this.members) {
        if (!subscription.topics.includes(event.topic)) continue;
        const take = (): Promise<void> => new Promise((resolve) => pool.offer(record, resolve));
        this.hops.push({ group: subscription.group, event, take });
      }
    }
  }

  async subscribe(subscription: Subscription): Promise<Consumption> {
    const refused = (): Promise<void> => Promise.reject(new Error(`A record of ${subscription.group} was set aside.`));
    const pool = new DeliveryPool({ subscription, ...this.parts, publish: (events) => this.publish(events), publishDead: refused });
    this.members.push({ subscription, pool });
    return {
      group: subscription.group,
      health: () => null,
      load: () => ({ ...pool.load(), pausedPartitions: 0 }),
      close: async () => void (await pool.drain()),
    };
  }

  erase = async (): Promise<'kept'> => 'kept';
  lag = async (): Promise<readonly never[]> => [];
  async *read(): AsyncIterable<never> {}
  health = async (): Promise<null> => null;
  close = async (): Promise<void> => undefined;
}
