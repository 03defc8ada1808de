import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { workspaceRoot } from '@conclave/test-support/system';
import { Kafka, logLevel } from 'kafkajs';
import type { Closing } from './closing.js';

interface Server {
  readonly pid: number;
  readonly environment: Readonly<Record<string, string>>;
  destroy(): Promise<void>;
}
/** The functions of deploy/stack used here. */
interface Stack {
  startKafka(): Promise<Server>;
  startRedis(): Promise<Server>;
  prerequisites(): Promise<Readonly<Record<'kafka' | 'redis', { readonly local: boolean; readonly reason: string }>>>;
}

/** The benchmark's own broker and Redis, so that no other traffic affects the figures. */
export interface Stores {
  readonly brokers: readonly string[];
  readonly redisUrl: string;
  /** Process ids of the two. */
  readonly pids: readonly number[];
  /** `stores` of conclave.yaml for one installation, with its prefix. */
  configuration(prefix: string, partitions?: number): object;
}

const groupsWithinMs = 60_000;

const loadStack = async (): Promise<Stack> => (await import(pathToFileURL(join(workspaceRoot, 'deploy/stack/index.mjs')).href)) as Stack;

/** Why they cannot run here, or null. */
export async function storesObstacle(): Promise<string | null> {
  const { kafka, redis } = await (await loadStack()).prerequisites();
  const reasons = [kafka, redis].filter(({ local }) => !local).map(({ reason }) => reason);
  return reasons.length > 0 ? reasons.join('; ') : null;
}

export async function startStores(closing: Closing): Promise<Stores> {
  const stack = await loadStack();
  const started = await Promise.allSettled([stack.startKafka(), stack.startRedis()]);
  for (const server of started) if (server.status === 'fulfilled') closing.add(() => server.value.destroy());
  const failed = started.find((server) => server.status === 'rejected');
  if (failed) throw failed.reason;
  const servers = started.map((server) => (server as PromiseFulfilledResult<Server>).value);
  const environment = Object.assign({}, ...servers.map((server) => server.environment)) as Record<string, string>;
  const brokers = environment['KAFKA_BROKERS']!.split(',');
  const redisUrl = environment['REDIS_URL']!;
  await groupsWork(brokers);
  return {
    brokers,
    redisUrl,
    pids: servers.map(({ pid }) => pid),
    configuration: (prefix, partitions) => ({
      stores: {
        kafka: { brokers, topic_prefix: `${prefix}.`, ...(partitions === undefined ? {} : { partitions }) },
        redis: { url: redisUrl, key_prefix: `${prefix}:` },
      },
    }),
  };
}

/** Waits until groups work: a new broker creates its offsets topic at the first request for a group. */
async function groupsWork(brokers: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], clientId: 'bench', logLevel: logLevel.NOTHING }).admin();
  const end = performance.now() + groupsWithinMs;
  await admin.connect();
  try {
    for (;;) {
      try {
        await admin.describeGroups(['bench-ready']);
        return;
      } catch (error) {
        if (performance.now() > end) throw new Error('The broker coordinates no groups.', { cause: error });
        await delay(250);
      }
    }
  } finally {
    await admin.disconnect();
  }
}
