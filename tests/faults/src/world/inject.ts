import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import Database from 'libsql';
import type { World } from './world.js';

/** A record that is appended to the log without the product. */
export interface RawInjection {
  /** Without prefix. */
  readonly topic: string;
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Null is a record without a value. */
  readonly value: Buffer | null;
}

const kafkaOf = ({ system, servers }: World) =>
  new Kafka({
    brokers: (servers.direct.KAFKA_BROKERS ?? system.stack!.KAFKA_BROKERS).split(','),
    clientId: 'injector',
    logLevel: logLevel.NOTHING,
  });

/**
 * Appends records without the product: to the broker while everything runs, or into the data folder of the stopped process, which is
 * started again.
 */
export async function inject(world: World, records: readonly RawInjection[]): Promise<void> {
  if (world.mode === 'distributed') await produce(world, records);
  else await atRest(world, (database) => insert(database, records, world));
}

async function produce(world: World, records: readonly RawInjection[]): Promise<void> {
  const producer = kafkaOf(world).producer();
  await producer.connect();
  try {
    for (const [index, { topic, key, headers, value }] of records.entries()) {
      const [sent] = await producer.send({
        topic: `${world.system.prefix}${topic}`,
        messages: [{ key, headers: { ...headers }, value }],
      });
      note(world, headers['ce_id'] ?? `${topic}/${sent!.partition}/${sent!.baseOffset}`, `${topic} ${index}`);
    }
  } finally {
    await producer.disconnect();
  }
}

function insert(database: Database.Database, records: readonly RawInjection[], world: World): void {
  const row = database.prepare(
    'INSERT INTO log (topic, key, event_id, headers, body, appended_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const [index, { topic, key, headers, value }] of records.entries()) {
    const { lastInsertRowid } = row.run(
      topic,
      key,
      headers['ce_id'] ?? `injected-${Date.now()}-${index}`,
      JSON.stringify(headers),
      value,
      Date.now(),
    );
    note(world, headers['ce_id'] ?? `${topic}/0/${lastInsertRowid}`, `${topic} ${index}`);
  }
}

/**
 * Delivers everything on the log again: every record of Kafka is produced once more, in a shuffled order; the cursors of a data folder go
 * back to the beginning.
 */
export async function repeatAll(world: World, shuffle: <T>(list: readonly T[]) => T[]): Promise<number> {
  if (world.mode === 'embedded') {
    return atRest(world, (database) => {
      database.prepare('DELETE FROM log_finished').run();
      database.prepare('UPDATE log_cursor SET position = 0').run();
      return (database.prepare('SELECT COUNT(*) AS n FROM log').get() as { n: number }).n;
    });
  }
  const copies = shuffle(await rawRecords(world));
  const producer = kafkaOf(world).producer();
  await producer.connect();
  try {
    for (let from = 0; from < copies.length; from += 50)
      await producer.sendBatch({
        topicMessages: copies
          .slice(from, from + 50)
          .map(({ topic, key, headers, value }) => ({ topic, messages: [{ key, headers, value }] })),
      });
  } finally {
    await producer.disconnect();
  }
  return copies.length;
}

interface RawCopy {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly headers: Record<string, Buffer | string | (Buffer | string)[] | undefined>;
  readonly value: Buffer | null;
}

/** Every record of the run topics as it is on the broker. */
async function rawRecords(world: World): Promise<readonly RawCopy[]> {
  const kafka = kafkaOf(world);
  const admin = kafka.admin();
  await admin.connect();
  const { prefix } = world.system;
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix) && !/\.(audit|dead|store\.identity)$/.test(topic));
  let left = 0;
  for (const topic of topics) for (const { high, low } of await admin.fetchTopicOffsets(topic)) left += Number(high) - Number(low);
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: `${prefix}read-injector-${Date.now()}` });
  const copies: RawCopy[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        autoCommit: false,
        eachMessage: ({ topic, message }) => {
          copies.push({ topic, key: message.key, headers: { ...message.headers }, value: message.value });
          if (copies.length >= left) resolve();
          return Promise.resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return copies;
}

/** Works on the data folder while its process is stopped, and starts it again. */
export async function atRest<T>(world: World, work: (database: Database.Database) => T): Promise<T> {
  const process = world.system.process('gateway');
  await process.stop();
  const database = new Database(join(world.system.home, 'conclave.db'));
  try {
    return work(database);
  } finally {
    database.close();
    await process.restart();
  }
}

function note(world: World, id: string, what: string): void {
  world.injector.write('publish', 'ok', id, { what });
}
