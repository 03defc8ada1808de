import { deadTopic, Failure, rootOf, type Event } from '@conclave/contracts';
import type { Blobs } from '../blobs/blobs.js';
import { MemoryBlobs } from '../blobs/memory-blobs.js';
import { systemClock, type Clock } from './clock.js';
import { DeliveryPool } from './delivery-pool.js';
import { SuspectTurns } from './suspect-turns.js';
import type { Consumption, ConsumptionLoad, DeliveryHooks, DeliveryLedger, EventLog, Lag, StoreMark, Subscription } from './event-log.js';
import type { StoredRecord } from './record.js';
import { MemoryGroup, type MemoryMember } from './memory-group.js';
import { MemoryDeliveries } from './memory-ledger.js';
import {
  encodeEvent,
  erasedRecord,
  storedRecord,
  type DeadRecord,
  type EncodedRecord,
  type OutgoingRecord,
  type RawRecord,
} from './record.js';

export interface MemoryBrokerOptions {
  readonly blobs?: Blobs;
  readonly deliveries?: MemoryDeliveries;
  readonly clock?: Clock;
}

/** The part that outlives a process: topics and groups. Any number of logs may connect to it, each acting as one process. */
export class MemoryBroker {
  readonly blobs: Blobs;
  readonly deliveries: MemoryDeliveries;
  readonly clock: Clock;
  mark: StoreMark | null = null;
  private readonly topics = new Map<string, RawRecord[]>();
  private readonly groups = new Map<string, MemoryGroup>();
  private readonly erased = new Set<string>();
  private processes = 0;

  constructor({ blobs = new MemoryBlobs(), clock = systemClock, deliveries }: MemoryBrokerOptions = {}) {
    this.blobs = blobs;
    this.clock = clock;
    this.deliveries = deliveries ?? new MemoryDeliveries({ leaseMs: 0, now: () => clock.now() });
  }

  /** The log as another process sees it. */
  connect(hooks: DeliveryHooks = {}): MemoryLog {
    this.processes += 1;
    return new MemoryLog(this, `process-${this.processes}`, hooks);
  }

  append(records: readonly (Omit<EncodedRecord, 'key' | 'raw'> & Pick<RawRecord, 'key' | 'raw'>)[]): void {
    for (const record of records) {
      const { topic, key, headers, raw } = this.blanked(record);
      const stored = this.recordsOf(topic);
      stored.push({ topic, partition: 0, offset: String(stored.length), appendedAt: this.clock.now(), key, headers, raw });
    }
    for (const group of this.groups.values()) group.dispatch();
  }

  /** Blanks the records of a run and of its child runs, including those that still arrive. */
  erase(runId: string): void {
    this.erased.add(runId);
    for (const [topic, records] of this.topics)
      this.topics.set(
        topic,
        records.map((record) => this.blanked(record)),
      );
  }

  private blanked<R extends Pick<RawRecord, 'headers' | 'raw'>>(record: R): R {
    return this.erased.has(rootOf(record.headers['ce_runid'] ?? '')) ? erasedRecord(record, this.clock.now()) : record;
  }

  records(topic: string): readonly RawRecord[] {
    return this.topics.get(topic) ?? [];
  }

  group(name: string): MemoryGroup {
    let group = this.groups.get(name);
    if (!group) {
      group = new MemoryGroup((topic) => this.records(topic));
      this.groups.set(name, group);
    }
    return group;
  }

  lag(name: string): readonly Lag[] {
    return this.groups.get(name)?.lag() ?? [];
  }

  private recordsOf(topic: string): RawRecord[] {
    let records = this.topics.get(topic);
    if (!records) this.topics.set(topic, (records = []));
    return records;
  }
}

/** In-memory event log: lives as long as its broker. Partitions are not simulated. */
export class MemoryLog implements EventLog {
  private readonly consumptions = new Set<MemoryConsumption>();
  private readonly ledger: DeliveryLedger;
  private readonly turns: SuspectTurns;
  private state: 'open' | 'closed' | 'crashed' = 'open';

  constructor(
    private readonly broker: MemoryBroker,
    readonly processId: string,
    private readonly hooks: DeliveryHooks,
  ) {
    this.turns = new SuspectTurns(broker.clock);
    const ledger = broker.deliveries.ledger(processId);
    this.ledger = {
      unended: (key) => this.whileAlive(() => ledger.unended(key)),
      begin: (key) => this.whileAlive(() => ledger.begin(key)),
      failed: (key) => this.whileAlive(() => ledger.failed(key)),
      released: (key) => this.whileAlive(() => ledger.released(key)),
      done: (key) => this.whileAlive(() => ledger.done(key)),
    };
  }

