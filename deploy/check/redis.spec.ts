import { appendFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { until } from '@conclave/test-support';
import { startReplicatedCluster, startWatchedRedis } from '@conclave/test-support/real-servers';
import { readRun, runEnd, startRun, System } from '@conclave/test-support/system';
import { endOf, patientConfiguration, requestOf, rightEnd } from './patient-runs.js';

const fact = (sentence: string): void => {
  if (process.env['CHECK_FACTS']) appendFileSync(process.env['CHECK_FACTS'], `${sentence}\n`);
};
const runs = 24;
const patienceMs = 900_000;

/** Servers of which one is killed in the middle of the work. */
interface Servers {
  readonly settings: { readonly url: string };
  readonly env: Readonly<Record<string, string>>;
  kill(): Promise<void>;
  /** Addresses of the replicas, one of which must take over. */
  readonly successors: readonly string[];
  dispose(): Promise<void>;
}

/** Each primary stores something that the others do not, such as leases and settings. */
async function ofCluster(nth: number): Promise<Servers> {
  const { url, primaries, replicas, dispose } = await startReplicatedCluster();
  const settings = { url, cluster: true };
  return { settings, env: {}, kill: () => primaries[nth]!.kill(), successors: [replicas[nth]!.url], dispose };
}

async function withSentinels(): Promise<Servers> {
  const { master, password, sentinels, sentinelPassword, servers, dispose } = await startWatchedRedis({ replicas: 2 });
  const settings = {
    // No server has this address: the sentinels name the primary.
    url: 'redis://redis.invalid:6379',
    password_env: 'REDIS_PASSWORD',
    sentinel: { master, addresses: sentinels, password_env: 'SENTINEL_PASSWORD' },
    replicas: 1,
  };
  const env = { REDIS_PASSWORD: password, SENTINEL_PASSWORD: sentinelPassword };
  return { settings, env, kill: () => servers[0]!.kill(), successors: servers.slice(1).map(({ url }) => url), dispose };
}

let servers: Servers | undefined;
let system: System | undefined;

afterEach(async () => {
  await system?.stop();
  await servers?.dispose();
  [servers, system] = [undefined, undefined];
});

describe.each([
  ['a Redis Cluster of three primaries with a replica each, the first', 'Cluster, primary 1 of 3', () => ofCluster(0)],
  ['a Redis Cluster of three primaries with a replica each, the second', 'Cluster, primary 2 of 3', () => ofCluster(1)],
  ['a Redis Cluster of three primaries with a replica each, the third', 'Cluster, primary 3 of 3', () => ofCluster(2)],
  ['a primary and two replicas that three sentinels watch, with `replicas: 1`', 'Sentinel, `replicas: 1` of two', withSentinels],
] as const)('%s', (_, kind, start) => {
  it('loses a primary in the middle of the work; its replica takes over, and every run ends correctly', async () => {
    servers = await start();
    system = await System.start({
      mode: 'distributed',
      experts: 2,
      env: { ...servers.env, REDIS_URL: servers.settings.url },
      configuration: { ...patientConfiguration, stores: { redis: servers.settings } },
    });
    const url = system.url();
    const ids: string[] = [];
    const refused: string[] = [];
    const ask = async (n: number): Promise<void> => {
      // Like a client: the same request with the same key until it is accepted.
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
    await servers.kill();
    for (let n = runs / 2; n < runs; n += 1) await ask(n);
    const acceptedWithin = Date.now() - killedAt;
    const ends = await Promise.all(
      ids.map((id) => until(`the end of ${id}`, () => runEnd(url, id, patienceMs), { timeoutMs: patienceMs })),
    );
    const roles = await Promise.all(
      servers.successors.map(async (address) => {
        const redis = new Redis(address);
        const role = /role:(\w+)/.exec(await redis.info('replication'))?.[1];
        redis.disconnect();
        return role;
      }),
    );
    expect(roles.filter((role) => role === 'master')).toHaveLength(1);
    expect(ends.map((run, n) => endOf(n, run))).toEqual(ids.map((_id, n) => rightEnd(n)));
    expect(new Set(ids).size).toBe(runs);
    for (const secret of Object.values(servers.env)) expect(system.output()).not.toContain(secret);
    fact(
      `${kind}: ${runs} runs, ${before} of them ended when the primary was killed (SIGKILL): a replica took over, and all completed, each with the right answer to its own question, the last ${Math.round((Date.now() - killedAt) / 1000)} s after it.`,
    );
    fact(
      `${kind}: the ${runs / 2} that were asked meanwhile were accepted within ${(acceptedWithin / 1000).toFixed(1)} s; until then, ${refused.length} requests were refused (${[...new Set(refused)].join(', ') || 'none'}) and sent again.`,
    );
  });
});
