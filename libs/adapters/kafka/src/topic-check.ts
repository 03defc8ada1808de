import type { ConfigResourceTypes } from 'kafkajs';
import { onCluster } from './failures.js';
import { kafkaClient, type KafkaConnectionOptions } from './options.js';
import type { FoundTopic, PlannedTopic } from './topic-plan.js';

/** ConfigResourceTypes.TOPIC: Node cannot import this enum from kafkajs's CommonJS module. */
const topicResource = 2 as ConfigResourceTypes.TOPIC;

/** Describes the planned topics that exist on the cluster. Changes nothing. Throws Failure LOG_UNAVAILABLE. */
export async function findTopics(
  options: KafkaConnectionOptions & { readonly planned: readonly PlannedTopic[] },
): Promise<readonly FoundTopic[]> {
  const admin = kafkaClient(options).admin();
  await onCluster('Connecting', () => admin.connect());
  try {
    // Asks only for existing topics: on brokers with auto-creation, a metadata request creates missing ones.
    const existing = new Set(await onCluster('Listing topics', () => admin.listTopics()));
    const present = options.planned.filter(({ name }) => existing.has(name));
    if (present.length === 0) return [];
    const names = present.map(({ name }) => name);
    const { topics } = await onCluster('Reading topics', () => admin.fetchTopicMetadata({ topics: names }));
    const resources = present.map(({ name, settings }) => ({ type: topicResource, name, configNames: Object.keys(settings) }));
    const described = await onCluster('Reading the settings of topics', () => admin.describeConfigs({ resources, includeSynonyms: false }));
    return topics.map(({ name, partitions }) => {
      const entries = described.resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
      return {
        name,
        partitions: partitions.length,
        // A partition being moved has extra copies for a while, so the minimum counts.
        replication: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        settings: Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue])),
      };
    });
  } finally {
    await admin.disconnect();
  }
}
