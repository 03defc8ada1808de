import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '@conclave/test-support';
import { readRun, runEnd, startRun, System, workspaceRoot } from '@conclave/test-support/system';
import { endOf, patientConfiguration, requestOf, rightEnd } from './patient-runs.js';
import { startSecuredCluster, type KafkaUser, type SecuredCluster } from './kafka-cluster.js';

const fact = (sentence: string): void => {
  if (process.env['CHECK_FACTS']) appendFileSync(process.env['CHECK_FACTS'], `${sentence}\n`);
};
const prefix = 'secured.';
const runs = 24;
const patienceMs = 900_000;

let cluster: SecuredCluster;
let system: System | undefined;
const folder = mkdtempSync(path.join(tmpdir(), 'conclave-brokers-check-'));

const kafkaSection = () => ({
  brokers: cluster.brokers,
  topic_prefix: prefix,
  partitions: 6,
  replication: 3,
  sasl: { mechanism: 'scram-sha-512', user_env: 'KAFKA_USER', password_env: 'KAFKA_PASSWORD' },
  ssl: { ca_file: cluster.caFile, cert_file: cluster.service.certFile, key_file: cluster.service.keyFile },
});
const login = () => ({ KAFKA_USER: cluster.service.user, KAFKA_PASSWORD: cluster.service.password });

const clientOf = ({ user, password, certFile, keyFile }: KafkaUser, withCertificate = true): Kafka =>
  new Kafka({
    brokers: [...cluster.brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 1 },
    sasl: { mechanism: 'scram-sha-512', username: user, password },
    ssl: { ca: [readFileSync(cluster.caFile)], ...(withCertificate ? { cert: readFileSync(certFile), key: readFileSync(keyFile) } : {}) },
  });

/** `conclave topics ...` against the cluster, as the service's user. */
const topicsCommand = (...args: string[]) => {
  const file = path.join(folder, 'conclave.yaml');
  writeFileSync(file, JSON.stringify({ stores: { kafka: kafkaSection(), redis: { url: 'redis://127.0.0.1:1' } } }));
  const env = { ...process.env, ...login(), CONCLAVE_CONFIG: file, KAFKA_BROKERS: '', KAFKA_TOPIC_PREFIX: '', REDIS_URL: '' };
  return promisify(execFile)(process.execPath, [path.join(workspaceRoot, 'dist/standalone.js'), 'topics', ...args], {
    env,
    timeout: 60_000,
  });
};

