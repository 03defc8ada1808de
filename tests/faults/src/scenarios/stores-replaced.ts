import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@conclave/test-support';
import { conclave } from '../world/command.js';
import type { World } from '../world/world.js';
import { inFlight, notReady, pause, recoveryAfter, runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

/** Ends Redis, lets its data folder be changed, and starts it again on its port. */
async function swap(world: World, change: (data: string) => void): Promise<void> {
  const redis = world.servers.redis!;
  await redis.kill('SIGKILL');
  const data = join(redis.folder, 'data');
  rmSync(data, { recursive: true });
  mkdirSync(data);
  change(data);
  await redis.restart();
}

/** Replaces the correct state store with another one while runs are under way, and rebuilds it as an operator would. */
async function replaced(world: World, name: string, replace: () => Promise<void>): Promise<void> {
  world.behave({ delayMs: { planner: 100, expert: 1_500, composer: 200 } });
  const load = world.load.run({
    runs: world.short ? 4 : 10,
    atOnce: 5,
    everyMs: 200,
    name,
    wallTimeS: 120,
    // A lost run would be awaited for this long.
    patienceMs: world.controlled ? 30_000 : 110_000,
  });
  await inFlight(world);
  const at = world.fault(name);
  await replace();
  if (world.controlled) {
    await load;
    return;
  }
  const processes = world.system.all().size;
  await until('every process to be red', async () => (await notReady(world)).size === processes, { timeoutMs: 30_000, everyMs: 100 });
  const redAt = Date.now();
  const calls = world.system.models.calls.length;
  await pause(3_000);
  const more = world.system.models.calls.length - calls;
  if (more > 0) throw new Error(`${more} model calls were begun on a store that is not ours.`);
  const began = Date.now();
  const { code, text } = await conclave(world, ['recover']);
  if (code !== 0) throw new Error(`conclave recover ended with ${code}: ${text}`);
  const recovered = Date.now();
  await until('all to be ready after recover', async () => (await notReady(world)).size === 0, { timeoutMs: 60_000, everyMs: 100 });
  const ready = Date.now();
  await load;
  world.row({
    name: `${name}: red after ${((redAt - at) / 1000).toFixed(1)} s, nothing consumed`,
    outcome: `recover took ${((recovered - began) / 1000).toFixed(1)} s, all ready ${((ready - recovered) / 1000).toFixed(1)} s later`,
    recoveryMs: recoveryAfter(world, at),
    runs: runsOf(world, name),
  });
}

const shared = {
  promise: 'A state store that does not belong to the log is never used; after `conclave recover` every accepted run ends exactly once.',
  modes: ['distributed'],
  bounds: { terminalMs: 150_000, answered: 0.5, streamsAnewAbove: 1_000_000 },
  limitS: 300,
  ci: ['distributed'],
  system: { servers: ['redis'] },
} as const;

export const redisReplaced: Scenario = {
  ...shared,
  name: 'redis-replaced',
  fault: 'Redis is killed and an empty one is started at its address while runs are open',
  controls: [{ without: 'store-identity', check: 'one-terminal-event', ci: false }],
  async run(world) {
    await world.warmUp();
    await replaced(world, 'emptied', () => swap(world, () => undefined));
  },
};

export const redisOlder: Scenario = {
  ...shared,
  name: 'redis-older',
  fault: 'Redis is killed and started on a copy of its data that is seven seconds old, while runs are open',
  controls: [{ without: 'store-identity', check: 'one-terminal-event', ci: false }],
  async run(world) {
    await world.warmUp();
    const redis = world.servers.redis!;
    const copy = join(redis.folder, 'older');
    await redis.kill('SIGSTOP');
    cpSync(join(redis.folder, 'data'), copy, { recursive: true });
    await redis.kill('SIGCONT');
    // Every process renews its lease twice in the meantime, which makes the store newer than its copy.
    await pause(7_000);
    await replaced(world, 'older', () => swap(world, (data) => cpSync(copy, data, { recursive: true })));
  },
};
