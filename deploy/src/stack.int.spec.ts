import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Kafka } from 'kafkajs';
import { freePorts, prerequisites, startKafka, startRedis } from '../stack/index.mjs';
import { isPortFree, probeKafka, probeRedis } from '../stack/probes.mjs';
import { run, signalProcess, waitForExit, type ProcessIdentity } from '../stack/processes.mjs';

/** Sends one Redis command and resolves to the first bytes of the answer. */
function redisCommand(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port }, () => socket.write(`${text}\r\n`));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
  });
}

describe('a private instance', () => {
  it('of Redis keeps an acknowledged write when it is killed, and its port over a restart', async () => {
    await using redis = await startRedis();
    const port = redis.ports.redis!;
    const before = redis.pid;
    expect(await redisCommand(port, 'SET fact kept')).toBe('+OK\r\n');
    await redis.kill();
    expect(await isPortFree(port)).toBe(true);
    await redis.restart();
    expect(redis.pid).not.toBe(before);
    expect(await redisCommand(port, 'GET fact')).toBe('$4\r\nkept\r\n');
    expect(await redisCommand(port, 'CONFIG GET maxmemory-policy')).toContain('noeviction');
  }, 30_000);

  it('of Kafka answers again after it was killed, and also on the listener for a proxy', async () => {
    const [advertisedPort] = await freePorts(1);
    await using kafka = await startKafka({ proxied: { advertisedPort: advertisedPort! } });
    await kafka.kill();
    await expect(probeKafka(kafka.ports.kafka!)).rejects.toThrow();
    await kafka.restart();
    expect(await probeKafka(kafka.ports.kafka!)).toBe(1);
    expect(await probeKafka(kafka.proxiedPort!)).toBe(1);
  }, 120_000);
});

it('the prerequisites of these servers are installed', async () => {
  const { kafka, redis } = await prerequisites();
  expect([kafka.local, redis.local]).toEqual([true, true]);
});

describe('up, status and down', () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'conclave-stack-int-'));
  const command = path.resolve(import.meta.dirname, '../stack.mjs');
  let port = 0;
  const stack = (...args: string[]) =>
    run(process.execPath, [command, ...args], { env: { CONCLAVE_STACK_HOME: home, CONCLAVE_STACK_REDIS_PORT: String(port) } });
  const up = (...args: string[]) => stack('up', '--local', '--only', 'redis', ...args);

  afterAll(async () => {
    await stack('down');
    rmSync(home, { recursive: true, force: true });
  });

  it('start once, use fresh data unless told to keep it, and leave nothing behind', async () => {
    [port] = (await freePorts(1)) as [number];
    expect(await up()).toContain(`answers at redis://127.0.0.1:${port}`);
    expect(JSON.parse(readFileSync(path.join(home, 'env.json'), 'utf8'))).toEqual({ REDIS_URL: `redis://127.0.0.1:${port}` });
    await redisCommand(port, 'SET fact kept');
    expect(await up()).toContain('nothing to do');
    expect(await stack('status')).toMatch(/redis +up +local/);

    expect(await stack('down')).toContain('stopped');
    expect(await isPortFree(port)).toBe(true);
    await up('--keep');
    expect(await redisCommand(port, 'GET fact')).toBe('$4\r\nkept\r\n');

    await stack('down');
    await up();
    expect(await redisCommand(port, 'GET fact')).toBe('$-1\r\n');
    await stack('down');
  }, 60_000);

  it('restart Kafka on kept data, whether it was stopped or killed', async () => {
    const [broker, controller] = (await freePorts(2)) as [number, number];
    const own = mkdtempSync(path.join(os.tmpdir(), 'conclave-stack-kafka-'));
    const env = {
      CONCLAVE_STACK_HOME: own,
      CONCLAVE_STACK_CACHE: process.env.CONCLAVE_STACK_CACHE ?? path.resolve(import.meta.dirname, '../.stack/cache'),
      CONCLAVE_STACK_KAFKA_PORT: String(broker),
      CONCLAVE_STACK_KAFKA_CONTROLLER_PORT: String(controller),
    };
    const kafkaStack = (...args: string[]) => run(process.execPath, [command, ...args], { env });
    const start = (...args: string[]) => kafkaStack('up', '--local', '--only', 'kafka', ...args);
    const client = () => new Kafka({ brokers: [`127.0.0.1:${broker}`], logLevel: 0 });
    const produce = async (value: string) => {
      const producer = client().producer({ allowAutoTopicCreation: false });
      await producer.connect();
      await producer.send({ topic: 'facts', acks: -1, messages: [{ value }] });
      await producer.disconnect();
    };
    const kept = async (): Promise<bigint> => {
      const admin = client().admin();
      await admin.connect();
      const [partition] = await admin.fetchTopicOffsets('facts');
      await admin.disconnect();
      return BigInt(partition!.high) - BigInt(partition!.low);
    };
    try {
      expect(await start()).toContain(`answers at 127.0.0.1:${broker}`);
      const admin = client().admin();
      await admin.connect();
      await admin.createTopics({ topics: [{ topic: 'facts', numPartitions: 1 }] });
      await admin.disconnect();
      await produce('before the stop');

      await kafkaStack('down');
      expect(await start('--keep')).toContain(`answers at 127.0.0.1:${broker}`);
      expect(await kept()).toBe(1n);
      await produce('before the kill');

      const record = JSON.parse(readFileSync(path.join(own, 'started', 'kafka.json'), 'utf8')) as ProcessIdentity;
      signalProcess(record, 'SIGKILL');
      expect(await waitForExit(record, 10_000)).toBe(true);
      expect(await start('--keep')).toContain('starting it again');
      expect(await kept()).toBe(2n);
    } finally {
      await kafkaStack('down');
      rmSync(own, { recursive: true, force: true });
    }
  }, 120_000);

  it('refuse a port that another program uses, and leave that program running', async () => {
    await using other = await startRedis();
    port = other.ports.redis!;
    await expect(up()).rejects.toThrow(`Port ${port} for redis is taken by another program.`);
    expect(await probeRedis(port)).toBe(true);
  }, 30_000);
});
