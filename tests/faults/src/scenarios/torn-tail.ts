import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '@conclave/adapter-sqlite';
import { readHistory, until, type HistoryEntry } from '@conclave/test-support';
import { contentOf, type FolderContent } from '../world/folder-content.js';
import { secondLife } from '../world/second-life.js';
import type { World } from '../world/world.js';
import { readWriteAheadLog, type WriteAheadLog } from '../world/write-ahead-log.js';
import { inFlight, pause, recoveryAfter, runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

/** The folder as it was at a moment when nothing could write. */
interface Remains {
  readonly folder: string;
  readonly log: WriteAheadLog;
  readonly history: readonly HistoryEntry[];
}

/** Transactions that the tail must still contain, so that it is worth tearing. */
const fewestCommits = 12;
const pageBytes = 4_096;

/** Stops the process with SIGSTOP while it writes, and copies what a kill at this moment would leave. The process stays stopped. */
async function standstill(world: World): Promise<Remains> {
  const process = world.system.process('gateway');
  const folder = join(world.system.folder, 'remains');
  for (let tries = 0; tries < 40; tries++) {
    process.signal('SIGSTOP');
    // The kernel finishes a write that it has begun.
    await pause(20);
    const remains = remainsOf(world, folder);
    if (remains.log.commits.length > fewestCommits) return remains;
    process.signal('SIGCONT');
    await pause(150);
  }
  throw new Error(`The write-ahead log never held more than ${fewestCommits} transactions that can be torn.`);
}

/** Copies the folder of a process that stands still. */
function remainsOf(world: World, folder: string): Remains {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const file of ['conclave.db', 'conclave.db-wal', 'conclave.db-shm']) {
    const from = join(world.system.home, file);
    if (existsSync(from)) copyFileSync(from, join(folder, file));
  }
  const log = readWriteAheadLog(join(folder, 'conclave.db-wal'), join(folder, 'conclave.db-shm'));
  return { folder, log, history: readHistory(join(world.system.folder, 'history.ndjson')) };
}

/**
 * Lets the process stop itself as soon as it acts on the acknowledgement of a step, which is the first moment at which the death of the
 * process may lose nothing of it; then kills it.
 */
async function killBehindAcknowledgement(world: World): Promise<void> {
  const process = world.system.process('gateway');
  await process.stop();
  const began = Date.now();
  await process.restart({ FREEZE_AT: 'merger:engine-committed#5' });
  world.behave({ delayMs: { planner: 100, expert: 100 } });
  const load = world.load.run({ runs: 3, atOnce: 3, name: 'acknowledged', patienceMs: world.controlled ? 5_000 : 60_000 });
  const { id } = await until(
    'the process to stop itself',
    () => world.system.history().find(({ op, phase, at }) => op === 'engine-committed' && phase === 'freeze' && at >= began),
    { timeoutMs: 20_000, everyMs: 20 },
  );
  const remains = remainsOf(world, join(world.system.folder, 'acknowledged'));
  const at = world.fault(`SIGKILL behind the step of ${id}`);
  await process.kill('SIGKILL');
  await load;
  const acknowledged = checkAcknowledged(world, remains, await opened(tornCopy(remains, remains.log.bytes)));
  world.row({
    name: `killed behind the last of ${acknowledged} acknowledgements`,
    outcome: 'went on',
    recoveryMs: recoveryAfter(world, at),
    runs: runsOf(world, 'acknowledged'),
  });
}

/** A copy of the remains with another end of its write-ahead log, as the next start finds it. */
function tornCopy({ folder }: Remains, wal: Buffer): string {
  const to = `${folder}-torn`;
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  copyFileSync(join(folder, 'conclave.db'), join(to, 'conclave.db'));
  writeFileSync(join(to, 'conclave.db-wal'), wal);
  return to;
}

/** Hundreds of files are opened in a row; the model servers of other scenarios in the same process must be able to answer in between. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Opens a copy as the product does, closes it, and reads its content. */
async function opened(home: string): Promise<FolderContent> {
  await breathe();
  await openSqlite({ home, processId: 'checker', durability: 'process', prunes: false }).close();
  return contentOf(home);
}

/** The content after each prefix of whole transactions; throws unless each one continues the one before and state and log agree in it. */
async function prefixes(remains: Remains, from: number): Promise<ReadonlyMap<number, FolderContent>> {
  const found = new Map<number, FolderContent>();
  let before: FolderContent | null = null;
  for (const end of remains.log.commits.slice(from)) {
    await breathe();
    const content = contentOf(tornCopy(remains, remains.log.bytes.subarray(0, end)));
    if (before && !startsWith(content.records, before.records))
      throw new Error(`The records up to byte ${end} do not continue those before.`);
    if (content.missingOutputs.length > 0)
      throw new Error(`Up to byte ${end} the log lacks outputs of applied steps: ${content.missingOutputs.join(', ')}`);
    found.set(end, content);
    before = content;
  }
  return found;
}

const startsWith = (long: readonly string[], short: readonly string[]): boolean => short.every((record, n) => long[n] === record);

