import type { Lag } from './event-log.js';
import type { RawRecord } from './record.js';

/** A consumption that receives records from a group. */
export interface MemoryMember {
  readonly topics: readonly string[];
  wants(): boolean;
  take(record: RawRecord): void;
}

/** State of a consumer group: records handed out, finished and returned. */
export class MemoryGroup {
  private readonly members: MemoryMember[] = [];
  private readonly topics = new Map<string, { next: number; finished: number }>();
  private readonly returned: RawRecord[] = [];
  private readonly heldBy = new Map<RawRecord, MemoryMember>();

  constructor(private readonly records: (topic: string) => readonly RawRecord[]) {}

  join(member: MemoryMember): void {
    for (const topic of member.topics) {
      if (!this.topics.has(topic)) this.topics.set(topic, { next: 0, finished: 0 });
    }
    this.members.push(member);
    this.dispatch();
  }

  /** Removes the member; its unfinished records go to other members. */
  leave(member: MemoryMember): void {
    const index = this.members.indexOf(member);
    if (index >= 0) this.members.splice(index, 1);
    for (const [record, holder] of this.heldBy) {
      if (holder !== member) continue;
      this.heldBy.delete(record);
      this.returned.push(record);
    }
    this.returned.sort((a, b) => Number(a.offset) - Number(b.offset));
    this.dispatch();
  }

  finished(record: RawRecord, member: MemoryMember): void {
    if (this.heldBy.get(record) !== member) return;
    this.heldBy.delete(record);
    this.topics.get(record.topic)!.finished += 1;
    this.dispatch();
  }

  /** Hands out records while there are any and a member has room, to each member in turn. */
  dispatch(): void {
    for (let idle = 0; idle < this.members.length;) {
      const member = this.members.shift()!;
      this.members.push(member);
      const record = member.wants() ? this.next(member) : undefined;
      idle = record ? 0 : idle + 1;
      if (!record) continue;
      this.heldBy.set(record, member);
      member.take(record);
    }
  }

  lag(): readonly Lag[] {
    return [...this.topics].map(([topic, { finished }]) => ({ topic, partition: 0, records: this.records(topic).length - finished }));
  }

  private next(member: MemoryMember): RawRecord | undefined {
    const returned = this.returned.findIndex(({ topic }) => member.topics.includes(topic));
    if (returned >= 0) {
      const { topic, offset } = this.returned.splice(returned, 1)[0]!;
      // It may have been erased meanwhile.
      return this.records(topic)[Number(offset)];
    }
    for (const topic of member.topics) {
      const position = this.topics.get(topic)!;
      const record = this.records(topic)[position.next];
      if (!record) continue;
      position.next += 1;
      return record;
    }
    return undefined;
  }
}
