import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@conclave/test-support';
import { allMetrics, command, sumOf, workspaceRoot } from '@conclave/test-support/system';
import { inject, repeatAll, type RawInjection } from '../world/inject.js';
import type { World } from '../world/world.js';
import { runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

const headersOf = (type: string, id: string, runId: string, source: string): Record<string, string> => ({
  ce_specversion: '1.0',
  ce_id: id,
  ce_type: type,
  ce_source: source,
  ce_time: new Date().toISOString(),
  ce_partitionkey: runId,
  ce_runid: runId,
  'content-type': 'application/json',
});

/** The same shuffle every time. */
function shuffled<T>(list: readonly T[]): T[] {
  const copy = [...list];
  let seed = 7;
  for (let at = copy.length - 1; at > 0; at--) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const other = seed % (at + 1);
    [copy[at], copy[other]] = [copy[other]!, copy[at]!];
  }
  return copy;
}

async function pauseAndResume({ system }: World, runs: readonly string[]): Promise<void> {
  for (const run of runs)
    for (const name of ['pause', 'resume']) {
      const { status } = await command(system.url(), run, { command: name });
      if (status !== 202) throw new Error(`The command ${name} of ${run} got ${status}.`);
    }
}

export const duplicates: Scenario = {
  name: 'duplicates-reordered',
  promise: 'Duplicate and reordered records change nothing: each takes effect once.',
  fault: 'every record of the log is delivered again while runs are open: on Kafka in shuffled order, in embedded mode in the same order',
  modes: ['distributed', 'embedded'],
  controls: [{ without: 'applied-ids', check: 'one-effective-outcome' }],
  limitS: 240,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp({ twoRounds: (n) => n % 2 === 0 });
    world.behave({ delayMs: { planner: 200, expert: 1_500, composer: 300 } });
    const load = world.load.run({ runs: 4, atOnce: 4, name: 'twice', twoRounds: (n) => n % 2 === 0, patienceMs: 60_000 });
    // Results of experts arrive while the copies do.
    await until(
      'calls in flight',
      () => world.system.models.calls.filter(({ step, finishedAt }) => step === 'load expert' && finishedAt === null).length >= 3,
      { timeoutMs: 30_000 },
    );
    // The engine sees in the state of a run that it took a plan or a result before. A command that it took is recognised only by its id.
    await pauseAndResume(world, runsOf(world, 'twice'));
    world.fault('everything once more');
    const first = await repeatAll(world, shuffled);
    await load;
    const second = await repeatAll(world, shuffled);
    if (first === 0 || second <= first) throw new Error(`${first} and ${second} records were repeated: the log did not grow in between.`);
    await world.calm();
    world.row({ name: `${first + second} records again`, outcome: 'no effect', recoveryMs: null, runs: [] });
  },
};

/** Records that cannot be handled, with the reason of their dead letter. */
const poisons = (runId: string): readonly RawInjection[] => [
  {
    topic: 'plan.requested',
    key: runId,
    headers: headersOf('PlanRequested', `${runId}-json`, runId, 'gateway'),
    value: Buffer.from('{"goal": "brok'),
  },
  {
    topic: 'results.ready',
    key: runId,
    headers: headersOf('ResultReady', `${runId}-shape`, runId, 'experts'),
    value: Buffer.from('{"taskId": 7}'),
  },
  { topic: 'plan.created', key: runId, headers: headersOf('PlanMadeUp', `${runId}-type`, runId, 'planner'), value: Buffer.from('{}') },
  {
    topic: 'tasks.dispatched.expert',
    key: runId,
    headers: { ...headersOf('TaskDispatched', `${runId}-spec`, runId, 'merger'), ce_specversion: '9.0' },
    value: Buffer.from('{}'),
  },
  { topic: 'run.commands', key: runId, headers: {}, value: Buffer.from([0xff, 0xfe, 0x00, 0x01]) },
  { topic: 'gap.detected', key: null, headers: {}, value: null },
  {
    topic: 'run.completed',
    key: runId,
    headers: headersOf('RunCompleted', `${runId}-large`, runId, 'merger'),
    value: Buffer.alloc(900_000, 'x'),
  },
];

