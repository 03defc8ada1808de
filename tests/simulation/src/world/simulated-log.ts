import { Failure, type Event } from '@conclave/contracts';
import {
  DeliveryPool,
  encodeEvent,
  recordName,
  storedRecord,
  type Blobs,
  type Consumption,
  type DeliveryHooks,
  type DeliveryLedger,
  type EncodedRecord,
  type EventLog,
  type Lag,
  type MemoryBroker,
  type RawRecord,
  type StoredRecord,
  type StoreMark,
  type Subscription,
  type SuspectTurns,
} from '@conclave/ports';
import { through } from './port-view.js';
import type { LivingProcess } from './surroundings.js';

export interface LogParts {
  readonly broker: MemoryBroker;
  readonly blobs: Blobs;
  readonly ledger: DeliveryLedger;
  readonly hooks: DeliveryHooks;
  /** Shared by the consumptions of the process. */
  readonly turns: SuspectTurns;
  /** The log as the process sees it, faults included; its own deliveries also publish through it. */
  readonly self: () => EventLog;
}

/**
 * The log of one simulated process: the topics and groups of the memory broker, the delivery pool of every adapter, and the simulated faults
 * between them.
 */
export class SimulatedLog implements EventLog {
  readonly consumptions = new Set<SimulatedConsumption>();

  constructor(
    private readonly process: LivingProcess,
    private readonly parts: LogParts,
  ) {}

  async publish(events: readonly Event[]): Promise<void> {
    const { observations } = this.process.world;
    observations.send(events);
    const records: EncodedRecord[] = [];
    for (const event of events) records.push(await encodeEvent(event, this.parts.blobs));
    if (this.process.dead) return;
    if (!this.process.world.planted.acknowledgesEarly) return this.append(records);
    setTimeout(() => {
      if (this.process.dead) return;
      this.process.world.appended(records);
      this.parts.broker.append(records);
    }, 1);
  }

  /** Records may arrive in another order and more than once, and possibly only part of a batch is taken. */
  private append(records: readonly EncodedRecord[]): void {
    const { storm, appended } = this.process.world;
    const { broker } = this.parts;
    const batch = storm.chance(storm.plan.reorder) ? storm.shuffled(records) : records;
    if (batch.length > 1 && storm.chance(storm.plan.hiccup)) {
      appended(batch.slice(0, 1));
      broker.append(batch.slice(0, 1));
      throw new Failure('LOG_UNAVAILABLE', 'Simulated: only some of the records were appended.');
    }
    appended(batch);
    broker.append(batch);
    for (const record of batch)
      if (storm.chance(storm.plan.duplicate)) this.process.world.later(storm.lateMs(3_000), () => broker.append([record]));
  }

  async subscribe(subscription: Subscription): Promise<Consumption> {
    const consumption = new SimulatedConsumption(this.process, subscription, this.parts);
    this.consumptions.add(consumption);
    consumption.join();
    return consumption;
  }

  /** As an embedded log, which blanks the records, or as one of Kafka without a key. */
  async erase(runId: string): Promise<'gone' | 'kept'> {
    if (!this.process.world.plan.logForgets) return 'kept';
    this.parts.broker.erase(runId);
    return 'gone';
  }

  async lag(group: string): Promise<readonly Lag[]> {
    return this.parts.broker.lag(group);
  }

  async *read(topic: string): AsyncIterable<StoredRecord> {
    for (const record of [...this.parts.broker.records(topic)]) yield await storedRecord(record, this.parts.blobs);
  }

  readonly identity = {
    read: async () => this.parts.broker.mark,
    write: async (mark: StoreMark) => {
      this.parts.broker.mark = mark;
    },
  };

  async health(): Promise<string | null> {
    return null;
  }

  async close(): Promise<void> {
    await Promise.all([...this.consumptions].map((consumption) => consumption.close()));
  }
}

export class SimulatedConsumption implements Consumption {
  readonly group: string;
  readonly topics: readonly string[];
  private readonly pool: DeliveryPool;
  /** Records that the group assigned to this process and that it still holds. */
  private readonly ours = new Set<RawRecord>();
  private state: 'out' | 'in' | 'closing' = 'out';
  private closed: Promise<void> | null = null;

  constructor(
    private readonly process: LivingProcess,
    subscription: Subscription,
    private readonly parts: LogParts,
  ) {
    this.group = subscription.group;
    this.topics = subscription.topics;
    const { ledger, blobs, hooks, broker, self, turns } = parts;
    this.pool = new DeliveryPool({
      subscription,
      ledger,
      blobs,
      hooks,
      clock: process.world.clock,
      turns,
      publish: (events) => self().publish(events),
      publishDead: (dead) => through(process, 'log.publishDead', 'log', [dead], () => broker.append([{ topic: 'dead', ...dead }])),
      onRoom: () => this.dispatch(),
      onPause: (paused) => paused || this.dispatch(),
    });
  }

  join(): void {
    if (this.process.dead || this.state === 'closing') return;
    this.state = 'in';
    this.memory.join(this);
  }

  /** The group assigns our records to others; running handlers continue. */
  lose(): void {
    if (this.state !== 'in') return;
    this.state = 'out';
    this.ours.clear();
    this.pool.forget(() => true);
    this.memory.leave(this);
  }

  wants(): boolean {
    return (
      this.state === 'in' &&
      !this.process.dead &&
      this.process.frozenUntil <= Date.now() &&
      this.pool.hasRoom() &&
      this.pool.paused() === null
    );
  }

  take(record: RawRecord): void {
    const { storm } = this.process.world;
    this.ours.add(record);
    if (storm.chance(storm.plan.reorder)) setTimeout(() => this.offer(record), storm.lateMs(400));
    else this.offer(record);
  }

  private offer(record: RawRecord): void {
    if (this.process.dead || !this.ours.has(record)) return;
    this.pool.offer(record, () =>
      through(this.process, 'log.commit', 'log', [this.group, recordName(record)], () => {
        this.ours.delete(record);
        this.memory.finished(record, this);
      }).catch(() => {
        // The position could not be stored: the next owner receives the record again, and so do we after a rebalance.
        this.lose();
        setTimeout(() => this.join(), 50);
      }),
    );
  }

  /** Names of the records it holds. */
  held(): readonly string[] {
    return [...this.ours].map((record) => `${this.group} ${recordName(record)}`);
  }

  private dispatch(): void {
    this.memory.dispatch();
  }

  private get memory() {
    return this.parts.broker.group(this.group);
  }

  health(): string | null {
    return this.state === 'in' ? null : `The consumption of ${this.group} is not in its group.`;
  }

  load(): { running: number; held: number; pausedPartitions: number } {
    return { ...this.pool.load(), pausedPartitions: this.wants() ? 0 : 1 };
  }

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  private async end(): Promise<void> {
    this.state = 'closing';
    await this.pool.drain();
    this.memory.leave(this);
  }
}
