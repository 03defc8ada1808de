import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import pTimeout from 'p-timeout';
import { onCluster } from './failures.js';
import { groupByTopic } from './group-by-topic.js';
import { retry, type Timing } from './options.js';
import type { Assignment, PartitionPosition } from './partition-board.js';

export interface GroupMemberOptions {
  readonly kafka: Kafka;
  /** `groupId` and `topics` include the prefix. */
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timing: Timing;
  readonly joined: (assignment: Assignment, memberId: string) => void;
  /** Synchronous: kafkajs fetches nothing from any partition while it runs. */
  readonly batch: (payload: EachBatchPayload) => void;
  readonly fetched: () => void;
  readonly crashed: (error: Error) => void;
}

const goodbyeMs = 5000;

/** One membership of a consumer group: a kafkajs consumer from its connect to its crash or end. Not reused after a crash. */
export class GroupMember {
  private readonly consumer: Consumer;
  private commitOffsets: EachBatchPayload['commitOffsetsIfNecessary'] | null = null;
  private live = false;

  constructor(private readonly options: GroupMemberOptions) {
    const { kafka, groupId, timing } = options;
    this.consumer = kafka.consumer({
      groupId,
      sessionTimeout: timing.sessionTimeoutMs,
      rebalanceTimeout: timing.rebalanceTimeoutMs,
      heartbeatInterval: timing.heartbeatMs,
      maxWaitTimeInMs: timing.maxWaitMs,
      maxBytesPerPartition: 1024 * 1024,
      maxBytes: 5 * 1024 * 1024,
      allowAutoTopicCreation: false,
      // The owner replaces a crashed consumer, so kafkajs never restarts it.
      retry: { ...retry, restartOnFailure: async () => false },
    });
  }

  /** Resolves when it has joined, or has crashed while joining (after calling `crashed`). Throws LOG_UNAVAILABLE when it cannot connect. */
  async start(): Promise<void> {
    const { topics, groupId, joined, batch, fetched, crashed } = this.options;
    const consumer = this.consumer;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }: ConsumerGroupJoinEvent) => {
      this.live = true;
      joined(payload.memberAssignment as Assignment, payload.memberId);
    });
    consumer.on(consumer.events.FETCH, () => fetched());
    consumer.on(consumer.events.CRASH, ({ payload }: ConsumerCrashEvent) => {
      this.live = false;
      crashed(payload.error);
    });
    await onCluster(`Joining ${groupId}`, async () => {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        // Records that do not fit are not resolved, so that they are fetched again later.
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 1,
        eachBatch: async (payload) => {
          this.commitOffsets = payload.commitOffsetsIfNecessary;
          batch(payload);
        },
      });
    });
  }

  /**
   * Commits in the current generation; a concurrent rebalance makes it fail. (`consumer.commitOffsets` would retry in the next
   * generation, when the partitions may belong to another member.) Call it from a timer, never from a promise continuation, so that it
   * cannot run between a new generation and its assignment.
   */
  async commit(positions: readonly PartitionPosition[]): Promise<void> {
    if (!this.commitOffsets || !this.live) throw new Error('Not a member of the group.');
    const byTopic = groupByTopic(positions);
    const topics = [...byTopic].map(([topic, ofTopic]) => ({
      topic,
      partitions: ofTopic.map(({ partition, offset }) => ({ partition, offset: String(offset) })),
    }));
    await this.commitOffsets({ topics });
  }

  /** Stops or resumes fetching; heartbeats continue. */
  flow(paused: boolean): void {
    if (!this.live) return;
    const topics = this.options.topics.map((topic) => ({ topic }));
    try {
      if (paused) this.consumer.pause(topics);
      else this.consumer.resume(topics);
    } catch {
      // It has just crashed, so it fetches nothing; the next member applies the flow after joining.
    }
  }

  /** Leaves the group; gives up after a few seconds. */
  async end(): Promise<void> {
    this.live = false;
    const goodbye = this.consumer.disconnect().catch(() => undefined);
    await pTimeout(goodbye, { milliseconds: goodbyeMs, fallback: () => undefined });
  }
}
