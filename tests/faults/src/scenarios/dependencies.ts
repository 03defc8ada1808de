import { promptMarks } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { price, readRun } from '@conclave/test-support/system';
import { rightAnswer } from '../questions.js';
import { graphText } from '../world/stored-texts.js';
import type { World } from '../world/world.js';
import { inFlight, notReady, pause, recoveryAfter, runsOf, underWay } from './measure.js';
import type { Scenario } from './scenario.js';

const { open, close } = promptMarks.insight;
/** Answers that leave something for the graph. */
const withInsight = (question: string): string =>
  `${rightAnswer(question)} ${open}${JSON.stringify({ summary: `Settled: ${question}`, entities: ['committee'], insight_type: 'inference' })}${close}`;

export const neo4jStopped: Scenario = {
  name: 'neo4j-stopped',
  promise: 'Without the knowledge graph every run is answered as before; learning waits on the log until the graph is back.',
  fault: 'Neo4j is stopped while runs are open and started again after they have ended',
  modes: ['distributed'],
  controls: [{ without: 'graph-failures', check: 'own-promise', ci: false }],
  bounds: { terminalMs: 90_000, soundRecords: true },
  limitS: 300,
  ci: ['distributed'],
  system: { servers: ['neo4j'] },
  async run(world) {
    await world.warmUp();
    world.behave({
      delayMs: { expert: 1_000 },
      instead: (role, question) => (role === 'composer' ? { chunks: [{ text: withInsight(question) }], usage: price.composer } : null),
    });
    const load = world.load.run({ runs: world.short ? 4 : 12, atOnce: 4, name: 'graphless' });
    await inFlight(world);
    const at = world.fault('Neo4j is stopped');
    await world.servers.neo4j!.stop();
    await load;
    const runs = runsOf(world, 'graphless');
    const answeredMs = recoveryAfter(world, at);
    const learned = () =>
      world.system
        .history()
        .filter(({ actor, op, phase }) => actor === 'graph-ingest' && op === 'RunCompleted' && phase === 'after-publish').length;
    const before = learned();
    const red = await notReady(world);
    if ([...red.keys()].some((name) => name !== 'graph-ingest'))
      throw new Error(`Without the graph ${[...red.keys()].join(', ')} went red.`);
    await world.servers.neo4j!.restart();
    const back = Date.now();
    // Without the failures, what is lost counts as learned before the graph is back.
    if (!world.controlled)
      await until('the graph to learn what it missed', () => learned() >= before + runs.length, { timeoutMs: 60_000, everyMs: 100 });
    const kept = await graphText(world.servers.direct);
    for (const { runId, question } of world.load.asked)
      if (runId !== null && runs.includes(runId) && !kept.includes(`Settled: ${question}`))
        world.breaks(runId, 'What it taught is not in the knowledge graph.');
    world.row({ name: 'answers without the graph', outcome: `${runs.length} answered`, recoveryMs: answeredMs, runs });
    world.row({ name: 'the graph is back', outcome: `${runs.length} syntheses caught up`, recoveryMs: Date.now() - back, runs: [] });
  },
};

export const searchStopped: Scenario = {
  name: 'search-stopped',
  promise: 'Without the search server, runs are answered from what the experts know, and say that the search was missing.',
  fault: 'the search server is stopped before two-hop questions are researched, then started again',
  modes: ['distributed'],
  controls: [{ without: 'search-failures', check: 'own-promise' }],
  limitS: 150,
  ci: ['distributed'],
  system: { servers: ['searx'] },
  async run(world) {
    await world.warmUp({ twoRounds: () => true });
    world.behave({ delayMs: { planner: 1_000 } });
    const load = world.load.run({ runs: world.short ? 3 : 8, atOnce: 4, name: 'searchless', twoRounds: () => true });
    await until('plans under way', () => underWay(world, 'planner') >= 3, { timeoutMs: 20_000 });
    const at = world.fault('the search server is stopped');
    await world.servers.searx!.kill('SIGKILL');
    await load;
    const runs = runsOf(world, 'searchless');
    for (const runId of runs) {
      const view = await readRun(world.system.url(), runId);
      if (!view.answer) world.breaks(runId, `It has no answer without the search: ${view.reason}`);
      if (!JSON.stringify(view).includes('SEARCH_UNAVAILABLE') || !/still open: where /.test(view.reason ?? ''))
        world.breaks(runId, `It does not say that the search was missing: ${view.reason} ${JSON.stringify(view.rounds).slice(0, 600)}`);
    }
    world.row({
      name: 'answers without search',
      outcome: `${runs.length} answered, each says what is missing`,
      recoveryMs: recoveryAfter(world, at),
      runs,
    });
    if (world.controlled) return;
    await world.servers.searx!.restart();
    world.behave({});
    const [next] = await world.load.run({ runs: 1, atOnce: 1, name: 'found', twoRounds: () => true });
    const view = await readRun(world.system.url(), next!.runId!);
    if (view.rule !== 'D3') world.breaks(next!.runId!, `After the search server was back nothing was found: ${view.reason}`);
    world.row({ name: 'search is back', outcome: 'found what was missing', recoveryMs: null, runs: [next!.runId!] });
  },
};

export const modelStopped: Scenario = {
  name: 'model-stopped',
  promise:
    'If a model server does not answer for a second, calls are tried again and every run is answered; if it is away for longer, the run says what is missing. Nothing is lost.',
  fault:
    'the model server is closed in the middle of its answers and listens again on its port after 1 s and after 3 s (and 20 s in the long form)',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'call-retries', check: 'own-promise' }],
  // Questions while the model server is away for 20 s cannot be answered, only refused with a reason; runs that met only this absence
  // end without an answer and say so.
  bounds: { terminalMs: 90_000, answered: 0.3 },
  limitS: 150,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    world.upstreamFaults = true;
    const longer = world.short ? [3_000] : [3_000, 20_000];
    for (const awayMs of world.controlled ? [bridgedMs] : [bridgedMs, ...longer]) await away(world, awayMs);
  },
};

/** An absence that the retries of a call always bridge: the waits between its four attempts take at least 1.75 s. */
const bridgedMs = 1_000;

async function away(world: World, awayMs: number): Promise<void> {
  const name = `away${awayMs}`;
  world.behave({ delayMs: { planner: 200, expert: 1_000 }, wordMs: 40 });
  const load = world.load.run({ runs: world.short ? 5 : 10, atOnce: 5, everyMs: 100, name });
  await inFlight(world);
  const at = world.fault('the model server is closed');
  await world.system.models.close();
  await pause(awayMs);
  await world.system.models.reopen();
  await load;
  const runs = runsOf(world, name);
  const views = await Promise.all(runs.map((runId) => readRun(world.system.url(), runId)));
  // A run that could not be answered says so: it has a reason, and a code if it failed.
  const mute = views.filter(({ answer, reason }) => answer === null && !reason);
  if (mute.length > 0) throw new Error(`${mute.map(({ id }) => id).join(', ')} ended without an answer and without a reason.`);
  const answered = views.filter(({ answer }) => answer !== null).length;
  if (awayMs <= bridgedMs)
    for (const { id, outcome, reason } of views)
      if (outcome !== 'completed') world.breaks(id, `It ended ${outcome} although its model was away for only ${awayMs} ms: ${reason}`);
  world.row({
    name: `model server away for ${awayMs / 1000} s`,
    outcome: `${answered} of ${runs.length} answered`,
    recoveryMs: recoveryAfter(world, at),
    runs,
  });
}
