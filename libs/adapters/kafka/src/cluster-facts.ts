import { onCluster } from './failures.js';
import { kafkaClient, type KafkaConnectionOptions } from './options.js';

/** Number of brokers that answer for the cluster. Throws Failure LOG_UNAVAILABLE. */
export async function brokerCount(options: KafkaConnectionOptions): Promise<number> {
  const admin = kafkaClient(options).admin();
  await onCluster('Connecting', () => admin.connect());
  try {
    const { brokers } = await onCluster('Reading the cluster', () => admin.describeCluster());
    return brokers.length;
  } finally {
    await admin.disconnect();
  }
}
