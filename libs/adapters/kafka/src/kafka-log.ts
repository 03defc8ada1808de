import type { Admin, Kafka } from 'kafkajs';
import pTimeout from 'p-timeout';
import { deadTopic, Failure, identityTopic, type Event } from '@conclave/contracts';
import {
  encodeEvent,
  storedRecord,
  SuspectTurns,
  suspectsHeldMs,
  type Consumption,
  type EventLog,
  type Lag,
  type OutgoingRecord,
  type ReadRange,
  type StoredRecord,
  type StoreMark,
  type Subscription,
} from '@conclave/ports';
import { Absence } from './absence.js';
import { onCluster, readFromCluster } from './failures.js';
import { KafkaConsumption } from './kafka-consumption.js';
import { KafkaProducer } from './kafka-producer.js';
import { clockOf, kafkaClient, memberClient, maxHeldOf, prefixOf, silent, timingOf, type KafkaLogOptions } from './options.js';
import { readTopic } from './topic-reader.js';

const healthWithinMs = 3000;
const goodbyeMs = 5000;
const identityKey = 'store';

/** The event log on Kafka. `ensureTopics` creates the topics. Throws Failure LOG_UNAVAILABLE when no broker answers. */
export async function openKafkaLog(options: KafkaLogOptions): Promise<EventLog> {
  const log = new KafkaLog(kafkaClient(options), memberClient(options), options);
  await log.connect();
  return log;
}

class KafkaLog implements EventLog {
  private readonly admin: Admin;
  private readonly producer: KafkaProducer;
  private readonly prefix: string;
  private readonly consumptions = new Set<KafkaConsumption>();
  private readonly topicsOf = new Map<string, Set<string>>();
  private readonly absence: Absence;
  private readonly turns: SuspectTurns;
  private closed: Promise<void> | null = null;

  constructor(
    kafka: Kafka,
    private readonly members: Kafka,
    private readonly options: KafkaLogOptions,
  ) {
    this.prefix = prefixOf(options);
    this.absence = new Absence(options.logger ?? silent);
    this.turns = new SuspectTurns(clockOf(options), suspectsHeldMs);
    this.admin = kafka.admin();
    this.producer = new KafkaProducer(kafka, this.prefix);
  }

  async connect(): Promise<void> {
    try {
      await Promise.all([onCluster('Connecting', () => this.admin.connect()), this.producer.connect()]);
    } catch (error) {
      await this.disconnect();
      throw error;
    }
  }

  async publish(events: readonly Event[]): Promise<void> {
    if (this.closed) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    await this.append(events);
  }

  async publishRaw(record: OutgoingRecord): Promise<void> {
    if (this.closed) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    await this.producer.append([record]);
  }

  async subscribe(subscription: Subscription): Promise<Consumption> {
    if (this.closed) throw new Failure('LOG_UNAVAILABLE', 'It was closed.');
    const { options, members } = this;
    const { ledger, blobs, seals = null, hooks, poolChange, commitsAtHandOver = false, logger = silent } = options;
    const consumption: KafkaConsumption = new KafkaConsumption({
      kafka: members,
      admin: this.admin,
      subscription,
      prefix: this.prefix,
      timing: timingOf(options),
      logger,
      absence: this.absence,
      pool: {
        ledger,
        blobs,
        seals,
        clock: clockOf(options),
        turns: this.turns,
        publish: (events) => this.append(events),
        publishDead: (dead) => this.producer.append([{ topic: deadTopic, ...dead }]),
        ...(hooks ? { hooks } : {}),
        maxHeld: maxHeldOf(options, subscription),
      },
      ...(poolChange ? { poolChange } : {}),
      commitsAtHandOver,
      ended: () => this.consumptions.delete(consumption),
    });
    const topics = this.topicsOf.get(subscription.group) ?? new Set();
    for (const topic of subscription.topics) topics.add(this.prefix + topic);
    this.topicsOf.set(subscription.group, topics);
    this.consumptions.add(consumption);
    await consumption.start();
    return consumption;
  }

  /** Records of a topic cannot be changed or removed individually; sealed ones become unreadable without the key of their run. */
  async erase(runId: string): Promise<'gone' | 'kept'> {
    return (await this.options.seals?.destroy(runId)) ? 'gone' : 'kept';
  }

  lag(group: string): Promise<readonly Lag[]> {
    return groupLag(this.admin, this.prefix + group, [...(this.topicsOf.get(group) ?? [])], this.prefix);
  }

  async *read(topic: string, range?: ReadRange): AsyncIterable<StoredRecord> {
    for await (const record of readTopic(this.members, this.admin, this.options, topic, range))
      yield await storedRecord(record, this.options.blobs, this.options.seals);
  }

  readonly identity = {
    read: async (): Promise<StoreMark | null> => {
      let mark: StoreMark | null = null;
      for await (const { raw } of readTopic(this.members, this.admin, this.options, identityTopic)) mark = raw && markOf(raw);
      return mark;
    },
    write: ({ storeId, generation }: StoreMark): Promise<void> =>
      this.producer.append([
        { topic: identityTopic, key: identityKey, headers: {}, raw: Buffer.from(JSON.stringify({ storeId, generation })) },
      ]),
  };

  async health(): Promise<string | null> {
    if (this.closed) return 'The event log was closed.';
    const said = this.admin.describeCluster().then(
      ({ brokers }) => (brokers.length > 0 ? null : 'The Kafka cluster has no broker.'),
      (error: unknown) => `Kafka does not answer: ${error instanceof Error ? error.message : String(error)}`,
    );
    const broker = await pTimeout(said, {
      milliseconds: healthWithinMs,
      fallback: () => `Kafka has not answered for ${healthWithinMs / 1000} s.`,
    });
    if (broker !== null) return broker;
    for (const consumption of this.consumptions) {
      const trouble = consumption.health();
      if (trouble !== null) return trouble;
    }
    return null;
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    await Promise.all([...this.consumptions].map((consumption) => consumption.close()));
    await this.disconnect();
  }

  private async disconnect(): Promise<void> {
    const goodbyes = [this.producer.disconnect(), this.admin.disconnect()];
    await pTimeout(Promise.allSettled(goodbyes), { milliseconds: goodbyeMs, fallback: () => undefined });
  }

  private async append(events: readonly Event[]): Promise<void> {
    if (events.length === 0) return;
    const { seals, blobs } = this.options;
    await this.producer.append(await Promise.all(events.map((event) => (seals ? seals.encode(event, blobs) : encodeEvent(event, blobs)))));
  }
}

function markOf(raw: Buffer): StoreMark {
  const { storeId, generation } = JSON.parse(raw.toString('utf8')) as Partial<StoreMark>;
  if (typeof storeId !== 'string' || typeof generation !== 'number') {
    throw new Failure('EVENT_UNDECODABLE', `A record on ${identityTopic} is not a store mark.`);
  }
  return { storeId, generation };
}

/**
 * Records between the committed position and the end, for topics with a committed offset and for `subscribed` ones.
 * The topics given to it have the prefix; those it returns do not.
 */
async function groupLag(admin: Admin, groupId: string, subscribed: readonly string[], prefix: string): Promise<readonly Lag[]> {
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
