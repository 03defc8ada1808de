import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ensureTopics } from '@conclave/adapter-kafka';
import { topicsFor } from '@conclave/contracts';
import type { Finding } from '@conclave/host';
import { loadConfiguration } from '@conclave/platform';
import { startRedis, startWatchedRedis, type UrlInstance } from '@conclave/test-support/real-servers';
import { Redis } from 'ioredis';
import { Kafka } from 'kafkajs';
import { exitCodes } from './ask.js';
import { doctorCommand } from './doctor.js';

jest.setTimeout(120_000);

const broker = process.env.KAFKA_BROKERS ?? '127.0.0.1:19092';
const prefix = `doctor-${randomBytes(4).toString('hex')}-`;
const folder = mkdtempSync(join(tmpdir(), 'conclave-doctor-int-'));
let redis: UrlInstance;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await redis?.destroy();
  rmSync(folder, { recursive: true, force: true });
  const admin = new Kafka({ brokers: [broker], logLevel: 0 }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)) });
  await admin.disconnect();
});

async function doctor(retention = '', store = `{ url: "${redis.url}", key_prefix: "${prefix}" }`, env: Record<string, string> = {}) {
  const file = join(folder, 'cluster.yaml');
  writeFileSync(
    file,
    [
      `stores: { kafka: { brokers: ["${broker}"], topic_prefix: "${prefix}", partitions: 2 }, redis: ${store} }`,
      'mcp: { precision: { enabled: false } }',
      retention,
    ].join('\n'),
  );
  const load = () => loadConfiguration({ CONCLAVE_CONFIG: file, CONCLAVE_HOME: folder, PORT: '9', ...env }, folder);
  let text = '';
  const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
  const code = await doctorCommand({ loaded: load, args: ['--json'], out: { write: (more) => void (text += more) }, localServers });
  const { findings } = JSON.parse(text) as { findings: (Finding & { check: string })[] };
  return {
    code,
    of: (check: string) => findings.filter((finding) => finding.check === check).map(({ status, says }) => `${status}: ${says}`),
  };
}

describe('doctor, on real servers', () => {
  it('compares topics, retention, copies, and the guarantees, memory and clock of Redis', async () => {
    const fresh = await doctor();
    expect(fresh.of('kafka')).toEqual([
      expect.stringMatching(/^ok: Its metadata\.version is \d+: the brokers are /),
      expect.stringMatching(/^warning: Each record has 1 copy/),
      expect.stringMatching(/^warning: No topic exists yet/),
    ]);
    expect(fresh.of('redis')).toEqual([
      expect.stringMatching(/^ok: Keeps what it acknowledges/),
      expect.stringMatching(/^warning: Uses \d+ MB, without a limit: set `maxmemory`/),
      expect.stringMatching(/^ok: Its clock differs from the clock of this machine by -?\d+ ms/),
      'ok: Neither log nor state store was used yet.',
    ]);
    await ensureTopics({ brokers: [broker], clientId: 'doctor-spec', topicPrefix: prefix, partitions: 2, topics: topicsFor() });
    expect((await doctor()).of('kafka')).toContainEqual(expect.stringMatching(/^ok: All \d+ topics are as planned/));
    const longer = await doctor('retention: { audit: 90 }');
    expect([longer.code, longer.of('kafka')]).toEqual([
      exitCodes.failed,
      expect.arrayContaining([expect.stringMatching(/^problem: .*audit has retention\.ms=1209600000 instead of 7776000000 \(90 days\)/)]),
    ]);
  });

  it('finds the primary that sentinels name, with a password for each, and says what a take-over would lose', async () => {
    const { master, password, sentinels, sentinelPassword, dispose } = await startWatchedRedis();
    const sentinel = `{ master: ${master}, addresses: ${JSON.stringify(sentinels)}, password_env: SENTINEL_PASSWORD }`;
    const store = `{ url: "redis://redis.invalid", password_env: REDIS_PASSWORD, sentinel: ${sentinel} }`;
    const found = await doctor('', store, { REDIS_PASSWORD: password, SENTINEL_PASSWORD: sentinelPassword });
    expect(found.of('redis')).toContainEqual(expect.stringMatching(/^warning: `min-replicas-to-write` is 0/));
    expect(found.of('redis')).toContainEqual(expect.stringMatching(/^ok: Its clock differs/));
    await dispose();
  });

  it('says what a misconfigured, a full and a stopped Redis lacks', async () => {
    const client = new Redis(redis.url);
    await client.config('SET', 'appendfsync', 'everysec');
    await client.config('SET', 'maxmemory', String(1_000_000));
    const lax = await doctor();
    expect(lax.of('redis')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warning: Redis has `appendfsync everysec` instead of `appendfsync always`/),
        expect.stringMatching(/^problem: Uses \d+ MB of 1 MB: it refuses writes/),
      ]),
    );
    expect(lax.code).toBe(exitCodes.failed);
    await client.config('SET', 'maxmemory', '0');
    client.disconnect();
    await redis.kill('SIGKILL');
    const gone = await doctor();
    expect([gone.code, gone.of('redis')]).toEqual([exitCodes.failed, [expect.stringMatching(/^problem: /)]]);
    await redis.restart();
  });
});
