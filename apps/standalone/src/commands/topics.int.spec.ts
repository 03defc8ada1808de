import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { Kafka, type Admin, type ConfigResourceTypes } from 'kafkajs';
import { exitCodes } from './ask.js';
import { topicsCommand } from './topics.js';
import { commandPrefix } from './typed.js';

/** ConfigResourceTypes.TOPIC: Node does not see kafkajs' enum among the names of its CommonJS module. */
const topicResource = 2 as ConfigResourceTypes.TOPIC;
const broker = process.env.KAFKA_BROKERS ?? '127.0.0.1:19092';
const prefix = `topics-${randomBytes(4).toString('hex')}-`;
const home = mkdtempSync(join(tmpdir(), 'conclave-topics-'));
/** Every configuration with Kafka needs Redis; these commands do not connect to it. */
const cluster = (brokers: string) => ({ KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: prefix, REDIS_URL: 'redis://127.0.0.1:9' });
let admin: Admin;

async function topics(args: readonly string[], variables: Record<string, string> = cluster(broker)) {
  let text = '';
  let warned = '';
  const code = await topicsCommand({
    loaded: () =>
      loadConfiguration({ CONCLAVE_HOME: home, LOG_LEVEL: 'silent', ...variables }, home, { categories: Object.keys(expertPrompts) }),
    args,
    out: { write: (more) => void (text += more) },
    terminal: { write: (more) => void (warned += more) },
  });
  return { code, text, warned };
}

beforeAll(async () => {
  admin = new Kafka({ brokers: [broker], logLevel: 0 }).admin();
  await admin.connect();
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)) });
  await admin.disconnect();
}, 30_000);

describe('topics at the command line, on a real cluster', () => {
  it('are planned, reported missing, created, verified, and reported when changed', async () => {
    const plan = await topics(['plan', '--principal', 'User:me']);
    expect(plan.code).toBe(exitCodes.answered);
    expect(plan.text).toContain(`--topic ${prefix}plan.requested --partitions 24`);
    expect(plan.text).toContain(
      `--allow-principal User:me --operation Read --operation Describe --operation Delete --group ${prefix}read-`,
    );
    expect((await admin.listTopics()).filter((topic) => topic.startsWith(prefix))).toEqual([]);

    const before = await topics(['check', '--json']);
    expect(before.code).toBe(exitCodes.failed);
    const { differences } = JSON.parse(before.text) as { differences: string[] };
    expect(differences).toContain(`${prefix}store.identity is missing: create it with \`conclave topics create\`.`);
    expect((await admin.listTopics()).filter((topic) => topic.startsWith(prefix))).toEqual([]);

    const created = await topics(['create', '--json']);
    expect(created.code).toBe(exitCodes.answered);
    expect((JSON.parse(created.text) as { created: string[] }).created).toHaveLength(differences.length);
    expect(await topics(['check'])).toMatchObject({ code: exitCodes.answered, text: expect.stringContaining('match the plan') });
    expect((await topics(['create'])).text).toContain('0 of');

    // Setting one entry resets all others to the broker's defaults.
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        { type: topicResource, name: `${prefix}audit`, configEntries: [{ name: 'retention.ms', value: '60000' }] },
        { type: topicResource, name: `${prefix}store.identity`, configEntries: [{ name: 'cleanup.policy', value: 'delete' }] },
      ],
    });
    // The broker reports the change a moment later.
    const end = Date.now() + 10_000;
    let after = await topics(['check']);
    while (!(after.text.includes('retention.ms=60000') && after.text.includes('cleanup.policy=delete')) && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      after = await topics(['check']);
    }
    expect(after.code).toBe(exitCodes.failed);
    expect(after.text).toContain(`${prefix}audit has retention.ms=60000 instead of 1209600000 (14 days): change it with kafka-configs.sh.`);
    expect(after.text).toContain(`${prefix}audit has message.timestamp.type=CreateTime instead of LogAppendTime`);
    expect(after.text).toContain(`${prefix}store.identity has cleanup.policy=delete instead of compact`);
    expect(after.text).not.toContain(`${prefix}plan.requested has`);
  }, 90_000);

  it('keep their records as the configuration says, each topic for its own time', async () => {
    writeFileSync(join(home, 'conclave.yaml'), 'retention_days: 3\nretention: { audit: 90, dead: 30, tasks.dispatched: 2 }\n');
    const plan = await topics(['plan', '--json'], { ...cluster(broker), KAFKA_TOPIC_PREFIX: `${prefix}kept-` });
    rmSync(join(home, 'conclave.yaml'));
    const { topics: planned } = JSON.parse(plan.text) as { topics: { name: string; settings: Record<string, string> }[] };
    const days = Object.fromEntries(
      planned.map(({ name, settings }) => [name.replace(`${prefix}kept-`, ''), Number(settings['retention.ms']) / 86_400_000]),
    );
    expect(days).toMatchObject({ 'plan.requested': 3, 'run.completed': 3, audit: 90, dead: 30, 'tasks.dispatched.expert': 2 });
  });

  it('are unnecessary without Kafka', async () => {
    for (const verb of ['plan', 'create', 'check'])
      expect(await topics([verb], {})).toMatchObject({ code: exitCodes.answered, text: expect.stringContaining('Nothing is needed') });
  });

  it('require a known command', async () => {
    expect(await topics([])).toMatchObject({ code: exitCodes.usage, warned: expect.stringContaining(`${commandPrefix} topics check`) });
    expect(await topics(['drop'])).toMatchObject({ code: exitCodes.usage });
    await expect(topics(['check', '--force'])).rejects.toMatchObject({ code: expect.stringContaining('ERR_PARSE_ARGS') });
  });

  it('report that no broker answers', async () => {
    await expect(topics(['check'], cluster('127.0.0.1:9'))).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  }, 60_000);
});
