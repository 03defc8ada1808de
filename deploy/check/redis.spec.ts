import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { until } from '@conclave/test-support';
import { readRun, runEnd, startRun, System } from '@conclave/test-support/system';
import { endOf, patientConfiguration, requestOf, rightEnd } from './patient-runs.js';
import { startReplicatedCluster, type ReplicatedCluster } from './redis-cluster.js';

const fact = (sentence: string): void => {
  if (process.env['CHECK_FACTS']) appendFileSync(process.env['CHECK_FACTS'], `${sentence}\n`);
};
const runs = 24;
const patienceMs = 900_000;

let cluster: ReplicatedCluster;
let system: System | undefined;

beforeAll(async () => {
  cluster = await startReplicatedCluster();
});
afterAll(async () => {
  await system?.stop();
  await cluster?.dispose();
});

describe('a Redis Cluster of three primaries with a replica each', () => {
  it('loses a primary in the middle of the work; its replica takes over, and every run ends right', async () => {
    system = await System.start({
      mode: 'distributed',
      experts: 2,
      env: { REDIS_URL: cluster.url },
      configuration: { ...patientConfiguration, stores: { redis: { url: cluster.url, cluster: true } } },
    });
    const url = system.url();
    const ids: string[] = [];
    const refused: string[] = [];
    const ask = async (n: number): Promise<void> => {
      // What a client does: the same request with the same key until it is accepted.
      await until(
        `run ${n} to be accepted`,
        async () => {
          const { status, body } = await startRun(url, requestOf(n), { 'idempotency-key': `redis-${n}` });
          if (status === 202) return ids.push(body.id);
          refused.push(`${status} ${body.error?.code}`);
          return false;
        },
        { timeoutMs: patienceMs, everyMs: 250 },
      );
    };
    for (let n = 0; n < runs / 2; n += 1) await ask(n);
    const ended = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => readRun(url, id)))).filter(({ terminal }) => terminal).length;
    await until('the first runs to end', async () => (await ended()) >= 3, { timeoutMs: patienceMs });
    const before = await ended();
    expect(before).toBeLessThan(ids.length);

    const killedAt = Date.now();
    await cluster.primaries[1]!.kill();
    for (let n = runs / 2; n < runs; n += 1) await ask(n);
    const acceptedWithin = Date.now() - killedAt;
    const ends = await Promise.all(
      ids.map((id) => until(`the end of ${id}`, () => runEnd(url, id, patienceMs), { timeoutMs: patienceMs })),
    );
    const replica = new Redis(cluster.replicas[1]!.url);
    expect(await replica.info('replication')).toMatch(/role:master/);
    replica.disconnect();
    expect(ends.map((run, n) => endOf(n, run))).toEqual(ids.map((_, n) => rightEnd(n)));
    expect(new Set(ids).size).toBe(runs);
    fact(
      `${runs} runs, ${before} of them ended when a primary was killed (SIGKILL): its replica took over, and all completed, each with the right answer to its own question, the last ${Math.round((Date.now() - killedAt) / 1000)} s after it.`,
    );
    fact(
      `The ${runs / 2} that were asked meanwhile were accepted within ${(acceptedWithin / 1000).toFixed(1)} s; until the replica had taken over, ${refused.length} requests were refused (${[...new Set(refused)].join(', ') || 'none'}) and sent again.`,
    );
  });
});
