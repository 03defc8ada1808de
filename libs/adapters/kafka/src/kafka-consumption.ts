import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, EachBatchPayload, Kafka } from 'kafkajs';
import pTimeout from 'p-timeout';
import {
  backoff,
  DeliveryPool,
  type Consumption,
  type ConsumptionLoad,
  type DeliveryPoolOptions,
  type PoolChange,
  type RawRecord,
  type Subscription,
} from '@conclave/ports';
import type { Absence } from './absence.js';
import { groupsAreLoading, logUnavailable } from './failures.js';
import { GroupMember } from './group-member.js';
import type { KafkaLogger, Timing } from './options.js';
import { isBelow, PartitionBoard, type Assignment, type PartitionPosition } from './partition-board.js';
import { rawRecord } from './raw-records.js';

export interface KafkaConsumptionOptions {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly subscription: Subscription;
  /** Prefix of the names of the group and its topics. */
  readonly prefix: string;
  readonly timing: Timing;
  readonly logger: KafkaLogger;
  /** Shared by all consumptions of one log. */
  readonly absence: Absence;
  readonly pool: Omit<DeliveryPoolOptions, 'subscription' | 'onPause' | 'onRoom'>;
  readonly poolChange?: PoolChange;
  /** Tests: see `KafkaLogOptions`. */
  readonly commitsAtHandOver: boolean;
  readonly ended: () => void;
}

const finalCommitMs = 5000;
/** Milliseconds a broker may take to load its groups after its start; joining is retried until then. */
const loadingMs = 30_000;
const rebuildWait = { backoffMs: 500, maxBackoffMs: 3_000 };

/**
 * Hand off, track, commit the contiguous prefix: batches go to the delivery pool and return at once, so slow handlers
 * block neither heartbeats nor the fetches of other partitions. The committed offset is that of the first unfinished record.
 * A watchdog builds a new consumer when the old one has crashed or fetches nothing.
 */
export class KafkaConsumption implements Consumption {
  readonly group: string;
  private readonly pool: DeliveryPool;
  private readonly board = new PartitionBoard();
  private readonly topics: readonly string[];
  private readonly clock: () => number;
  private member: GroupMember | null = null;
  private memberId: string | null = null;
  private lastFetch: number;
  private trouble: Error | null = null;
  private crashes = 0;
  private outage = false;
  private flowPaused = false;
  private state: 'starting' | 'running' | 'closing' | 'closed' = 'starting';
  private closed: Promise<void> | null = null;
  private commitTimer: NodeJS.Timeout | null = null;
  private committing: Promise<void> = Promise.resolve();
  private watchdog: NodeJS.Timeout | null = null;
  private rebuildTimer: NodeJS.Timeout | null = null;

  constructor(private readonly options: KafkaConsumptionOptions) {
    const { subscription, prefix, pool, poolChange = (unchanged) => unchanged } = options;
    this.group = subscription.group;
    this.topics = subscription.topics.map((topic) => prefix + topic);
    this.clock = () => performance.now();
    this.lastFetch = this.clock();
    const onPause = (paused: boolean) => {
      this.outage = paused;
      this.applyFlow();
    };
    this.pool = new DeliveryPool(poolChange({ ...pool, subscription, onRoom: () => this.applyFlow(), onPause }));
  }

  /** Resolves when it has joined the group. Throws Failure LOG_UNAVAILABLE when it cannot join. */
  async start(): Promise<void> {
    const until = this.clock() + loadingMs;
    await this.join();
    while (groupsAreLoading(this.trouble) && this.clock() < until) {
      await this.member?.end();
      this.trouble = null;
      await this.join();
    }
    if (this.trouble !== null) {
      await this.close();
      throw logUnavailable(`Joining ${this.group}`, this.trouble);
    }
    this.state = 'running';
    const { silentAfterMs } = this.options.timing;
    this.watchdog = setInterval(() => this.watch(), Math.max(100, silentAfterMs / 4));
  }

