import { randomUUID } from 'node:crypto';
import { Partitioners, type Admin, type Consumer, type Kafka } from 'kafkajs';
import pTimeout from 'p-timeout';
import type { RawRecord, ReadRange } from '@conclave/ports';
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

/** Offsets of a partition: the first wanted one, and the one after the last. */
interface OffsetRange {
  readonly first: bigint;
  readonly end: bigint;
}

/**
 * Reads a topic from its beginning to its current end, in a temporary group that is deleted afterwards; with a range, only the partitions
 * of its keys and the records of its time. Throws Failure LOG_UNAVAILABLE, also for a topic that does not exist.
 */
export async function* readTopic(
  kafka: Kafka,
  admin: Admin,
  options: KafkaConnectionOptions,
  topic: string,
  range: ReadRange = {},
): AsyncGenerator<RawRecord> {
  const name = prefixOf(options) + topic;
  const spans = await readFromCluster(`Reading ${name}`, () => spansOf(admin, name, range));
  const wanted = new Map([...spans].filter(([, { first, end }]) => end > first));
  if (wanted.size === 0) return;
  const groupId = `${prefixOf(options)}read-${randomUUID()}`;
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 50,
    retry: { ...retry, restartOnFailure: async () => false },
  });
  try {
    const others = [...spans.keys()].filter((partition) => !wanted.has(partition));
    yield* records(consumer, name, topic, wanted, others);
  } finally {
    await pTimeout(leave(consumer, admin, groupId), { milliseconds: goodbyeMs, fallback: () => undefined });
  }
}

/** The range of offsets needed of each partition of the topic; empty for partitions that contain none of its keys. */
async function spansOf(admin: Admin, name: string, { keys, since, until }: ReadRange): Promise<ReadonlyMap<number, OffsetRange>> {
  const all = await admin.fetchTopicOffsets(name);
  const partitions = all.map(({ partition }) => partition);
  const only = keys && new Set(keys.map((key) => partitionOf(key, name, partitions)));
  const at = async (time: number | undefined): Promise<ReadonlyMap<number, bigint>> => {
    if (time === undefined) return new Map();
    const offsets = await admin.fetchTopicOffsetsByTimestamp(name, time);
    return new Map(offsets.map(({ partition, offset }) => [partition, BigInt(offset)]));
  };
  const from = await at(since);
  const to = await at(until === undefined ? undefined : until + 1);
  return new Map(
    all.map(({ partition, low, high }) => {
      const first = larger(BigInt(low), from.get(partition) ?? 0n);
      return [partition, only && !only.has(partition) ? { first, end: first } : { first, end: smaller(BigInt(high), to.get(partition)) }];
    }),
  );
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint | undefined): bigint => (b === undefined || a < b ? a : b);

/** `others`: partitions that are not fetched. */
async function* records(
  consumer: Consumer,
  name: string,
  topic: string,
  spans: ReadonlyMap<number, OffsetRange>,
  others: readonly number[],
): AsyncGenerator<RawRecord> {
  const ready: RawRecord[] = [];
  const wanted = [{ topic: name, partitions: [...spans.keys()] }];
  const left = new Map([...spans].map(([partition, { end }]) => [partition, end]));
  const next = new Map([...spans].map(([partition, { first }]) => [partition, first]));
  let wake = () => {};
  let crashed: Error | null = null;
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    crashed = payload.error;
    wake();
  });
  // Right after an assignment and before its first fetch.
  consumer.on(consumer.events.GROUP_JOIN, () => {
    if (others.length > 0) consumer.pause([{ topic: name, partitions: [...others] }]);
    for (const [partition, offset] of next) consumer.seek({ topic: name, partition, offset: String(offset) });
  });
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
