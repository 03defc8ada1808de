import type { PlannedTopic } from '@conclave/adapter-kafka';
import type { Loaded, Logger } from '@conclave/platform';
import { kafkaConnection, topicsOf } from './cluster.js';

/** Topics of this configuration on its cluster. */
export interface KafkaTopics {
  /** The cluster, for people. */
  readonly where: string;
  readonly planned: readonly PlannedTopic[];
  /** Kafka shell commands that create the topics and grant `principal` access. */
  commands(of: { readonly principal: string; readonly commandConfig?: string }): readonly string[];
  /** Creates missing topics; returns their names. Throws Failure LOG_UNAVAILABLE, CONFIGURATION_INVALID. */
  create(): Promise<readonly string[]>;
  /** Differences from the plan, in sentences. Throws Failure LOG_UNAVAILABLE. */
  differences(): Promise<readonly string[]>;
}

/** Null if the log is embedded and needs no topics. Does not connect. */
export async function kafkaTopics(loaded: Loaded, logger: Logger): Promise<KafkaTopics | null> {
  const { kafka } = loaded.configuration.stores;
  if (!kafka) return null;
  // Loaded on demand.
  const { ensureTopics, findTopics, planTopics, topicCommands, topicDifferences } = await import('@conclave/adapter-kafka');
  const connection = kafkaConnection(loaded, logger);
  const options = { ...connection, partitions: kafka.partitions, replication: kafka.replication, topics: topicsOf(loaded) };
  const planned = planTopics(options);
  return {
    where: `Kafka at ${kafka.brokers.join(', ')}`,
    planned,
    commands: (of) => topicCommands(planned, { brokers: kafka.brokers, topicPrefix: kafka.topic_prefix, ...of }),
    create: () => ensureTopics(options),
    differences: async () => topicDifferences(planned, await findTopics({ ...connection, planned })),
  };
}
