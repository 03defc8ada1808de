import type { Clock, RawRecord } from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { LogTable } from './log-table.js';
import { TopicPosition } from './topic-position.js';

/** A consumption that a group hands records to. */
export interface GroupMember {
  readonly topics: readonly string[];
  wants(): boolean;
  take(record: RawRecord): void;
}

/** Milliseconds until the next attempt after reading records failed. */
const rereadMs = 1000;

/** One consumer group of the log: hands each record to one of its members, oldest first over all topics. */
export class Group {
  private readonly members: GroupMember[] = [];
  private readonly positions = new Map<string, TopicPosition<GroupMember>>();
  private readonly unwatch: (() => void)[] = [];
  private dispatchSoon = false;
  private lastFault: unknown = null;
  private cancelReread: (() => void) | null = null;

  constructor(
    private readonly name: string,
    private readonly store: Store,
    private readonly table: LogTable,
    private readonly clock: Clock,
  ) {}

  async join(member: GroupMember): Promise<void> {
    for (const topic of member.topics) await this.open(topic);
    this.members.push(member);
    this.dispatch();
  }

  /** Removes a member; its unfinished records go to others. */
  leave(member: GroupMember): void {
    const index = this.members.indexOf(member);
    if (index >= 0) this.members.splice(index, 1);
    for (const position of this.positions.values()) position.takeBack(member);
    this.dispatch();
  }

  /** Why records cannot be read now; null while they can. */
  get fault(): unknown {
    return this.lastFault;
  }

  finish(topic: string, seq: number): void {
    this.positions.get(topic)?.finish(seq);
  }

  /** Hands out records in a later turn, while there are any and a member takes one. */
  dispatch(): void {
    if (this.dispatchSoon) return;
    this.dispatchSoon = true;
    queueMicrotask(() => {
      this.dispatchSoon = false;
      this.dispatchNow();
    });
  }

  close(): void {
    this.cancelReread?.();
    for (const unwatch of this.unwatch.splice(0)) unwatch();
  }

  private async open(topic: string): Promise<void> {
    if (this.positions.has(topic)) return;
    const position = await TopicPosition.load<GroupMember>(this.store, this.table, this.name, topic);
    // Two members may have joined at the same time: the first position wins.
    if (this.positions.has(topic)) return;
    this.positions.set(topic, position);
    const wake = () => {
      position.wake();
      this.dispatch();
    };
    this.unwatch.push(this.table.watch(topic, wake));
  }

  private dispatchNow(): void {
    try {
      for (let idle = 0; idle < this.members.length;) {
        const member = this.members.shift()!;
        this.members.push(member);
        idle = member.wants() && this.handOne(member) ? 0 : idle + 1;
      }
      this.lastFault = null;
    } catch (error) {
      this.lastFault = error;
      this.cancelReread ??= this.clock.after(rereadMs, () => {
        this.cancelReread = null;
        this.dispatch();
      });
    }
  }

  private handOne(member: GroupMember): boolean {
    let oldest: TopicPosition<GroupMember> | undefined;
    for (const topic of member.topics) {
      const position = this.positions.get(topic)!;
      const record = position.peek();
      if (record && record.seq < (oldest?.peek()?.seq ?? Infinity)) oldest = position;
    }
    const record = oldest?.peek();
    if (!oldest || !record) return false;
    oldest.hand(record, member);
    member.take(record);
    return true;
  }
}
