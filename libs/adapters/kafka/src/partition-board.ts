import type { RawRecord } from '@conclave/ports';
import { OffsetTracker } from './offset-tracker.js';

/** Partitions by topic; names with prefix, as in kafkajs. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

interface Held {
  readonly topic: string;
  readonly partition: number;
  readonly tracker: OffsetTracker;
  /** Last position that we know we committed. */
  committed: bigint | null;
  /** False after this process was removed from the group, while others may have committed more than we know. */
  confirmed: boolean;
  waiting: { readonly offset: bigint; readonly resolve: () => void }[];
  /** End of the partition at our first fetch as its owner: no earlier owner can have begun later records. */
  freshFrom: bigint | null;
}

export interface PartitionPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** The partitions this member owns now, and its progress in each. */
export class PartitionBoard {
  private readonly held = new Map<string, Held>();

  get size(): number {
    return this.held.size;
  }

  /**
   * Applies a new assignment. Drops lost partitions; the others keep their tracker. A new member id means that the group continued without us, so
   * nothing is committed for those before `confirm`.
   */
  assign(assignment: Assignment, sameMember: boolean): void {
    const owned = new Set(
      Object.entries(assignment).flatMap(([topic, partitions]) => partitions.map((partition) => keyOf(topic, partition))),
    );
    for (const key of this.held.keys()) if (!owned.has(key)) this.held.delete(key);
    if (!sameMember)
      for (const held of this.held.values()) {
        held.confirmed = false;
        held.freshFrom = null;
      }
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) {
        const key = keyOf(topic, partition);
        if (this.held.has(key)) continue;
        this.held.set(key, {
          topic,
          partition,
          tracker: new OffsetTracker(),
          committed: null,
          confirmed: true,
          waiting: [],
          freshFrom: null,
        });
      }
    }
  }

  owns(topic: string, partition: number): boolean {
    return this.held.has(keyOf(topic, partition));
  }

  /** Records an offset; returns false when it was seen before or its partition is not ours. */
  see(topic: string, partition: number, offset: bigint): boolean {
    return this.held.get(keyOf(topic, partition))?.tracker.see(offset) ?? false;
  }

  /** Whether no other member can have begun a record: it is after the end of the partition at our first fetch. `end`: at this fetch. */
  isFresh(topic: string, partition: number, offset: bigint, end: bigint): boolean {
    const held = this.held.get(keyOf(topic, partition));
    if (!held) return false;
    held.freshFrom ??= end;
    return offset >= held.freshFrom;
  }

  finish(topic: string, partition: number, offset: bigint): void {
    this.held.get(keyOf(topic, partition))?.tracker.finish(offset);
  }

  /** Resolves when a commit covers the record; never if its partition is lost first. */
  committed(topic: string, partition: number, offset: bigint): Promise<void> {
    return new Promise((resolve) => this.held.get(keyOf(topic, partition))?.waiting.push({ offset, resolve }));
  }

  unconfirmed(): readonly PartitionPosition[] {
    return [...this.held.values()]
      .filter(({ confirmed }) => !confirmed)
      .map(({ topic, partition, tracker }) => ({ topic, partition, offset: tracker.position ?? 0n }));
  }

  /** Takes the group's committed position of a partition: others finished everything below it. */
  confirm(topic: string, partition: number, position: bigint): void {
    const held = this.held.get(keyOf(topic, partition));
    if (!held) return;
    if (position >= 0n) held.tracker.advanceTo(position);
    held.confirmed = true;
  }

  /** Positions that may be committed and are not yet. */
  due(): readonly PartitionPosition[] {
    return [...this.held.values()].flatMap(({ topic, partition, tracker, committed, confirmed }) => {
      const offset = tracker.position;
      return confirmed && offset !== null && offset !== committed ? [{ topic, partition, offset }] : [];
    });
  }

  noteCommitted(positions: readonly PartitionPosition[]): void {
    for (const { topic, partition, offset } of positions) {
      const held = this.held.get(keyOf(topic, partition));
      if (!held) continue;
      held.committed = offset;
      const covered = held.waiting.filter((waiting) => waiting.offset < offset);
      held.waiting = held.waiting.filter((waiting) => waiting.offset >= offset);
      for (const { resolve } of covered) resolve();
    }
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}|${partition}`;

/** Whether a record, whose topic has no prefix, is below a position. */
export const isBelow = (record: RawRecord, { topic, partition, offset }: PartitionPosition, prefix: string): boolean =>
  prefix + record.topic === topic && record.partition === partition && BigInt(record.offset) < offset;