beforeAll(async () => {
  cluster = await startSecuredCluster();
});
afterAll(async () => {
  await system?.stop();
  await cluster?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

describe('three brokers that require a certificate and a password', () => {
  it('grant what `conclave topics plan` prints, by Kafka’s own commands, and nothing before that', async () => {
    await until(
      'the cluster to answer',
      async () => {
        const { stdout } = await promisify(execFile)(
          path.join(cluster.commands, 'kafka-topics.sh'),
          ['--bootstrap-server', cluster.brokers.join(','), '--command-config', cluster.operatorConfig, '--list'],
          { timeout: 60_000 },
        );
        return stdout !== undefined;
      },
      { timeoutMs: patienceMs },
    );

    const admin = clientOf(cluster.service).admin();
    await admin.connect();
    await expect(admin.createTopics({ topics: [{ topic: 'mine' }], waitForLeaders: false })).rejects.toMatchObject({
      errors: [{ type: 'TOPIC_AUTHORIZATION_FAILED' }],
    });
    await admin.disconnect();
    await expect(clientOf(cluster.service, false).admin().connect()).rejects.toThrow();
    await expect(
      clientOf({ ...cluster.service, password: 'wrong' })
        .admin()
        .connect(),
    ).rejects.toThrow(/SASL|[Aa]uthentication/);

    const { stdout } = await topicsCommand('plan', '--principal', 'User:conclave', '--command-config', cluster.operatorConfig);
    const commands = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const env = { ...process.env, PATH: `${cluster.commands}:${process.env['PATH']}` };
    // Topics before their settings and rights; three at a time, because each is a start of Java.
    for (const program of ['kafka-topics.sh', 'kafka-configs.sh', 'kafka-acls.sh']) {
      const waiting = commands.filter((line) => line.startsWith(program));
      expect(waiting.length).toBeGreaterThan(3);
      const worker = async (): Promise<void> => {
        for (let line = waiting.shift(); line !== undefined; line = waiting.shift())
          // A command may be repeated safely, which a busy machine may require.
          await until(line, () => promisify(execFile)('sh', ['-c', line!], { env, timeout: 240_000 }), {
            timeoutMs: patienceMs,
            everyMs: 1_000,
          });
      };
      await Promise.all([worker(), worker(), worker()]);
    }
    const { stdout: verdict } = await topicsCommand('check');
    expect(verdict).toMatch(/^All \d+ topics on Kafka at .* match the plan\.$/m);
    fact(
      `${commands.length} commands of \`conclave topics plan\` ran unchanged; \`conclave topics check\`, as the user of the services: ${verdict.trim().replace(/ on Kafka at \S+( \S+)*? match/, ' match')}`,
    );
    fact('Refused: a client without certificate, a wrong password, and a topic that the plan does not contain.');
  });

  it('keep a user without grants away from the records', async () => {
    const consumer = clientOf(cluster.stranger).consumer({ groupId: `${prefix}planner` });
    await consumer.connect();
    await expect(consumer.subscribe({ topics: [`${prefix}audit`] })).rejects.toThrow();
    await consumer.disconnect();
  });

  it('lose one of them in the middle of the work, but no run', async () => {
    system = await System.start({
      mode: 'distributed',
      experts: 2,
      configuration: { ...patientConfiguration, stores: { kafka: kafkaSection() } },
      env: { KAFKA_BROKERS: cluster.brokers.join(','), ...login() },
    });
    const url = system.url();
    const ids: string[] = [];
    const ask = async (n: number): Promise<void> => {
      const { status, body } = await startRun(url, requestOf(n));
      expect(status).toBe(202);
      ids.push(body.id);
    };
    const ended = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => readRun(url, id)))).filter(({ terminal }) => terminal).length;
    for (let n = 0; n < runs / 2; n += 1) await ask(n);
    await until('the first runs to end', async () => (await ended()) >= 3, { timeoutMs: patienceMs });
    const before = await ended();
    expect(before).toBeLessThan(ids.length);
    const killedAt = Date.now();
    await cluster.kill(1);
    // Accepted while a broker is away: records need two copies, and two brokers are left.
    for (let n = runs / 2; n < runs; n += 1) await ask(n);
    const acceptedWithin = Date.now() - killedAt;
    const ends = await Promise.all(
      ids.map((id) => until(`the end of ${id}`, () => runEnd(url, id, patienceMs), { timeoutMs: patienceMs })),
    );
    expect(ends.map((run, n) => endOf(n, run))).toEqual(ids.map((_, n) => rightEnd(n)));
    fact(
      `${runs} runs, ${before} of them ended when a broker was killed (SIGKILL): all completed, each with the right answer to its own question, the last ${Math.round((Date.now() - killedAt) / 1000)} s after it; the ${runs / 2} that were asked while it was away were all accepted within ${(acceptedWithin / 1000).toFixed(1)} s.`,
    );

    await cluster.start(1);
    const { id } = (await startRun(url, requestOf(runs))).body;
    expect(endOf(runs, await runEnd(url, id, patienceMs))).toEqual(rightEnd(runs));
    const admin = clientOf(cluster.service).admin();
    await admin.connect();
    await until(
      'every copy to be in sync again',
      async () => {
        const topics = (await admin.listTopics()).filter((name) => name.startsWith(prefix));
        const { topics: found } = await admin.fetchTopicMetadata({ topics });
        return found.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 3));
      },
      { timeoutMs: patienceMs },
    );
    await admin.disconnect();
    expect(system.output()).not.toContain(cluster.service.password);
    fact(
      'The broker came back and every partition had three copies in sync again; its user and password are in no log line of the services.',
    );
  });
});
