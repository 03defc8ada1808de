import {
  DeliveryPool,
  type Consumption,
  type ConsumptionLoad,
  type DeliveryPoolOptions,
  type PoolChange,
  type RawRecord,
} from '@conclave/ports';
import type { Group, GroupMember } from './group.js';

/** One subscription of this process: a member of its group with its own delivery pool. */
export class SqliteConsumption implements Consumption, GroupMember {
  readonly group: string;
  readonly topics: readonly string[];
  private readonly pool: DeliveryPool;
  private fetching = false;
  private closed: Promise<void> | null = null;

  constructor(
    private readonly members: Group,
    private readonly options: Omit<DeliveryPoolOptions, 'onRoom' | 'onPause'>,
    private readonly onClosed: (consumption: SqliteConsumption) => void,
    change: PoolChange = (unchanged) => unchanged,
  ) {
    this.group = options.subscription.group;
    this.topics = [...new Set(options.subscription.topics)];
    const more = () => members.dispatch();
    this.pool = new DeliveryPool(change({ ...options, onRoom: more, onPause: more }));
  }

  async start(): Promise<void> {
    this.fetching = true;
    await this.members.join(this);
  }

  wants(): boolean {
    return this.fetching && this.pool.hasRoom() && this.pool.paused() === null;
  }

  take(record: RawRecord): void {
    this.pool.offer(record, () => this.members.dispatch());
  }

  health(): string | null {
    if (!this.fetching) return `The consumption of ${this.group} has ended.`;
    const trouble = this.pool.paused()?.error ?? this.members.fault;
    return trouble ? `The consumption of ${this.group} waits for the end of an outage: ${String(trouble)}` : null;
  }

  load(): ConsumptionLoad {
    return { ...this.pool.load(), pausedPartitions: this.fetching && !this.wants() ? 1 : 0 };
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    this.fetching = false;
    await this.pool.drain(this.options.subscription.graceMs);
    this.members.leave(this);
    this.onClosed(this);
  }
}
