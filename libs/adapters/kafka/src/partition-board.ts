import type { RawRecord } from '@conclave/ports';
import { OffsetTracker } from './offset-tracker.js';

/** Topic names with prefix, as kafkajs gives them. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

interface Held {
  readonly topic: string;
  readonly partition: number;
  readonly tracker: OffsetTracker;
  /** Position that is known to be committed by us. */
  committed: bigint | null;
  /** False while others may have committed more than we know, after this process had been thrown out of the group. */
  confirmed: boolean;
  waiting: { readonly offset: bigint; readonly resolve: () => void }[];
  /** End of the partition when we first fetched from it as its owner: nobody before us can have begun what came later. */
  freshFrom: bigint | null;
}

export interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** The partitions this member owns now, and how far each is. */
export class PartitionBoard {
  private readonly held = new Map<string, Held>();

  get size(): number {
    return this.held.size;
  }

  /**
   * Takes a new assignment over. Partitions that are lost are dropped; kept ones keep their tracker. With another member
   * id the group had gone on without us, so nothing is committed for kept partitions before `confirm`.
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

  /** False when the record was seen before or its partition is not ours. */
  see(topic: string, partition: number, offset: bigint): boolean {
    return this.held.get(keyOf(topic, partition))?.tracker.see(offset) ?? false;
  }

  /**
   * Whether nobody but us can have begun a record: it lies behind the end of the partition at our first fetch. `end` is the one of this fetch.
   */
  isFresh(topic: string, partition: number, offset: bigint, end: bigint): boolean {
    const held = this.held.get(keyOf(topic, partition));
    if (!held) return false;
    held.freshFrom ??= end;
    return offset >= held.freshFrom;
  }

  finish(topic: string, partition: number, offset: bigint): void {
    this.held.get(keyOf(topic, partition))?.tracker.finish(offset);
  }

  /** Resolves when a commit covers the record; never when its partition is lost before. */
  committed(topic: string, partition: number, offset: bigint): Promise<void> {
    return new Promise((resolve) => this.held.get(keyOf(topic, partition))?.waiting.push({ offset, resolve }));
  }

  unconfirmed(): readonly Position[] {
    return [...this.held.values()]
      .filter(({ confirmed }) => !confirmed)
      .map(({ topic, partition, tracker }) => ({ topic, partition, offset: tracker.position ?? 0n }));
  }

  /** The group's own position of a kept partition: what is below it was finished by others. */
  confirm(topic: string, partition: number, position: bigint): void {
    const held = this.held.get(keyOf(topic, partition));
    if (!held) return;
    if (position >= 0n) held.tracker.advanceTo(position);
    held.confirmed = true;
  }

  /** What may be committed and is not. */
  due(): readonly Position[] {
    return [...this.held.values()].flatMap(({ topic, partition, tracker, committed, confirmed }) => {
      const offset = tracker.position;
      return confirmed && offset !== null && offset !== committed ? [{ topic, partition, offset }] : [];
    });
  }

  noteCommitted(positions: readonly Position[]): void {
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

/** Whether a record, whose topic is without prefix, lies below a position. */
export const isBelow = (record: RawRecord, { topic, partition, offset }: Position, prefix: string): boolean =>
  prefix + record.topic === topic && record.partition === partition && BigInt(record.offset) < offset;
