import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { ensureTopics, openKafkaLog } from '@conclave/adapter-kafka';
import { openRedisState } from '@conclave/adapter-redis';
import { openSqlite } from '@conclave/adapter-sqlite';
import { topicsFor, type CallRecorded, type Event } from '@conclave/contracts';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { Kafka } from 'kafkajs';
import { ask, exitCodes } from './ask.js';
import { replayCommand } from './replay.js';

const broker = process.env.KAFKA_BROKERS ?? '127.0.0.1:19092';
const redis = process.env.REDIS_URL ?? 'redis://127.0.0.1:16379';
const prefix = `replay-${randomBytes(4).toString('hex')}-`;
const home = mkdtempSync(join(tmpdir(), 'conclave-replay-'));
const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const topics = topicsFor();
const sink = { write: () => undefined };
const load = (variables: Record<string, string> = {}) =>
  loadConfiguration({ CONCLAVE_HOME: home, PORT: '9', ...variables }, home, { categories: Object.keys(expertPrompts) });

/** All events that a run in embedded mode leaves on its log. */
async function recording(): Promise<Event[]> {
  const signal = new AbortController().signal;
  await ask({ loaded: load(), question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process' });
  try {
    const events: Event[] = [];
    for (const { name } of topics) for await (const { event } of sqlite.log.read(name)) if (event) events.push(event);
    return events;
  } finally {
    await sqlite.close();
  }
}

let events: Event[];
beforeAll(async () => {
  events = await recording();
  const connection = { brokers: [broker], clientId: 'replay-spec', topicPrefix: prefix };
  await ensureTopics({ ...connection, partitions: 2, topics });
  const state = await openRedisState({ url: redis, processId: 'test', keyPrefix: prefix });
  const log = await openKafkaLog({ ...connection, blobs: state.blobs, ledger: state.store.deliveries });
  // Twice, as an at-least-once log may contain them.
  await log.publish(events);
  await log.publish(events);
  await log.close();
  await state.close();
}, 90_000);
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  const admin = new Kafka({ brokers: [broker], logLevel: 0 }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)) });
  await admin.disconnect();
}, 30_000);

describe('replay from Kafka', () => {
  it('replays recorded steps and shows the records of a run', async () => {
    const config = join(home, 'cluster.yaml');
    writeFileSync(
      config,
      `stores:\n  kafka: { brokers: ["${broker}"], topic_prefix: "${prefix}" }\n  redis: { url: "${redis}", key_prefix: "${prefix}" }\n`,
    );
    const replayed = async (id: string | null, recorded: boolean) => {
      let text = '';
      const out = { write: (more: string) => void (text += more) };
      const loaded = load({ CONCLAVE_CONFIG: config });
      return { code: await replayCommand({ loaded, runId: id, recorded, out, terminal: sink }), text };
    };
    const { runId } = events.find(({ type }) => type === 'PlanRequested')!;
    const steps = events.filter(({ type }) => type === 'StepRecorded').length;
    const made = events.filter(({ type }) => type === 'CallRecorded') as CallRecorded[];
    const calls = made.length;
    // The planner makes two calls, a lookup and a model call, for one outcome.
    const outcomes = made.filter(({ data }) => data.purpose !== 'plan.lookup').length;
    const all = await replayed(null, true);
    expect(all).toEqual({
      code: exitCodes.answered,
      text: expect.stringMatching(
        `^${runId}: same decisions, same state: ${steps} steps, ${calls} calls, ${outcomes} outcomes · hash [0-9a-f]{16}\n` +
          `1 recorded run in Kafka at ${broker}: all the same · hash [0-9a-f]{16}\n$`,
      ),
    });
    expect(await replayed(null, true)).toEqual(all);
    const { code, text } = await replayed(runId, false);
    expect(code).toBe(exitCodes.answered);
    expect(text.trim().split('\n').slice(1)).toHaveLength(2 * events.filter((event) => event.runId === runId).length);
  }, 120_000);
});
