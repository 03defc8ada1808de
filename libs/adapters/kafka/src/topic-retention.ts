import type { ConfigResourceTypes } from 'kafkajs';
import type { TopicSpec } from '@conclave/contracts';
import { onCluster } from './failures.js';
import { kafkaClient, prefixOf, type KafkaConnectionOptions } from './options.js';

/** ConfigResourceTypes.TOPIC: Node cannot import this enum from kafkajs's CommonJS module. */
const topicResource = 2 as ConfigResourceTypes.TOPIC;

/**
 * The broker's actual retention of each topic in milliseconds (-1 = forever), which may differ from the plan. Names come without the
 * prefix. Throws Failure LOG_UNAVAILABLE.
 */
export async function topicRetentions(
  options: KafkaConnectionOptions & { readonly topics: readonly TopicSpec[] },
): Promise<readonly { readonly name: string; readonly retentionMs: number }[]> {
  const prefix = prefixOf(options);
  const admin = kafkaClient(options).admin();
  await onCluster('Connecting', () => admin.connect());
  try {
    const resources = options.topics.map(({ name }) => ({
      type: topicResource,
      name: prefix + name,
      configNames: ['retention.ms'],
    }));
    const described = await onCluster('Reading the settings of topics', () => admin.describeConfigs({ resources, includeSynonyms: false }));
    return described.resources.flatMap(({ resourceName, configEntries }) => {
      const value = configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue;
      return value === undefined ? [] : [{ name: resourceName.slice(prefix.length), retentionMs: Number(value) }];
    });
  } finally {
    await admin.disconnect();
  }
}