  async publish(events: readonly Event[]): Promise<void> {
    if (this.state === 'closed') throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    await this.append(events);
  }

  async publishRaw(record: OutgoingRecord): Promise<void> {
    if (this.state === 'closed') throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    await this.whileAlive(async () => this.broker.append([record]));
  }

  async subscribe(subscription: Subscription): Promise<Consumption> {
    if (this.state !== 'open') throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    const { broker, hooks } = this;
    const consumption = new MemoryConsumption(subscription, broker.group(subscription.group), {
      ledger: this.ledger,
      blobs: broker.blobs,
      clock: broker.clock,
      turns: this.turns,
      hooks,
      publish: (events) => this.append(events),
      publishDead: (dead) => this.whileAlive(async () => broker.append([{ topic: deadTopic, ...dead }])),
    });
    this.consumptions.add(consumption);
    consumption.start();
    return consumption;
  }

  async erase(runId: string): Promise<'gone'> {
    await this.whileAlive(async () => this.broker.erase(runId));
    return 'gone';
  }

  async lag(group: string): Promise<readonly Lag[]> {
    return this.broker.lag(group);
  }

  async *read(topic: string): AsyncIterable<StoredRecord> {
    for (const record of [...this.broker.records(topic)]) yield await storedRecord(record, this.broker.blobs);
  }

  readonly identity = {
    read: async () => this.broker.mark,
    write: async (mark: StoreMark) => {
      this.broker.mark = mark;
    },
  };

  async health(): Promise<string | null> {
    return this.state === 'open' ? null : 'The event log was closed.';
  }

  async close(): Promise<void> {
    await Promise.all([...this.consumptions].map((consumption) => consumption.close()));
    if (this.state === 'open') this.state = 'closed';
  }

  /** For tests: the process dies at once, without committing or leaving the group. */
  crash(): void {
    this.state = 'crashed';
    this.broker.deliveries.died(this.processId);
    for (const consumption of this.consumptions) consumption.die();
  }

  private async append(events: readonly Event[]): Promise<void> {
    const records = await Promise.all(events.map((event) => encodeEvent(event, this.broker.blobs)));
    await this.whileAlive(async () => this.broker.append(records));
  }

  /** Runs the act unless the process is dead; a dead process neither acts nor reports anything. */
  private whileAlive<T>(act: () => Promise<T>): Promise<T> {
    return this.state === 'crashed' ? new Promise<T>(() => {}) : act();
  }
}

interface MemoryPoolParts {
  readonly ledger: DeliveryLedger;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly turns: SuspectTurns;
  readonly hooks: DeliveryHooks;
  readonly publish: (events: readonly Event[]) => Promise<void>;
  readonly publishDead: (dead: DeadRecord) => Promise<void>;
}

class MemoryConsumption implements Consumption, MemoryMember {
  readonly group: string;
  readonly topics: readonly string[];
  private readonly pool: DeliveryPool;
  private state: 'idle' | 'fetching' | 'closing' | 'dead' = 'idle';
  private closed: Promise<void> | null = null;

  constructor(
    subscription: Subscription,
    private readonly memory: MemoryGroup,
    parts: MemoryPoolParts,
  ) {
    this.group = subscription.group;
    this.topics = subscription.topics;
    const more = () => this.memory.dispatch();
    this.pool = new DeliveryPool({ subscription, ...parts, onRoom: more, onPause: (paused) => paused || more() });
  }

  start(): void {
    this.state = 'fetching';
    this.memory.join(this);
  }

  wants(): boolean {
    return this.state === 'fetching' && this.pool.hasRoom() && this.pool.paused() === null;
  }

  take(record: RawRecord): void {
    this.pool.offer(record, () => this.memory.finished(record, this));
  }

  health(): string | null {
    if (this.state !== 'fetching') return `The consumption of ${this.group} has ended.`;
    const paused = this.pool.paused();
    return paused ? `The consumption of ${this.group} waits for the end of an outage: ${String(paused.error)}` : null;
  }

  load(): ConsumptionLoad {
    return { ...this.pool.load(), pausedPartitions: this.wants() ? 0 : 1 };
  }

  close(): Promise<void> {
    if (this.state === 'dead') return Promise.resolve();
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    this.state = 'closing';
    await this.pool.drain();
    this.memory.leave(this);
  }

  die(): void {
    this.state = 'dead';
    this.memory.leave(this);
  }
}
