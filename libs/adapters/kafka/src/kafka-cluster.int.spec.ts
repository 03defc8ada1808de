import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { topicsFor } from '@conclave/contracts';
import { MemoryBlobs, MemoryDeliveries } from '@conclave/ports';
import { inputTopic, outputTopic, sampleInput, Stage } from '@conclave/ports/suites';
import { startKafka, type KafkaInstance } from '@conclave/test-support/real-servers';
import { realBrokers } from './__fixtures__/broker.js';
import { securedListener, type SecuredListener } from './__fixtures__/secured-listener.js';
import { openWorld } from './__fixtures__/world.js';
import { ensureTopics, openKafkaLog } from './index.js';
import { kafkaClient } from './options.js';

describe('the topics on Kafka', () => {
  const direct = () => ({ brokers: realBrokers(), clientId: 'test', topicPrefix: `test-${randomUUID().slice(0, 8)}.` });
  const created: string[] = [];
  afterEach(async () => {
    const admin = kafkaClient({ brokers: realBrokers(), clientId: 'test' }).admin();
    await admin.connect();
    const topics = (await admin.listTopics()).filter((name) => created.some((prefix) => name.startsWith(prefix)));
    if (topics.length > 0) await admin.deleteTopics({ topics });
    await admin.disconnect();
  });

  it('are created once, by the first process, with their retention and partitions', async () => {
    const options = { ...direct(), partitions: 3, topics: topicsFor(['expert']) };
    created.push(options.topicPrefix);
    await Promise.all([ensureTopics(options), ensureTopics(options)]);
    await ensureTopics(options);
    const admin = kafkaClient(options).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: options.topics.map(({ name }) => options.topicPrefix + name) });
    await admin.disconnect();
    const partitions = Object.fromEntries(
      topics.map(({ name, partitions }) => [name.slice(options.topicPrefix.length), partitions.length]),
    );
    expect(partitions).toMatchObject({ 'plan.requested': 3, 'tasks.dispatched.expert': 3, dead: 3, 'store.identity': 1 });
    expect(Object.keys(partitions)).toHaveLength(options.topics.length);
  });

  it('are refused when topics that are keyed by run differ in their partitions', async () => {
    const options = { ...direct(), topics: topicsFor([]) };
    created.push(options.topicPrefix);
    await ensureTopics({ ...options, partitions: 2, topics: options.topics.slice(0, 2) });
    await expect(ensureTopics({ ...options, partitions: 3 })).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID' });
  });
});

describe('a log without a broker', () => {
  it('fails with LOG_UNAVAILABLE', async () => {
    const ledger = new MemoryDeliveries().ledger('process');
    const opened = openKafkaLog({ brokers: ['127.0.0.1:1'], clientId: 'test', blobs: new MemoryBlobs(), ledger });
    await expect(opened).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  }, 30_000);
});

describe('a Kafka broker of our own', () => {
  let broker: KafkaInstance;
  let secured: SecuredListener;
  let stage: Stage | null = null;
  beforeAll(async () => {
    secured = await securedListener();
    broker = await startKafka({ proxied: { advertisedPort: secured.port, listenPort: secured.port }, settings: secured.settings });
  }, 180_000);
  afterEach(async () => {
    await stage?.end();
    stage = null;
  }, 60_000);
  afterAll(async () => {
    await broker.destroy();
    secured.dispose();
  }, 60_000);

  it('loses nothing acknowledged when it is killed under load, and consumers continue when it is back', async () => {
    const world = await openWorld({ topics: [inputTopic, outputTopic], partitions: 4, brokers: broker.brokers });
    stage = new Stage(world, 60_000, 0, 500);
    await stage.consume(async () => []);
    const acknowledged = new Set<string>();
    let sending = true;
    const senders = Array.from({ length: 5 }, async (_, sender) => {
      for (let n = 0; sending; n += 1) {
        const name = `s${sender}-${n}`;
        // A failed send may or may not be stored; only acknowledged records are guaranteed.
        await stage!.log.publish([sampleInput(name)]).then(
          () => acknowledged.add(name),
          () => undefined,
        );
      }
    });
    await stage.until('there is traffic', () => acknowledged.size > 200);
    await broker.kill();
    await broker.restart();
    const before = acknowledged.size;
    await stage.until('there is traffic again', () => acknowledged.size > before + 200);
    sending = false;
    await Promise.all(senders);
    await stage.until('everything is consumed', async () => (await stage!.lag()) === 0);
    const handled = new Set(stage.seen.names);
    expect([...acknowledged].filter((name) => !handled.has(name))).toEqual([]);
  }, 180_000);

  it('accepts TLS connections with a user and a password', async () => {
    const blobs = new MemoryBlobs();
    const connection = {
      brokers: [`127.0.0.1:${secured.port}`],
      clientId: 'test',
      topicPrefix: 'secured.',
      ssl: { ca: [secured.certificate] },
    };
    const sasl = { mechanism: 'plain' as const, username: secured.user, password: secured.password };
    await ensureTopics({ ...connection, sasl, partitions: 1, topics: topicsFor([]).filter(({ name }) => name === inputTopic) });
    const log = await openKafkaLog({ ...connection, sasl, blobs, ledger: new MemoryDeliveries().ledger('process') });
    try {
      const handled = new Promise((resolve) => {
        void log.subscribe({ group: 'secured', topics: [inputTopic], concurrency: 1, handle: async ({ event }) => (resolve(event), []) });
      });
      await log.publish([sampleInput('secret')]);
      expect(await handled).toEqual(sampleInput('secret'));
    } finally {
      await log.close();
    }
    const stranger = openKafkaLog({
      ...connection,
      sasl: { ...sasl, password: 'wrong' },
      blobs,
      ledger: new MemoryDeliveries().ledger('stranger'),
    });
    await expect(stranger).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  }, 60_000);
});
