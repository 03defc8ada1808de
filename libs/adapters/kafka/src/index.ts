export { openKafkaLog } from './kafka-log.js';
export type { KafkaConnectionOptions, KafkaLogger, KafkaLogOptions, TopicOptions } from './options.js';
export { ensureTopics } from './topics.js';
export { topicRetentions } from './topic-retention.js';
