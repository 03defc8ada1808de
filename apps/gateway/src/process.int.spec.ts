import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Supervised, until } from '@conclave/test-support';
import { Kafka } from 'kafkajs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const brokers = process.env.KAFKA_BROKERS ?? '127.0.0.1:19092';
const redis = process.env.REDIS_URL ?? 'redis://127.0.0.1:16379';
const prefix = `process-${randomBytes(4).toString('hex')}-`;
const folder = mkdtempSync(join(tmpdir(), 'conclave-process-'));
const running: Supervised[] = [];

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools/build.mjs')], { encoding: 'utf8', timeout: 100_000 });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('rror')]);
}, 120_000);
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  const admin = new Kafka({ brokers: [brokers], logLevel: 0 }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)) });
  await admin.disconnect();
}, 30_000);

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

/** A service over the real stores, with its own topics and keys. `store` distinguishes state stores. */
async function start(
  service: 'gateway' | 'planner',
  store: string,
  ready: (admin: number) => RegExp | string,
  flags: readonly string[] = [],
) {
  const config = join(folder, `${store}.yaml`);
  writeFileSync(
    config,
    `stores:\n  kafka: { brokers: ["${brokers}"], topic_prefix: "${prefix}", partitions: 2 }\n  redis: { url: "${redis}", key_prefix: "${prefix}${store}:" }\n`,
  );
  const admin = await freePort();
  const port = await freePort();
  const supervised = await Supervised.start({
    name: service,
    args: [...flags, join(root, `dist/${service}.js`)],
    env: {
      CONCLAVE_CONFIG: config,
      CONCLAVE_HOME: folder,
      ADMIN_PORT: String(admin),
      PORT: String(port),
      KAFKA_BROKERS: undefined,
      REDIS_URL: undefined,
      NEO4J_URL: undefined,
      OPENAI_BASE_URL: undefined,
    },
    ready: ready(admin),
    readyTimeoutMs: 60_000,
  });
  running.push(supervised);
  const health = async () => {
    const response = await fetch(`http://127.0.0.1:${admin}/health/ready`);
    return { status: response.status, text: await response.text() };
  };
  return { supervised, health, admin, port };
}
const whenReady = (admin: number): string => `http://127.0.0.1:${admin}/health/ready`;

describe('a service as a separate process', () => {
  it('becomes ready on real stores, exports metrics, and ends with code 0 when told to', async () => {
    const { supervised, admin } = await start('planner', 'first', whenReady);
    expect(await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text()).toContain('conclave_consumer_lag_records{group="planner"');
    expect(await supervised.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  }, 120_000);

  it('logs the warnings of Node', async () => {
    const warnsWhenTold = `data:text/javascript,process.on('SIGUSR2', () => process.emitWarning('something leaks'))`;
    const { supervised } = await start('planner', 'first', whenReady, ['--import', warnsWhenTold]);
    process.kill(supervised.pid!, 'SIGUSR2');
    const line = await until('the warning', () => /^.*something leaks.*$/m.exec(supervised.output())?.[0]);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', service: 'planner', message: 'Node warns: Warning: something leaks' });
    await supervised.stop();
    for (const each of supervised.output().trim().split('\n')) expect(each).toMatch(/^\{.*\}$/);
  }, 120_000);

  it('stays up and not ready, and consumes nothing, when the state store is empty and the log is not', async () => {
    // A planner, because a gateway consumes no records.
    const { supervised, health } = await start('planner', 'second', () => /Nothing is consumed/);
    const { status, text } = await health();
    expect(status).toBe(503);
    expect(text).toContain('The state store is empty or older than the event log');
    const admin = new Kafka({ brokers: [brokers], logLevel: 0 }).admin();
    await admin.connect();
    try {
      const groups = (await admin.listGroups()).groups
        .map(({ groupId }) => groupId)
        .filter((id) => id.startsWith(prefix) && id.endsWith('planner'));
      expect(groups).toHaveLength(1);
      expect((await admin.describeGroups(groups)).groups.map(({ members }) => members)).toEqual([[]]);
    } finally {
      await admin.disconnect();
    }
    expect(supervised.pid).not.toBeNull();
  }, 120_000);

  it('is ready again on the store it belongs to', async () => {
    const { health, port } = await start('gateway', 'first', whenReady);
    expect((await health()).status).toBe(200);
    const models = await until('the gateway to list its templates', async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/models`);
      return response.ok ? ((await response.json()) as { data: { id: string }[] }) : undefined;
    });
    expect(models.data.map(({ id }) => id)).toContain('conclave');
  }, 120_000);

  it('refuses topics that keep records longer than the state store remembers them', async () => {
    const admin = new Kafka({ brokers: [brokers], logLevel: 0 }).admin();
    await admin.connect();
    const days = (n: number) => String(n * 24 * 60 * 60 * 1000);
    const keep = (retention: string) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: 2, name: `${prefix}results.ready`, configEntries: [{ name: 'retention.ms', value: retention }] }],
      });
    try {
      await keep(days(90));
      await expect(start('planner', 'first', whenReady)).rejects.toThrow(/keep records longer: results.ready \(2160 h\)/);
      await keep(days(7));
    } finally {
      await admin.disconnect();
    }
  }, 60_000);

  it('ends with a message, before it looks for a store, if anybody could send requests without a key', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'dist/gateway.js')], {
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env.PATH, KAFKA_BROKERS: '127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9', HOST: '0.0.0.0' },
      timeout: 20_000,
    });
    expect(status).toBe(1);
    expect(stderr).toContain('HOST is 0.0.0.0');
    expect(stderr).toContain('CONCLAVE_ADMIN_KEY_FILE');
  }, 30_000);

  it('lists every mistake of its configuration and ends with code 1', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'dist/planner.js')], {
      encoding: 'utf8',
      timeout: 25_000,
      cwd: folder,
      env: { PATH: process.env.PATH, KAFKA_BROKERS: brokers, LOG_LEVEL: 'loud' },
    });
    expect(status).toBe(1);
    expect(stderr).toContain('LOG_LEVEL');
    expect(stderr.split('\n').length).toBeLessThan(8);
  }, 30_000);

  it('names the TypeScript line of an unexpected error', () => {
    const breakage = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      fs.existsSync = () => { throw new Error('The disk is gone.'); }; syncBuiltinESMExports();`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(breakage)}`, join(root, 'dist/planner.js')],
      { encoding: 'utf8', timeout: 25_000, cwd: folder, env: { PATH: process.env.PATH, CONCLAVE_CONFIG: 'conclave.yaml' } },
    );
    expect(status).toBe(1);
    expect(stderr).toContain('The disk is gone.');
    const places = [...stderr.matchAll(/\((\/[^()]*\/src\/[^()]*\.ts):(\d+):\d+\)/g)];
    const lines = places.map(([, file, line]) => readFileSync(file!, 'utf8').split('\n')[Number(line) - 1]);
    expect(lines[0]).toContain('existsSync(');
    expect(lines.slice(-2)).toEqual([expect.stringContaining('runProcess('), expect.stringContaining('start()')]);
  }, 30_000);

  it.each(['gateway', 'planner', 'experts', 'merger', 'graph-ingest'])(
    'ends with a message when no stores are configured, and creates no data folder: %s',
    (service) => {
      const empty = mkdtempSync(join(folder, 'empty-'));
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, `dist/${service}.js`)], {
        encoding: 'utf8',
        cwd: empty,
        env: { PATH: process.env.PATH },
        timeout: 20_000,
      });
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toContain('Set KAFKA_BROKERS and REDIS_URL');
      expect(readdirSync(empty)).toEqual([]);
    },
    30_000,
  );
});
