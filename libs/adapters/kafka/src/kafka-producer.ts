import { Partitioners, type Kafka, type Producer } from 'kafkajs';
import type { RawRecord } from '@conclave/ports';
import { onCluster } from './failures.js';
import { groupByTopic } from './group-by-topic.js';
import { retry } from './options.js';
import { messageOf, sizeOf } from './raw-records.js';
import { SendsTogether } from './sends-together.js';

/** A record to append; `topic` is without prefix. */
export type Outgoing = Pick<RawRecord, 'topic' | 'key' | 'headers' | 'raw'>;

/** Brokers refuse requests over about 1 MB for a partition. */
const requestBytes = 700 * 1024;

/**
 * Appends records. Not idempotent on purpose: kafkajs's idempotent producer loses acknowledged records after connection
 * faults. A repeated send creates duplicates, which receivers drop by the events' deterministic ids.
 */
export class KafkaProducer {
  private readonly producer: Producer;
  private readonly together = new SendsTogether<Outgoing>(async (records) => {
    await Promise.all(inRequests(records).map((request) => this.send(request)));
  }, mayBeOfOneRecord);

  constructor(
    kafka: Kafka,
    private readonly prefix: string,
  ) {
    this.producer = kafka.producer({
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry,
    });
  }

  connect(): Promise<void> {
    return onCluster('Connecting', () => this.producer.connect());
  }

  /** Resolves when every in-sync replica has all records. Throws Failure LOG_UNAVAILABLE; then some may be stored. */
  async append(records: readonly Outgoing[]): Promise<void> {
    await onCluster('Publishing', () => this.together.send(records));
  }

  disconnect(): Promise<void> {
    return this.producer.disconnect();
  }

  private async send(records: readonly Outgoing[]): Promise<void> {
    await this.producer.sendBatch({
      acks: -1,
      topicMessages: [...groupByTopic(records)].map(([topic, same]) => ({ topic: this.prefix + topic, messages: same.map(messageOf) })),
    });
  }
}

/** Whether a broker refuses something permanently. An unavailable broker is expected back, even if kafkajs has given up. */
const mayBeOfOneRecord = (error: unknown): boolean =>
  error instanceof Error && error.name === 'KafkaJSProtocolError' && (error as { retriable?: boolean }).retriable === false;

function inRequests(records: readonly Outgoing[]): Outgoing[][] {
  const requests: Outgoing[][] = [];
  let room = 0;
  for (const record of records) {
    const size = sizeOf(record);
    if (size > room || requests.length === 0) {
      requests.push([]);
      room = requestBytes;
    }
    requests.at(-1)!.push(record);
    room -= size;
  }
  return requests;
}
