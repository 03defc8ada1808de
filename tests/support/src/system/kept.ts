import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '../index.js';
import type { System } from './system.js';
import type { Stack } from './stack.js';

/**
 * Everything that a running system stores, read without using the product: the files of its data folder, or the records of its topics and
 * the values of its keys.
 */
export async function keptText({ home, stack, prefix }: System): Promise<string> {
  if (stack) return (await Promise.all([recordsOf(stack, prefix), valuesOf(stack, prefix)])).join('\n');
  const files = (readdirSync(home, { recursive: true }) as string[]).map((name) => join(home, name));
  return files
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

/** JSON lines that the processes of a system logged, to standard output or to files of the data folder. */
export function logText(system: System): string {
  const files = (readdirSync(system.folder, { recursive: true }) as string[])
    .map((name) => join(system.folder, name))
    .filter((path) => /\.(log|jsonl|ndjson)$/.test(path) && !path.endsWith('history.ndjson') && statSync(path).isFile());
  return [system.output(), ...files.map((path) => readFileSync(path, 'utf8'))].join('\n');
}

async function recordsOf(stack: Stack, prefix: string): Promise<string> {
  const kafka = new Kafka({ brokers: stack.KAFKA_BROKERS.split(','), clientId: 'tests-reading', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const consumer = kafka.consumer({ groupId: `${prefix}reading-${randomUUID()}`, allowAutoTopicCreation: false });
  try {
    await Promise.all([admin.connect(), consumer.connect()]);
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    const offsets = (await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))).flat();
    const all = offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    const read: string[] = [];
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message: { key, value, headers } }) => {
        read.push([key, value, ...Object.values(headers ?? {})].map(String).join(' '));
        return Promise.resolve();
      },
    });
    await until(`${all} records of ${topics.length} topics`, () => read.length >= all, { timeoutMs: 30_000, everyMs: 50 });
    return read.join('\n');
  } finally {
    await Promise.allSettled([consumer.disconnect(), admin.disconnect()]);
  }
}

/** A text that Redis stores, followed by the content of its packed parts: a tilde, then deflated text in base64. */
const withPacked = (text: string): string =>
  [
    text,
    ...Array.from(text.matchAll(/~([\w+/]{100,}=*)/g), ([, base64]) => inflateRawSync(Buffer.from(base64!, 'base64')).toString()),
  ].join('\n');

async function valuesOf(stack: Stack, prefix: string): Promise<string> {
  const redis = new Redis(stack.REDIS_URL);
  const readers: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
    // A key that expired in the meantime.
    none: () => Promise.resolve(null),
  };
  try {
    const read: string[] = [];
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1_000);
      for (const key of keys) read.push(key, withPacked(JSON.stringify(await readers[await redis.type(key)]!(key))));
      cursor = next;
    } while (cursor !== '0');
    return read.join('\n');
  } finally {
    await redis.quit();
  }
}
