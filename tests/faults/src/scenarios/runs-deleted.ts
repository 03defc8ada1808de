import { randomBytes } from 'node:crypto';
import { until } from '@conclave/test-support';
import { plainTemplate } from '@conclave/test-support/system';
import { cancelled, Deletions } from '../world/deletions.js';
import { remainsOf } from '../world/remains.js';
import type { World } from '../world/world.js';
import { everyRun, pause, recoveryAfter, runsOf } from './measure.js';
import type { Afterwards, Scenario } from './scenario.js';

/** Fills every cache, and teaches the vectors and the knowledge graph. */
const learningModel = 'remembers';
const treeModel = 'remembers-tree';
const settleMs = 120_000;
const leastKills = 4;
/** A record that is in flight at three deaths is rightly blamed for them: what two kills have hit is done before the next one. */
const killsPerRound = 2;
/** Milliseconds between a start and the next kill, at least. In embedded mode the kill also hits the learner's call. */
const leastPauseMs = { embedded: 3_000, distributed: 2_000 } as const;
const mostRounds = 4;

/** What becomes of the n-th run of a load. Half of them stay. */
const fates = ['stays', 'deleted when it has ended', 'stays', 'deleted while it is open', 'stays', 'cancelled'] as const;
/** Of the runs that are deleted when they have ended, those of an even round of fates are being learned from. */
const isLearned = (n: number): boolean => Math.floor(n / fates.length) % 2 === 1;
/** Longest wait in milliseconds for the learner: a run without an answer teaches nothing. */
const learnerMs = 15_000;
const fateOf = (n: number): (typeof fates)[number] => fates[n % fates.length]!;

/** Killed in turn: the engine, who learns from runs, and who deletes them. In embedded mode all of them are one process. */
const victims = ['merger', 'graph-ingest', 'merger', 'gateway'] as const;

/** Kills one process after the other until `isOver`; the first is the n-th. */
async function killUntil(world: World, first: number, isOver: () => boolean, killed: () => void): Promise<void> {
  let seed = 20_261_127;
  const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let n = first; !isOver(); n += 1) {
    const name = victims[n % victims.length]!;
    const victim = world.system.process(name);
    await pause(leastPauseMs[world.mode] + random() * 2_000);
    if (isOver()) break;
    world.fault(`SIGKILL of ${name}`);
    if ((await victim.kill('SIGKILL')).signal === 'SIGKILL') killed();
    await victim.ready();
  }
}

/** Resolves when the learner is at its call about the run. */
async function untilLearner({ load, system }: World, runId: string): Promise<void> {
  const { question } = load.asked.find((asked) => asked.runId === runId)!;
  const deadline = Date.now() + learnerMs;
  const isAtCall = (): boolean =>
    system.models.calls.some(({ step, messages }) => step === 'load learner' && JSON.stringify(messages).includes(question));
  await until(`the learner of ${runId}`, () => isAtCall() || Date.now() > deadline, { timeoutMs: 2 * learnerMs, everyMs: 10 });
}

async function storm(world: World): Promise<Afterwards> {
  await world.warmUp();
  const deletions = new Deletions(world);
  const deadline = Date.now() + settleMs + (world.short ? 0 : 60_000);
  const ending: Promise<unknown>[] = [];
  const faults: string[] = [];
  const left = (): number => Math.max(1, deadline - Date.now());

  async function meetFate(runId: string, n: number): Promise<void> {
    const fate = fateOf(n);
    if (fate === 'deleted while it is open') await deletions.delete(runId, { open: true, timeoutMs: left() });
    if (fate === 'cancelled') {
      world.mayFail.push(runId);
      await until(`the cancel of ${runId}`, () => cancelled(world, runId), { timeoutMs: left(), everyMs: 100 });
    }
    if (fate === 'deleted when it has ended') {
      await until(`the end of ${runId}`, () => world.load.ended.has(runId), { timeoutMs: left(), everyMs: 10 });
      if (isLearned(n)) await untilLearner(world, runId);
      await deletions.delete(runId, { open: false, timeoutMs: left() });
    }
  }

  // The learner is still at its call when the runs that have ended are deleted.
  world.behave({ delayMs: { planner: 150, decomposer: 150, expert: 300, composer: 150, learner: 600 } });
  const options = { atOnce: 4, webhook: true, patienceMs: left() };
  const accepted = (runId: string, n: number): void =>
    void ending.push(meetFate(runId, n).catch((error: unknown) => faults.push(String(error))));
  let killed = 0;
  // A process that is slow to start again is killed less often in one round of questions.
  for (let round = 1; (killed < leastKills || (!world.short && round <= 3)) && round <= mostRounds; round += 1) {
    let over = false;
    const most = killed + killsPerRound;
    const kills = killUntil(
      world,
      killed,
      () => over || killed >= most,
      () => (killed += 1),
    );
    await Promise.all([
      world.load.run({ ...options, runs: world.short ? 8 : 24, everyMs: 700, name: `alone-${round}`, model: learningModel, accepted }),
      world.load.run({ ...options, runs: world.short ? 8 : 24, everyMs: 800, name: `tree-${round}`, model: treeModel, accepted }),
    ]);
    await Promise.all(ending);
    over = true;
    await kills;
    await world.calm();
  }
  const at = world.lastFaultAt!;
  world.behave({});
  if (faults.length > 0) throw new Error(faults.join(' '));
  if (killed < leastKills) throw new Error(`Only ${killed} processes were killed.`);
  if (deletions.done.size < 6) throw new Error(`Only ${deletions.done.size} runs were deleted.`);
  world.row({
    name: `${killed} kills, ${deletions.done.size} deletions`,
    outcome: 'survived',
    recoveryMs: recoveryAfter(world, at),
    runs: everyRun(world),
  });
  const warm = new Set(runsOf(world, 'warm'));
  const runs = everyRun(world).filter((runId) => !deletions.done.has(runId) && !warm.has(runId));
  return async () => ({
    deleted: await remainsOf(world, deletions.done, runs),
    told: { runs, deliveries: world.receiver!.deliveries },
  });
}

/** Deleting is safe at any moment, and whoever asked to be told the end of a run is told. */
export const runsDeleted: Scenario = {
  name: 'runs-deleted',
  promise:
    'A deleted run is gone for every reader, with its child runs and with what was learned from them; every other run is answered, and its webhook is told of its end.',
  fault:
    'kill -9 of the merger, graph-ingest and the gateway in turn, twice in each round of questions, while runs with child runs, learning and webhooks are cancelled and deleted, open and ended ones; in embedded mode, of the single process',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'erasure-marker', check: 'deleted-is-gone' }],
  bounds: { accepted: 12, answered: 1, soundRecords: true, calmMs: 20_000 },
  limitS: 300,
  ci: ['embedded', 'distributed'],
  system: {
    receiver: true,
    // Without a key, the log of distributed mode keeps the records of a deleted run until their retention ends.
    env: { CONCLAVE_SEAL_KEY: randomBytes(32).toString('base64') },
    configuration: {
      templates: {
        [learningModel]: {
          ...plainTemplate,
          strategy: 'single-pass',
          gap_check: 'evidence',
          learn: 'triples',
          caches: { answer: true, semantic: true, plan: true, search: true },
        },
        [treeModel]: { ...plainTemplate, strategy: 'decompose', learn: 'triples', options: { child: learningModel } },
      },
    },
  },
  run: storm,
};
