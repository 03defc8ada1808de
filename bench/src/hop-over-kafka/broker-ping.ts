import { randomBytes } from 'node:crypto';
import { Kafka, logLevel, Partitioners, type Consumer, type Producer } from 'kafkajs';

const topic = 'bench-ping';
const pingWithinMs = 30_000;

/**
 * The reference: one record from `send` to the consumer with plain kafkajs, at the settings of our adapter (acks of all replicas,
 * not idempotent, fetches that wait 50 ms). Commits no offsets.
 */
export class BrokerPing {
  private readonly arrived = new Map<string, (at: number) => void>();
  private sent = 0;

  private constructor(
    private readonly producer: Producer,
    private readonly consumer: Consumer,
    private readonly value: Buffer,
  ) {}

  static async open(brokers: readonly string[], options: { readonly partitions: number; readonly bytes: number }): Promise<BrokerPing> {
    const kafka = new Kafka({
      brokers: [...brokers],
      clientId: 'bench-ping',
      logLevel: logLevel.NOTHING,
      retry: { retries: 10, initialRetryTime: 200 },
    });
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: options.partitions, replicationFactor: 1 }], waitForLeaders: false });
    await admin.disconnect();
    const producer = kafka.producer({
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    const consumer = kafka.consumer({ groupId: 'bench-ping', maxWaitTimeInMs: 50, allowAutoTopicCreation: false });
    const ping = new BrokerPing(producer, consumer, randomBytes(options.bytes));
    await producer.connect();
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        const at = performance.now();
        for (const { key } of batch.messages) ping.arrived.get(String(key))?.(at);
      },
    });
    return ping;
  }

  /** Milliseconds from `send` to the consumer, for `count` records one after the other. */
  async measure(count: number): Promise<readonly number[]> {
    const taken: number[] = [];
    for (let n = 0; n < count; n += 1) taken.push(await this.once());
    return taken;
  }

  async close(): Promise<void> {
    await this.consumer.disconnect();
    await this.producer.disconnect();
  }

  private async once(): Promise<number> {
    const key = `ping-${(this.sent += 1)}`;
    let timer: NodeJS.Timeout | undefined;
    const arrival = new Promise<number>((resolve, reject) => {
      this.arrived.set(key, resolve);
      timer = setTimeout(
        () => reject(new Error(`A record did not come back from the broker within ${pingWithinMs / 1_000} s.`)),
        pingWithinMs,
      );
    });
    const from = performance.now();
    const sending = this.producer.send({ topic, acks: -1, messages: [{ key, value: this.value }] });
    try {
      const [at] = await Promise.all([arrival, sending]);
      return at - from;
    } finally {
      clearTimeout(timer);
      this.arrived.delete(key);
    }
  }
}
