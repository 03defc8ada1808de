import { until } from '@conclave/test-support';
import { startRun } from '@conclave/test-support/system';
import { limitFiles, mountSmallDisk, type SmallDisk } from '../world/small-disk.js';
import type { World } from '../world/world.js';
import { inFlight, notReady, pause, recoveryAfter, refusedForRoom, runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

/** Large, because a write-ahead log with free pages has room for many small questions. */
const padding = 'y'.repeat(20_000);

/** Asks until the product has met the full disk. */
async function firstRefusal(world: World): Promise<string> {
  return until(
    'the first refusal',
    async () => {
      const { status, body } = await startRun(world.system.url(), {
        model: 'conclave-fast',
        input: `Load question filler-1-x? ${padding}`,
      });
      return status === 503 && `${status} ${body.error?.code}`;
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
}

/**
 * Without the refusals: asks until the product accepts a run of which it knows nothing afterwards. If none is lost in
 * 20 s, only the runs of the load can show the fault.
 */
async function lostAcceptance(world: World): Promise<string> {
  const input = `Load question unheard-1-x? ${padding}`;
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(100)) {
    const { status, body } = await startRun(world.system.url(), { model: 'conclave-fast', input });
    if (status !== 202) continue;
    const known = await fetch(`${world.system.url()}/v1/runs/${body.id}`);
    await known.body?.cancel();
    if (known.status === 404) return `${body.id} was accepted and is not known`;
  }
  return 'each accepted run of 20 s is known';
}

/** If only a limit of the process is possible, SQLite cannot distinguish it from other write errors. */
async function refusalOf(world: World, { how }: SmallDisk): Promise<string> {
  const first = await firstRefusal(world);
  return how === 'tmpfs' ? refusedForRoom(world) : first;
}

async function full(world: World, disk: SmallDisk): Promise<void> {
  world.behave({ delayMs: { planner: 150, expert: 1_500, composer: 200 }, wordMs: 20 });
  const load = world.load.run({
    runs: world.short ? 8 : 24,
    atOnce: 6,
    everyMs: 300,
    name: 'diskfull',
    // A lost run would be awaited for this long.
    patienceMs: world.controlled ? 8_000 : 90_000,
  });
  try {
    await inFlight(world);
    disk.fill();
    const at = world.fault('the disk is full');
    const refusal = world.controlled ? await lostAcceptance(world) : await refusalOf(world, disk);
    await pause(world.controlled ? 500 : world.short ? 4_000 : 10_000);
    const red = await notReady(world);
    if (red.size === 0) throw new Error('The process says it is ready while nothing can be written.');
    disk.free();
    const room = Date.now();
    await until('it to be ready', async () => (await notReady(world)).size === 0, { timeoutMs: 30_000, everyMs: 50 });
    const ready = Date.now();
    await load;
    world.row({
      name: `full for ${((room - at) / 1000).toFixed(0)} s (${disk.how})`,
      outcome: `${refusal}; ready ${((ready - room) / 1000).toFixed(1)} s after there was room`,
      recoveryMs: recoveryAfter(world, room),
      runs: runsOf(world, 'diskfull'),
    });
  } finally {
    disk.free();
  }
}

const diskFullBy = (mounted: boolean): Scenario => ({
  name: mounted ? 'disk-full' : 'disk-full-limit',
  promise:
    'On a full disk every append is refused with a clear error, nothing is acknowledged that is not stored, and work continues when there is room.',
  fault: mounted
    ? 'the file system of the data folder is filled to the last byte under load (if mounting is not allowed: no file may grow)'
    : 'no file of the process can grow (RLIMIT_FSIZE), under load',
  modes: ['embedded'],
  controls: mounted ? [{ without: 'store-refusals', check: 'acknowledged-appends' }] : [],
  bounds: { terminalMs: 90_000, soundRecords: true },
  limitS: 180,
  ci: mounted ? ['embedded'] : [],
  async run(world) {
    await world.warmUp();
    const process = world.system.process('gateway');
    await process.stop();
    const mount = mounted ? mountSmallDisk(world.system.home) : null;
    await process.restart();
    const disk = mount ?? limitFiles(world.system.home, process.pid!);
    try {
      await full(world, disk);
    } finally {
      if (mount) {
        await process.stop(15_000);
        mount.remove();
        await process.restart();
      }
    }
  },
});

export const diskFull = diskFullBy(true);
/** The method for users who may not mount, selected by its name. */
export const diskFullLimit = diskFullBy(false);
