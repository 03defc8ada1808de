import { until } from '@conclave/test-support';
import { Redis } from 'ioredis';
import { repeatAll } from '../world/inject.js';
import type { World } from '../world/world.js';
import { inFlight, notReady, pause, recoveryAfter, refusedForRoom, runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

/** Runs at every stage of their work when it happens, and some that are requested while the server is away. */
function busy(world: World, name: string, lostAfterMs = 30_000): Promise<unknown> {
  world.behave({ delayMs: { planner: 150, expert: 1_200, composer: 200 }, wordMs: 20 });
  return world.load.run({
    runs: world.short ? 10 : 30,
    atOnce: 6,
    everyMs: 300,
    name,
    twoRounds: (n) => n % 3 === 0,
    // A lost run would be awaited for this long.
    patienceMs: world.controlled ? lostAfterMs : 90_000,
  });
}

/**
 * Kills a server in the middle of its writes and starts it again on the same data, once or several times. `meanwhile` happens while it is
 * away.
 */
async function killed(
  world: World,
  server: 'kafka' | 'redis',
  awayMs: readonly number[],
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<void> {
  const own = world.servers[server]!;
  await world.warmUp();
  const load = busy(world, server);
  for (const ms of awayMs) {
    await inFlight(world, 2);
    const at = world.fault(`SIGKILL of ${server}`);
    await own.kill('SIGKILL');
    await meanwhile();
    await pause(ms);
    await own.restart();
    const back = Date.now();
    await until(`all to be ready after ${server}`, async () => (await notReady(world)).size === 0, { timeoutMs: 60_000, everyMs: 100 });
    const ready = Date.now();
    if (ms === awayMs.at(-1)) await load;
    world.row({
      name: `${server} away for ${((back - at) / 1000).toFixed(1)} s`,
      outcome: `all ready ${((ready - back) / 1000).toFixed(1)} s after it was back`,
      recoveryMs: recoveryAfter(world, at),
      runs: runsOf(world, server),
    });
  }
}

export const brokerKilled: Scenario = {
  name: 'broker-killed',
  promise: 'If the broker dies in the middle of writes, no acknowledged write is lost, and no record becomes a dead letter.',
  fault: 'kill -9 of the broker under load, restarted on the same data after 0.5, 8 and 40 s (0.5 s in the short form)',
  modes: ['distributed'],
  controls: [{ without: 'outage-pause', check: 'one-effective-outcome', ci: false }],
  bounds: { accepted: 8, terminalMs: 90_000, soundRecords: true },
  limitS: 400,
  ci: ['distributed'],
  system: { servers: ['kafka'] },
  // Without the pause a record is blamed five times, each time after the client's own retries: only the last and longest of these outages is
  // long enough for that.
  run: (world) => killed(world, 'kafka', world.controlled ? [40_000] : world.short ? [500] : [500, 8_000, 40_000]),
};

export const redisKilled: Scenario = {
  name: 'redis-killed',
  promise:
    'If Redis dies in the middle of writes, no acknowledged write is lost; work waits for Redis, and no record becomes a dead letter.',
  fault:
    'kill -9 of Redis under load; every record of the log arrives once more while it is away; restarted on the same data 0.3 and 12 s later (2 s in the short form)',
  modes: ['distributed'],
  controls: [{ without: 'outage-pause', check: 'one-effective-outcome', ci: false }],
  bounds: { accepted: 8, terminalMs: 90_000, soundRecords: true },
  limitS: 180,
  ci: ['distributed'],
  system: { servers: ['redis'] },
  // What is in flight waits at its call. Only records that arrive in the meantime can be blamed: five times, in about 3 s.
  run: (world) =>
    killed(world, 'redis', world.controlled ? [40_000] : world.short ? [2_000] : [300, 12_000], () =>
      repeatAll(world, (records) => [...records]),
    ),
};

/** Redis accepts no more bytes, then has room again. */
export const redisFull: Scenario = {
  name: 'redis-full',
  promise:
    'A full state store refuses with a clear error, acknowledges nothing that it has not stored, and works again when there is room.',
  fault: 'maxmemory of Redis (noeviction) is lowered below its present use, for some seconds under load',
  modes: ['distributed'],
  controls: [{ without: 'store-refusals', check: 'commit-after-effect', ci: false }],
  bounds: { accepted: 8, terminalMs: 90_000, soundRecords: true },
  limitS: 180,
  ci: ['distributed'],
  system: { servers: ['redis'] },
  async run(world) {
    await world.warmUp();
    const load = busy(world, 'full', 12_000);
    await inFlight(world, 2);
    const redis = new Redis(world.servers.redis!.url);
    try {
      await redis.config('SET', 'maxmemory', '1');
      const at = world.fault('Redis is full');
      await pause(1_000);
      const refusal = world.controlled ? 'nothing refused' : await refusedForRoom(world);
      await pause(world.short ? 5_000 : 10_000);
      const red = await notReady(world);
      await redis.config('SET', 'maxmemory', '0');
      const room = Date.now();
      await until('all to be ready', async () => (await notReady(world)).size === 0, { timeoutMs: 30_000, everyMs: 100 });
      await load;
      world.row({
        name: `full for ${((room - at) / 1000).toFixed(0)} s`,
        outcome: `${refusal}, ${red.size} processes red, then continued`,
        recoveryMs: recoveryAfter(world, room),
        runs: runsOf(world, 'full'),
      });
    } finally {
      await redis.config('SET', 'maxmemory', '0');
      redis.disconnect();
    }
  },
};
