import type { PlannedTopic } from '@conclave/adapter-kafka';
import type { Loaded, Logger } from '@conclave/platform';
import { kafkaConnection, topicsOf } from './cluster.js';

/** The topics of this configuration on its cluster. */
export interface KafkaTopics {
  /** The cluster, for people. */
  readonly where: string;
  readonly planned: readonly PlannedTopic[];
  /** Shell commands of Kafka that make the topics and let `principal` use them. */
  commands(of: { readonly principal: string; readonly commandConfig?: string }): readonly string[];
  /** Creates what is missing; gives the names. Throws Failure LOG_UNAVAILABLE, CONFIGURATION_INVALID. */
  create(): Promise<readonly string[]>;
  /** What differs from the plan, in sentences. Throws Failure LOG_UNAVAILABLE. */
  differences(): Promise<readonly string[]>;
}

/** Null where the log is embedded and needs no topics. Connects to nothing by itself. */
export async function kafkaTopics(loaded: Loaded, logger: Logger): Promise<KafkaTopics | null> {
  const { kafka } = loaded.configuration.stores;
  if (!kafka) return null;
  // Loaded only where it is used.
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