  health(): string | null {
    if (this.state === 'closing' || this.state === 'closed') return `The consumption of ${this.group} has ended.`;
    if (this.trouble !== null)
      return `The consumer of ${this.group} has lost Kafka and will join again as soon as Kafka answers: ${this.trouble.message}`;
    const silence = this.clock() - this.lastFetch;
    if (silence > this.options.timing.silentAfterMs)
      return `The consumer of ${this.group} has fetched nothing for ${Math.round(silence / 1000)} s.`;
    const paused = this.pool.paused();
    return paused ? `The consumption of ${this.group} waits for the end of an outage: ${String(paused.error)}` : null;
  }

  load(): ConsumptionLoad {
    return { ...this.pool.load(), pausedPartitions: this.flowPaused ? this.board.size : 0 };
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    this.state = 'closing';
    if (this.watchdog) clearInterval(this.watchdog);
    if (this.rebuildTimer) clearTimeout(this.rebuildTimer);
    this.applyFlow();
    // The consumer stays a member, with heartbeats, until the handlers are done and their offsets committed.
    await this.pool.drain();
    await this.commitAll();
    this.state = 'closed';
    this.options.absence.forget(this.group);
    if (this.commitTimer) clearTimeout(this.commitTimer);
    await this.member?.end();
    this.options.ended();
  }

