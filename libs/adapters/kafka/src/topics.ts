import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { Failure } from '@conclave/contracts';
import { onCluster } from './failures.js';
import { kafkaClient, prefixOf, type TopicOptions } from './options.js';
import { planTopics } from './topic-plan.js';

const leadersWithinMs = 30_000;

/**
 * Creates missing topics with their retention and compaction, and waits until each partition has a leader. Safe to run from several
 * processes at once. Returns the names that were missing, with the prefix.
 * Throws Failure LOG_UNAVAILABLE, and CONFIGURATION_INVALID when topics keyed by run differ in their number of partitions.
 */
export async function ensureTopics(options: TopicOptions): Promise<readonly string[]> {
  const admin = kafkaClient(options).admin();
  await onCluster('Connecting', () => admin.connect());
  try {
    const created = await create(admin, options);
    await checkPartitions(admin, options);
    return created;
  } finally {
    await admin.disconnect();
  }
}

async function create(admin: Admin, options: TopicOptions): Promise<readonly string[]> {
  const existing = new Set(await onCluster('Listing topics', () => admin.listTopics()));
  const missing = planTopics(options).filter(({ name }) => !existing.has(name));
  if (missing.length === 0) return [];
  const topics = missing.map(({ name: topic, partitions, replication, settings }) => ({
    topic,
    numPartitions: partitions,
    replicationFactor: replication,
    configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
  }));
  // `waitForLeaders` of kafkajs sometimes fails with UNKNOWN_TOPIC_OR_PARTITION; the code below waits for leaders.
  await onCluster('Creating topics', () => admin.createTopics({ topics, waitForLeaders: false }));
  const names = missing.map(({ name }) => name);
  await waitForLeaders(admin, names);
  return names;
}

async function waitForLeaders(admin: Admin, topics: string[]): Promise<void> {
  const end = Date.now() + leadersWithinMs;
  for (;;) {
    const waiting = await withoutLeader(admin, topics);
    if (waiting === null) return;
    if (Date.now() > end) throw new Failure('LOG_UNAVAILABLE', `New topics got no leader within ${leadersWithinMs / 1000} s: ${waiting}`);
    await delay(50);
  }
}

/** What is still missing, or null. The broker may not know a new topic yet, so errors are returned as text. */
async function withoutLeader(admin: Admin, topics: string[]): Promise<string | null> {
  try {
    const { topics: found } = await admin.fetchTopicMetadata({ topics });
    const leaderless = found.filter(({ partitions }) => partitions.length === 0 || partitions.some(({ leader }) => leader < 0));
    if (leaderless.length > 0) return leaderless.map(({ name }) => name).join(', ');
    // A new leader may not know its role yet.
    await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function checkPartitions(admin: Admin, { topics, ...options }: TopicOptions): Promise<void> {
  const prefix = prefixOf(options);
  const byRun = topics.filter(({ key }) => key === 'run').map(({ name }) => prefix + name);
  if (byRun.length === 0) return;
  const { topics: found } = await onCluster('Reading topics', () => admin.fetchTopicMetadata({ topics: byRun }));
  const counts = new Set(found.map(({ partitions }) => partitions.length));
  if (counts.size === 1) return;
  const listed = found.map(({ name, partitions }) => `${name} has ${partitions.length}`).join(', ');
  throw new Failure('CONFIGURATION_INVALID', `Topics that are keyed by run need the same number of partitions: ${listed}.`);
}