export const poison: Scenario = {
  name: 'poison',
  promise: 'A record that cannot be handled blocks nothing and is not lost: its raw bytes and the reason are kept as a dead letter.',
  fault: 'broken JSON, unknown types and versions, missing headers, no value, binary, 0.9 MB of nonsense, on seven topics under load',
  modes: ['distributed', 'embedded'],
  controls: [{ without: 'dead-letters', check: 'commit-after-effect' }],
  limitS: 120,
  ci: ['embedded', 'distributed'],
  async run(world) {
    await world.warmUp();
    world.behave({ delayMs: { expert: 800 } });
    const load = world.load.run({ runs: 4, atOnce: 4, name: 'poison', patienceMs: 60_000 });
    await until('a question', () => world.load.asked.some(({ runId, question }) => runId !== null && question.includes('poison')), {
      timeoutMs: 20_000,
    });
    const at = world.fault('poison on seven topics');
    const records = poisons('run_poisoned000000000000');
    await inject(world, records);
    await load;
    await world.calm();
    const dead = sumOf(await allMetrics(world.system), 'conclave_dead_letters_total');
    // Two groups read plan.requested: each makes its own dead letter.
    world.row({ name: `${records.length} kinds`, outcome: `${dead} dead letters`, recoveryMs: Date.now() - at, runs: [] });
    if (dead < records.length && !world.controlled)
      throw new Error(`${records.length} records are poison, but only ${dead} dead letters were written.`);
  },
};

interface Recorded {
  readonly shape: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const mixedVersions: Scenario = {
  name: 'mixed-versions',
  promise: 'Events of an earlier version, and of a later version with unknown fields, are read together with those of this version.',
  fault: 'requests as an earlier and a later version write them, among those of this version',
  modes: ['distributed', 'embedded'],
  controls: [{ without: 'tolerant-reading', check: 'one-effective-outcome' }],
  // No client follows the two runs that are injected into the log.
  bounds: { answered: 0.7, soundRecords: true },
  limitS: 90,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    const load = world.load.run({ runs: 3, atOnce: 3, name: 'today', patienceMs: 60_000 });
    const recorded = readFileSync(join(workspaceRoot, 'libs/contracts/src/__fixtures__/events/2026-11-21.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded);
    const request = recorded.find(({ shape }) => shape === 'PlanRequested')!;
    const runs = ['earlier', 'later'].map((version) => `run_${version}${Date.now().toString(36)}`);
    world.fault('versions mixed');
    await inject(
      world,
      runs.map((runId, n) => versioned(request, runId, n === 1)),
    );
    await load;
    // No gateway received them: only the log, which the checker reads, shows whether they have ended.
    await world.calm();
    world.row({ name: 'two versions', outcome: 'read', recoveryMs: null, runs });
  },
};

/**
 * The recorded request for another run, with a question that the fake committee knows; a later version contains more than we understand.
 */
function versioned({ headers, body }: Recorded, runId: string, later: boolean): RawInjection {
  // It was recorded with the demo model; here the scripted one answers.
  const data = JSON.parse(body.replaceAll('conclave-demo@demo', 'scripted@fake')) as Record<string, unknown>;
  const template = data['template'] as Record<string, unknown>;
  const today = { ...data, goal: `Load question ${later ? 'later' : 'earlier'}-version?`, requestedAt: Date.now() };
  const said = later ? { ...today, mood: 'curious', template: { ...template, colour: 'green', later: { nested: [1] } } } : today;
  return {
    topic: 'plan.requested',
    key: runId,
    headers: {
      ...headers,
      ce_id: runId,
      ce_runid: runId,
      ce_partitionkey: runId,
      ce_time: new Date().toISOString(),
      ...(later ? { ce_fashion: 'new' } : {}),
    },
    value: Buffer.from(JSON.stringify(said)),
  };
}
