import type { Event } from '@conclave/contracts';
import { MemoryBlobs } from '../../blobs/memory-blobs.js';
import { DeliveryPool, type DeliveryPoolOptions } from '../delivery-pool.js';
import type { SuspectTurns } from '../suspect-turns.js';
import type { DeliveryObservation, Subscription } from '../event-log.js';
import { ManualClock, settle } from './manual-clock.js';
import { MemoryDeliveries } from '../memory-ledger.js';
import { encodeEvent, type DeadRecord, type RawRecord } from '../record.js';

export type Handle = Subscription['handle'];

/** Test bench for a delivery pool: the test acts as the adapter, time is manual, everything that happens is recorded. */
export class PoolBench {
  readonly clock: ManualClock;
  readonly blobs = new MemoryBlobs();
  readonly deliveries: MemoryDeliveries;
  readonly published: Event[] = [];
  readonly dead: DeadRecord[] = [];
  /** Offsets whose `onDone` was called, in order. */
  readonly done: string[] = [];
  readonly pauses: boolean[] = [];
  readonly observed: DeliveryObservation[] = [];
  readonly points: string[] = [];
  rooms = 0;
  /** If set, `publish` and `publishDead` reject with it. */
  logError: Error | null = null;
  readonly pool: DeliveryPool;
  private offset = 0;

  constructor(
    handle: Handle,
    options: Partial<Subscription> & {
      maxHeld?: number;
      processId?: string;
      leaseMs?: number;
      random?: () => number;
      turns?: SuspectTurns;
    } = {},
  ) {
    const { maxHeld, processId = 'this', leaseMs = 10_000, random, turns, ...subscription } = options;
    this.clock = new ManualClock(undefined, random);
    this.deliveries = new MemoryDeliveries({ leaseMs, now: () => this.clock.now() });
    const pool: DeliveryPoolOptions = {
      subscription: { group: 'group', topics: ['knowledge.ingest'], concurrency: 4, handle, ...subscription },
      ledger: this.deliveries.ledger(processId),
      blobs: this.blobs,
      clock: this.clock,
      publish: async (events) => {
        if (this.logError) throw this.logError;
        this.published.push(...events);
      },
      publishDead: async (dead) => {
        if (this.logError) throw this.logError;
        this.dead.push(dead);
      },
      onPause: (paused) => this.pauses.push(paused),
      onRoom: () => (this.rooms += 1),
      hooks: { point: (point) => this.points.push(point), handled: (observation) => this.observed.push(observation) },
      ...(turns ? { turns } : {}),
      ...(maxHeld === undefined ? {} : { maxHeld }),
    };
    this.pool = new DeliveryPool(pool);
  }

  async offer(...events: readonly Event[]): Promise<void> {
    for (const event of events) this.hand(await this.record(event));
    await settle();
  }

  async record(event: Event): Promise<RawRecord> {
    const { topic, key, headers, raw } = await encodeEvent(event, this.blobs);
    return this.raw({ topic, key, headers, raw });
  }

  raw(part: Partial<RawRecord> = {}): RawRecord {
    const offset = String(this.offset++);
    return { topic: 'knowledge.ingest', partition: 0, offset, appendedAt: this.clock.now(), key: null, headers: {}, raw: null, ...part };
  }

  hand(record: RawRecord): void {
    this.pool.offer(record, () => void this.done.push(record.offset));
  }
}

/** A handler that ends when the test says so. */
export class Gates {
  readonly started: string[] = [];
  private readonly openers = new Map<string, () => void>();

  wait(name: string): Promise<void> {
    this.started.push(name);
    return new Promise((resolve) => this.openers.set(name, resolve));
  }

  async open(name: string): Promise<void> {
    this.openers.get(name)!();
    this.openers.delete(name);
    await settle();
  }

  get waiting(): readonly string[] {
    return [...this.openers.keys()];
  }
}
