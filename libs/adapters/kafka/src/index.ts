export { openKafkaLog } from './kafka-log.js';
export type { KafkaConnectionOptions, KafkaLogger, KafkaLogOptions, TopicOptions } from './options.js';
export { brokerVersion, versionSentence } from './broker-version.js';
export { brokerCount } from './cluster-facts.js';
export { ensureTopics } from './topics.js';
export { findTopics } from './topic-check.js';
export { planTopics, topicCommands, topicDifferences, type CommandOptions, type FoundTopic, type PlannedTopic } from './topic-plan.js';
export { topicRetentions } from './topic-retention.js';
