import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';

/** This code is deeper in the source tree than in a built program. */
const rootAbove = (folder: string): string => (existsSync(join(folder, 'package-lock.json')) ? folder : rootAbove(dirname(folder)));

export const workspaceRoot = rootAbove(import.meta.dirname);

/** Addresses of the real servers, by the variables that the product reads. */
export interface Stack {
  readonly KAFKA_BROKERS: string;
  readonly REDIS_URL: string;
  readonly NEO4J_URL: string;
  readonly NEO4J_USER: string;
  readonly NEO4J_PASSWORD: string;
  /** Absent if no ChromaDB runs; the system then has no vector store. */
  readonly CHROMA_URL?: string;
}
const names = ['KAFKA_BROKERS', 'REDIS_URL', 'NEO4J_URL', 'NEO4J_USER', 'NEO4J_PASSWORD'] as const;

/** From the environment, or else from the file that the local stack has written. Throws with the command that starts it. */
export function stackAddresses(): Stack {
  const file = join(workspaceRoot, 'deploy/.stack/env.json');
  const written = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
  const found = Object.fromEntries(names.map((name) => [name, process.env[name] ?? written[name]]));
  const missing = names.filter((name) => !found[name]);
  if (missing.length > 0) throw new Error(`The distributed system needs ${missing.join(', ')}: run \`npm run stack -- up\` first.`);
  const chroma = process.env['CHROMA_URL'] ?? written['CHROMA_URL'];
  return { ...(found as unknown as Stack), ...(chroma ? { CHROMA_URL: chroma } : {}) };
}

/** Variables of the product and of its clients that must not leak from the shell of the tests into a system under test. */
export const cleared: Readonly<Record<string, undefined>> = Object.fromEntries(
  [
    ...names,
    'CHROMA_URL',
    'KAFKA_TOPIC_PREFIX',
    'SEARXNG_URL',
    'OPENAI_BASE_URL',
    'OPENAI_API_KEY',
    'PORT',
    'HOST',
    'ADMIN_PORT',
    'ADMIN_HOST',
    'CONCLAVE_CONFIG',
    'CONCLAVE_HOME',
    'CONCLAVE_URL',
    'CONCLAVE_API_KEY',
    'CONCLAVE_ADMIN_KEY_FILE',
    'WORKER_CLASSES',
    'CRASH_AT',
    'FREEZE_AT',
    'WITHOUT_PROTECTION',
    'HISTORY_FILE',
    'LOG_LEVEL',
    'NODE_OPTIONS',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_SERVICE_NAME',
    'OTEL_TRACES_SAMPLER',
    'TEST_MODE',
    'TEST_LEVEL',
  ].map((name) => [name, undefined]),
);

/** Removes the topics, keys and vectors that one system has left on the shared servers. */
export async function removeTraces(stack: Stack, topicPrefix: string, keyPrefix: string): Promise<void> {
  const kafka = new Kafka({ brokers: stack.KAFKA_BROKERS.split(','), clientId: 'e2e-cleanup', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const redis = new Redis(stack.REDIS_URL);
  try {
    await admin.connect();
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(topicPrefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
    const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(topicPrefix));
    // A group whose last member has only just left is not empty yet; it expires automatically.
    if (groups.length > 0) await admin.deleteGroups(groups).catch(() => undefined);
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `*${keyPrefix}*`, 'COUNT', 1_000);
      if (keys.length > 0) await redis.unlink(keys);
      cursor = next;
    } while (cursor !== '0');
  } finally {
    await Promise.allSettled([admin.disconnect(), redis.quit()]);
  }
  if (stack.CHROMA_URL) await removeVectors(stack.CHROMA_URL, topicPrefix);
}

/** Collections of ChromaDB say in their metadata which installation they belong to. */
async function removeVectors(url: string, namespace: string): Promise<void> {
  const collections = `${url}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  const all = (await (await fetch(`${collections}?limit=1000`)).json()) as { name: string; metadata: { conclave?: unknown } | null }[];
  for (const { name, metadata } of all)
    if (metadata?.conclave === namespace) await fetch(`${collections}/${encodeURIComponent(name)}`, { method: 'DELETE' });
}

const given = new Set<number>();
/** Anywhere in the range: suites that run side by side must not try the same ports at the same time. */
let nextCandidate = 21_000 + randomInt(10_000);

/** Free loopback ports below the range of outgoing connections, so that a killed process finds its port free again. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = (nextCandidate += 1);
    if (port > 31_000) nextCandidate = 21_000;
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