  private async join(): Promise<void> {
    const { kafka, timing, prefix } = this.options;
    const member: GroupMember = new GroupMember({
      kafka,
      groupId: prefix + this.group,
      topics: this.topics,
      timing,
      joined: (assignment, memberId) => this.ours(member) && this.joined(assignment, memberId),
      batch: (payload) => this.ours(member) && this.take(payload),
      fetched: () => this.ours(member) && this.fetched(),
      crashed: (error) => this.ours(member) && this.crashed(error),
    });
    this.member = member;
    this.flowPaused = false;
    try {
      await member.start();
    } catch (error) {
      if (this.ours(member)) this.crashed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** False for a replaced member, which may still report for a moment. */
  private ours(member: GroupMember): boolean {
    return this.member === member;
  }

  private joined(assignment: Assignment, memberId: string): void {
    const sameMember = memberId === this.memberId;
    this.memberId = memberId;
    this.trouble = null;
    this.lastFetch = this.clock();
    this.board.assign(assignment, sameMember);
    const { prefix, logger } = this.options;
    this.pool.forget(({ topic, partition }) => !this.board.owns(prefix + topic, partition));
    logger.info('Joined the consumer group', { group: this.group, partitions: this.board.size });
    this.flowPaused = false;
    this.applyFlow();
    if (this.board.unconfirmed().length > 0) this.commitSoon(0);
  }

  private take({ batch, resolveOffset }: EachBatchPayload): void {
    const { topic: name, partition } = batch;
    const { prefix, pool, commitsAtHandOver, timing } = this.options;
    const topic = name.slice(prefix.length);
    for (const message of batch.messages) {
      if (this.mustPause()) break;
      const offset = BigInt(message.offset);
      if (this.board.see(name, partition, offset)) {
        const fresh = this.board.isFresh(name, partition, offset, BigInt(batch.highWatermark));
        this.pool.offer(rawRecord(topic, partition, message, fresh), () => {
          this.board.finish(name, partition, offset);
          this.commitSoon(timing.commitDelayMs);
          return pool.hooks?.point ? this.board.committed(name, partition, offset) : undefined;
        });
        if (commitsAtHandOver) {
          this.board.finish(name, partition, offset);
          this.commitSoon(0);
        }
      }
      resolveOffset(message.offset);
    }
    this.applyFlow();
  }

  private fetched(): void {
    this.lastFetch = this.clock();
    this.crashes = 0;
    this.options.absence.back(this.group);
  }

  private mustPause(): boolean {
    return this.outage || this.state === 'closing' || this.state === 'closed' || !this.pool.hasRoom();
  }

  private applyFlow(): void {
    const pause = this.mustPause();
    if (pause === this.flowPaused) return;
    this.flowPaused = pause;
    this.member?.flow(pause);
  }

  private commitSoon(ms: number): void {
    if (this.commitTimer || this.state === 'closed') return;
    this.commitTimer = setTimeout(() => {
      this.commitTimer = null;
      this.committing = this.commit();
    }, ms);
  }

  /** Never rejects: a failed commit is retried; if the process ends before, the records are delivered again. */
  private async commit(): Promise<void> {
    const { timing, logger } = this.options;
    const due = this.board.due();
    const member = this.member;
    if (due.length > 0 && member) {
      const error = await member.commit(due).then(
        () => null,
        (cause: unknown) => cause,
      );
      if (error === null) {
        this.board.noteCommitted(due);
        this.tellCommitted(due);
      } else {
        logger.debug('Offsets could not be committed yet', { group: this.group, error });
        this.commitSoon(timing.commitRetryMs);
        return;
      }
    }
    await this.confirm();
    if (this.board.due().length > 0) this.commitSoon(timing.commitDelayMs);
  }

  private tellCommitted(positions: readonly PartitionPosition[]): void {
    const { prefix, pool } = this.options;
    if (!pool.hooks?.committed) return;
    const shown = positions.map(({ topic, partition, offset }) => ({
      topic: topic.slice(prefix.length),
      partition,
      offset: String(offset),
    }));
    pool.hooks.committed(this.group, shown);
  }

  /** Reads what others committed while this process counted as dead; runs before its own next commit. */
  private async confirm(): Promise<void> {
    const { admin, prefix, logger, timing } = this.options;
    const unconfirmed = this.board.unconfirmed();
    if (unconfirmed.length === 0) return;
    const memberId = this.memberId;
    try {
      const topics = [...new Set(unconfirmed.map(({ topic }) => topic))];
      const known = await admin.fetchOffsets({ groupId: prefix + this.group, topics });
      if (memberId !== this.memberId) return this.commitSoon(0);
      for (const { topic, partitions } of known) {
        for (const { partition, offset } of partitions) {
          if (!unconfirmed.some((position) => position.topic === topic && position.partition === partition)) continue;
          const position = { topic, partition, offset: BigInt(offset) };
          this.board.confirm(topic, partition, position.offset);
          this.pool.forget((record: RawRecord) => isBelow(record, position, prefix));
        }
      }
      this.commitSoon(0);
    } catch (error) {
      logger.debug('The position of the group cannot be read yet', { group: this.group, error });
      this.commitSoon(timing.commitRetryMs);
    }
  }

  private async commitAll(): Promise<void> {
    const end = this.clock() + finalCommitMs;
    while ((this.board.due().length > 0 || this.board.unconfirmed().length > 0) && this.clock() < end && this.trouble === null) {
      this.commitSoon(0);
      await pTimeout(this.committing, { milliseconds: finalCommitMs, fallback: () => undefined });
      await delay(10);
    }
  }

  private crashed(error: Error): void {
    this.trouble = error;
    this.crashes += 1;
    if (this.state !== 'running') return;
    this.options.absence.gone(this.group, error);
    this.rebuild(backoff(rebuildWait, this.crashes, Math.random()));
  }

  private watch(): void {
    if (this.trouble !== null || this.clock() - this.lastFetch < this.options.timing.rebuildAfterMs) return;
    this.trouble = new Error('It was silent for too long.');
    this.options.absence.gone(this.group, this.trouble);
    this.rebuild(0);
  }

  private rebuild(waitMs: number): void {
    const old = this.member;
    this.member = null;
    void old?.end();
    if (this.rebuildTimer) clearTimeout(this.rebuildTimer);
    this.rebuildTimer = setTimeout(() => {
      this.rebuildTimer = null;
      void this.join();
    }, waitMs);
  }
}
