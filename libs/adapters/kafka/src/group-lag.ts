import type { Admin } from 'kafkajs';
import type { Lag } from '@conclave/ports';
import { readFromCluster } from './failures.js';

/**
 * Records between the committed position and the end, of the topics the group has committed for and of `subscribed`
 * ones; names with prefix. Topics in the answer are without it.
 */
export async function groupLag(admin: Admin, groupId: string, subscribed: readonly string[], prefix: string): Promise<readonly Lag[]> {
  return readFromCluster(`Reading the position of ${groupId}`, async () => {
    const known = await admin.fetchOffsets({ groupId });
    const topics = [...new Set([...subscribed, ...known.map(({ topic }) => topic)])];
    const byTopic = await Promise.all(topics.map((topic) => topicLag(admin, groupId, topic)));
    return byTopic.flatMap((lags, index) => lags.map((lag) => ({ ...lag, topic: topics[index]!.slice(prefix.length) })));
  });
}

async function topicLag(admin: Admin, groupId: string, topic: string): Promise<Lag[]> {
  const [committed, ends] = await Promise.all([admin.fetchOffsets({ groupId, topics: [topic] }), admin.fetchTopicOffsets(topic)]);
  const positions = new Map(committed.flatMap(({ partitions }) => partitions.map(({ partition, offset }) => [partition, BigInt(offset)])));
  return ends.map(({ partition, low, high }) => {
    const position = positions.get(partition) ?? -1n;
    const from = position < BigInt(low) ? BigInt(low) : position;
    return { topic, partition, records: Math.max(0, Number(BigInt(high) - from)) };
  });
}
