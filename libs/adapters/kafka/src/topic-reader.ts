import { randomUUID } from 'node:crypto';
import { Partitioners, type Admin, type Consumer, type Kafka } from 'kafkajs';
import pTimeout from 'p-timeout';
import type { RawRecord } from '@conclave/ports';
import { logUnavailable, onCluster, readFromCluster } from './failures.js';
import { prefixOf, retry, type KafkaConnectionOptions } from './options.js';
import { rawRecord } from './raw-records.js';

/** Records read ahead of the caller before fetching stops. */
const readAhead = 500;
const goodbyeMs = 5000;

/** The partition of a key; must use the same partitioner as the producer. */
function partitionOf(key: string, topic: string, partitions: readonly number[]): number {
  const metadata = partitions.map((partitionId) => ({ partitionId, partitionErrorCode: 0, leader: 0, replicas: [], isr: [] }));
  return Partitioners.DefaultPartitioner()({ topic, partitionMetadata: metadata, message: { key, value: null } });
}

/**
 * Reads a topic from its beginning to its current end, in a temporary group that is deleted afterwards; with a key, only the partition of
 * that key. Throws Failure LOG_UNAVAILABLE, also for a topic that does not exist.
 */
export async function* readTopic(
  kafka: Kafka,
  admin: Admin,
  options: KafkaConnectionOptions,
  topic: string,
  key?: string,
): AsyncGenerator<RawRecord> {
  const name = prefixOf(options) + topic;
  const all = await readFromCluster(`Reading ${name}`, () => admin.fetchTopicOffsets(name));
  const only =
    key === undefined
      ? null
      : partitionOf(
          key,
          name,
          all.map(({ partition }) => partition),
        );
  const ends = all.filter(({ partition }) => only === null || partition === only);
  const left = new Map(ends.filter(({ low, high }) => BigInt(high) > BigInt(low)).map(({ partition, high }) => [partition, BigInt(high)]));
  if (left.size === 0) return;
  const groupId = `${prefixOf(options)}read-${randomUUID()}`;
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 50,
    retry: { ...retry, restartOnFailure: async () => false },
  });
  try {
    const others = all.map(({ partition }) => partition).filter((partition) => only !== null && partition !== only);
    yield* records(consumer, name, topic, left, others);
  } finally {
    await pTimeout(leave(consumer, admin, groupId), { milliseconds: goodbyeMs, fallback: () => undefined });
  }
}

/** `others`: partitions that are not fetched. */
async function* records(
  consumer: Consumer,
  name: string,
  topic: string,
  left: Map<number, bigint>,
  others: readonly number[],
): AsyncGenerator<RawRecord> {
  const ready: RawRecord[] = [];
  const wanted = [{ topic: name, partitions: [...left.keys()] }];
  const next = new Map<number, bigint>();
  let wake = () => {};
  let crashed: Error | null = null;
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    crashed = payload.error;
    wake();
  });
  // Right after an assignment and before its first fetch.
  if (others.length > 0) consumer.on(consumer.events.GROUP_JOIN, () => consumer.pause([{ topic: name, partitions: [...others] }]));
  await onCluster(`Reading ${name}`, async () => {
    await consumer.connect();
    await consumer.subscribe({ topics: [name], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: true,
      eachBatch: async ({ batch }) => {
        const { partition } = batch;
        for (const message of batch.messages) {
          const offset = BigInt(message.offset);
          // A rejoin starts again from the beginning.
          if (offset < (next.get(partition) ?? 0n)) continue;
          next.set(partition, offset + 1n);
          if (offset < (left.get(partition) ?? 0n)) ready.push(rawRecord(topic, partition, message));
        }
        if (BigInt(batch.lastOffset()) + 1n >= (left.get(partition) ?? 0n)) left.delete(partition);
        if (ready.length > readAhead) consumer.pause(wanted);
        wake();
      },
    });
  });
  for (;;) {
    while (ready.length > 0) yield ready.shift()!;
    if (left.size === 0) return;
    if (crashed) throw logUnavailable(`Reading ${name}`, crashed);
    consumer.resume(wanted);
    await new Promise<void>((resolve) => (wake = ready.length > 0 ? (resolve(), () => {}) : resolve));
  }
}

/** Leaves and deletes the group; if deleting fails, the empty group expires by itself. */
async function leave(consumer: Consumer, admin: Admin, groupId: string): Promise<void> {
  await consumer.disconnect();
  await admin.deleteGroups([groupId]).catch(() => undefined);
}