/** Every acknowledged append of a killed process is readable, in the order of its log. Returns their number; throws if there is none. */
function checkAcknowledged(world: World, { history }: Remains, whole: FolderContent): number {
  const ids = history
    .filter(({ op, phase, actor }) => op === 'publish' && phase === 'ok' && actor !== 'injector')
    .flatMap(({ data }) => (data as { events: readonly { id: string; topic: string }[] }).events.map(({ id }) => id));
  const readable = new Set(whole.eventIds);
  if (ids.length === 0) throw new Error('No append was acknowledged before the kill.');
  for (const id of ids) if (!readable.has(id)) world.breaks(id, 'It was acknowledged and is gone after the kill.');
  return ids.length;
}

interface Damage {
  readonly what: string;
  readonly wal: Buffer;
  /** Where the last whole transaction ends. */
  readonly end: number;
}

/** Every byte of the last frame (or every `step`-th), every boundary of a frame in the tail, and single bits all over it. */
function* damages({ bytes, commits, frames, frameBytes }: WriteAheadLog, from: number, step: number): Generator<Damage> {
  const endBefore = (at: number) => commits.findLast((end) => end <= at)!;
  const tail = frames.filter((frame) => frame >= commits[from]!);
  for (const frame of tail) yield { what: `cut at frame ${frame}`, wal: bytes.subarray(0, frame), end: endBefore(frame) };
  const last = tail.at(-1)!;
  for (let at = last + 1; at < last + frameBytes; at += at - last < 32 ? 1 : step)
    yield { what: `cut at byte ${at}`, wal: bytes.subarray(0, at), end: endBefore(at) };
  for (const [n, frame] of tail.entries()) {
    const at = frame + ((n * 997) % frameBytes);
    const wal = Buffer.from(bytes);
    wal[at]! ^= 1 << (n % 8);
    yield { what: `bit ${n % 8} of byte ${at} flipped`, wal, end: endBefore(frame) };
  }
}

export const tornTail: Scenario = {
  name: 'torn-tail',
  promise: 'A torn embedded file opens with exactly the complete transactions before the damage; a kill alone loses nothing acknowledged.',
  fault:
    'kill -9 right behind an acknowledgement, and under load; then copies of the remaining files with the write-ahead log cut at every frame of its tail, at every byte of the last frame (every 128th in the short form), and with single bits flipped',
  modes: ['embedded'],
  controls: [{ without: 'durable-acks', check: 'own-promise' }],
  bounds: { terminalMs: 90_000 },
  limitS: 300,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    await killBehindAcknowledgement(world);
    // What is torn afterwards was written with the protection or without it.
    if (world.controlled) return;
    world.behave({ delayMs: { planner: 100, expert: 700, composer: 200 }, wordMs: 30 });
    const load = world.load.run({ runs: world.short ? 8 : 20, atOnce: 5, everyMs: 200, name: 'torn', twoRounds: (n) => n % 3 === 0 });
    await inFlight(world);
    await pause(500);
    const remains = await standstill(world);
    const at = world.fault('SIGKILL of the standing process');
    await world.system.process('gateway').kill('SIGKILL');
    await load;
    world.row({ name: 'killed', outcome: 'went on', recoveryMs: recoveryAfter(world, at), runs: runsOf(world, 'torn') });

    const { log } = remains;
    const tailLength = world.short ? fewestCommits : 60;
    const from = Math.max(0, log.commits.length - 1 - tailLength);
    const whole = await opened(tornCopy(remains, log.bytes));
    const acknowledged = checkAcknowledged(world, remains, whole);
    const expected = await prefixes(remains, from);
    let judged = 0;
    for (const { what, wal, end } of damages(log, from, world.short ? 128 : 1)) {
      const content = await opened(tornCopy(remains, wal));
      const { records, rest } = expected.get(end)!;
      if (content.records.join() !== records.join() || content.rest !== rest)
        throw new Error(
          `${what}: it opens to ${content.records.length} records (state ${content.rest}) instead of the ${records.length} (state ${rest}) of the whole transactions before.`,
        );
      judged += 1;
    }
    world.row({
      name: `${acknowledged} acknowledged appends`,
      outcome: `all readable; ${judged} torn files, each its prefix`,
      recoveryMs: null,
      runs: [],
    });

    const ends = [...expected.keys()];
    for (const end of world.short ? [ends[Math.floor(ends.length / 2)]!] : [ends[0]!, ends[Math.floor(ends.length / 2)]!, ends.at(-2)!]) {
      // Half a page of the next transaction follows the complete ones.
      const home = tornCopy(remains, log.bytes.subarray(0, end + pageBytes / 2));
      const { runs, calls, readyMs } = await secondLife(world, home, expected.get(end)!);
      world.row({
        name: `started on a file torn at ${end}`,
        outcome: `ready after ${(readyMs / 1000).toFixed(1)} s, ${runs} open runs ended with ${calls} calls`,
        recoveryMs: null,
        runs: [],
      });
    }
  },
};
