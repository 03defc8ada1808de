import { until } from '@conclave/test-support';
import { command, type ServiceName } from '@conclave/test-support/system';
import type { World } from '../world/world.js';
import { everyRun, inFlight, openCalls, openSteps, pause, recoveryAfter, runsOf, underWay } from './measure.js';
import type { Scenario } from './scenario.js';

/** Kills a process picked by a simple generator, every 0.5 to 5 s. The picks are the same in each run of a scenario. */
export const randomKills: Scenario = {
  name: 'random-kills',
  promise: 'No matter which processes die, or when, every accepted question ends exactly once and no finished model call is repeated.',
  fault: 'kill -9 of a random process every 0.5-5 s for 60 s (15 s in the short form) under load; in embedded mode, of the single process',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'offset-tracker', check: 'commit-after-effect' }],
  bounds: { accepted: 8, terminalMs: 90_000 },
  limitS: 240,
  ci: ['embedded'],
  system: { gateways: 2, experts: 2 },
  async run(world) {
    await world.warmUp();
    const stormMs = world.short ? 15_000 : 60_000;
    const end = Date.now() + stormMs;
    world.behave({ delayMs: { planner: 100, expert: 400, composer: 200 } });
    const load = world.load.run({
      runs: world.short ? 12 : 60,
      atOnce: 4,
      everyMs: 800,
      patienceMs: stormMs + 90_000,
      name: 'storm',
      twoRounds: (n) => n % 3 === 0,
    });
    let seed = 20_261_121;
    const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    let killed = 0;
    while (Date.now() < end) {
      await pause(500 + random() * 4_500);
      const all = [...world.system.all()];
      const [name, process] = all[Math.floor(random() * all.length)]!;
      await process.ready();
      const { signal } = await process.kill('SIGKILL');
      world.fault(`SIGKILL of ${name}`);
      if (signal === 'SIGKILL') killed += 1;
    }
    const at = Date.now();
    await Promise.all([...world.system.all().values()].map((process) => process.ready()));
    world.behave({});
    await load;
    if (killed < 3) throw new Error(`Only ${killed} processes were killed.`);
    world.row({ name: `${killed} kills`, outcome: 'survived', recoveryMs: recoveryAfter(world, at), runs: everyRun(world) });
  },
};

/** A process that sleeps past its session and its lease, and then believes that it still owns what it held. */
const frozen = (service: 'experts' | 'merger', sleepMs: number): Scenario => ({
  name: `frozen-${service}`,
  promise: 'A process that was suspended and resumes has no effect: its work has been reassigned.',
  fault: `SIGSTOP of one of two ${service} processes for ${sleepMs / 1000} s in the middle of its calls, then SIGCONT`,
  modes: ['distributed'],
  controls:
    service === 'merger'
      ? [{ without: 'attempts', check: 'stream-without-gaps', ci: false }]
      : [{ without: 'lease-expiry', check: 'own-promise', ci: false }],
  limitS: 120,
  ci: ['distributed'],
  async run(world) {
    const second = await world.system.addWorker(service, `${service}-2`);
    await world.warmUp();
    // Slow words: the process falls asleep in the middle of an answer.
    const slow = service === 'merger' ? { wordMs: 400 } : { delayMs: { expert: 4_000 } };
    world.behave(slow);
    const role = service === 'merger' ? 'composer' : 'expert';
    // The id of a run decides which of the two processes handles it, so all four of a batch may go to the other one; then another batch is asked.
    const batches: Promise<unknown>[] = [];
    let askedAt = -Infinity;
    await until(
      'a call to sleep in',
      () => {
        if (underWay(world, role) >= 2 && openCalls(world, second) > 0) return true;
        if (batches.length < 6 && Date.now() - askedAt >= 4_000) {
          askedAt = Date.now();
          batches.push(world.load.run({ runs: 4, atOnce: 4, name: `frozen-${service}-${batches.length + 1}`, patienceMs: 90_000 }));
        }
        return false;
      },
      { timeoutMs: 30_000 },
    );
    // After this pause both processes have some of the calls, and some of their words have been sent.
    await pause(service === 'merger' ? 1_000 : 200);
    const frozenAt = world.fault(`SIGSTOP of ${service}`);
    second.signal('SIGSTOP');
    world.frozen.push({ process: `${service}-2`, at: frozenAt, signal: 'SIGSTOP' });
    const held = openSteps(world, second);
    await pause(sleepMs);
    // Its calls must not have waited for it.
    const begun = new Set(
      world.system.history().flatMap(({ op, phase, id, at }) => (op === 'call' && phase === 'invoke' && at >= frozenAt ? [id] : [])),
    );
    for (const step of held)
      if (!begun.has(step)) world.breaks(step, `Nobody has made this call in the ${sleepMs} ms in which its process slept.`);
    second.signal('SIGCONT');
    world.fault(`SIGCONT of ${service}`);
    await Promise.all(batches);
    world.row({
      name: `frozen for ${sleepMs / 1000} s`,
      outcome: 'no effect of the sleeper',
      recoveryMs: recoveryAfter(world, frozenAt),
      runs: everyRun(world),
    });
  },
});
export const frozenExperts = frozen('experts', 14_000);
export const frozenMerger = frozen('merger', 14_000);

/** Members join and leave a group while tasks run that take longer than its session. */
export const rebalanceStorm: Scenario = {
  name: 'rebalance-storm',
  promise: 'A rebalance repeats no model call, however long the calls take.',
  fault: 'expert workers join and leave every 2 s while tasks of 20 s run (9 s in the short form)',
  modes: ['distributed'],
  controls: [{ without: 'journal', check: 'model-calls-bounded', ci: false }],
  limitS: 150,
  ci: ['distributed'],
  async run(world) {
    await world.warmUp();
    const taskMs = world.short ? 9_000 : 20_000;
    world.behave({ delayMs: { expert: taskMs } });
    const load = world.load.run({ runs: 4, atOnce: 4, name: 'rebalance', patienceMs: 120_000 });
    await inFlight(world, 4);
    const before = world.system.models.calls.length;
    const began = world.fault('workers join and leave');
    const rounds = world.short ? 3 : 8;
    for (let n = 2; n < 2 + rounds; n++) {
      const name = `experts-${n}`;
      await world.system.addWorker('experts', name);
      await pause(500);
      // It may have received a task by now and has the time to finish it, like a pod with a long grace period.
      if (n % 2 === 0) await world.system.removeWorker(name, taskMs + 15_000);
    }
    await load;
    if (world.system.models.calls.length === before) throw new Error('No call was made after the storm began: nothing was in flight.');
    world.row({ name: `${rounds} joins`, outcome: 'no call repeated', recoveryMs: recoveryAfter(world, began), runs: everyRun(world) });
  },
};

/**
 * Two engines on one log: steps of one run meet at the same moment. Each engine in turn falls asleep between reading the state of
 * a run and writing it, for less than its session, while another one applies a cancel to that run.
 */
export const twoEngines: Scenario = {
  name: 'two-engines',
  promise: 'Any number of engines may take steps of one run at the same time: every step is applied exactly once, and none is lost.',
  fault:
    'one of three merger processes stopped between reading and writing a run that another one changes (up to nine tries, until they meet); one killed under load',
  modes: ['distributed'],
  controls: [{ without: 'compare-and-set', check: 'one-effective-outcome' }],
  limitS: 240,
  ci: ['distributed'],
  async run(world) {
    const engines = ['merger', 'merger-2', 'merger-3'];
    for (const name of engines.slice(1)) await world.system.addWorker('merger', name);
    await world.warmUp();
    let met = 0;
    let tried = 0;
    // The topic of the step's input decides whether the cancel goes to another engine; if all cancels went to the sleeper, later steps are
    // tried.
    for (const nth of [2, 3, 5]) {
      for (const name of met > 0 ? [] : engines) {
        tried += 1;
        const slept = await sleepInStep(world, name, nth);
        met += slept;
        // One lost step is enough, and the client of every run that waits for it waits, too.
        if (world.controlled && met > 0) return;
      }
    }
    if (met === 0) throw new Error('No run was changed while an engine slept over it: nothing was shown.');
    world.row({
      name: 'asleep in a step',
      outcome: `${met} of ${tried} met a step of another engine`,
      recoveryMs: null,
      runs: everyRun(world),
    });
    const load = world.load.run({ runs: world.short ? 12 : 80, atOnce: 10, name: 'engines', twoRounds: (n) => n % 2 === 0 });
    await pause(1_000);
    const at = world.fault('SIGKILL of merger-3');
    await world.system.all().get('merger-3')!.kill('SIGKILL');
    await load;
    world.row({ name: 'three engines', outcome: 'survived', recoveryMs: recoveryAfter(world, at), runs: runsOf(world, 'engines') });
  },
};

/** 1 if another engine handled the cancel of the run over which this one sleeps, 0 if that was left to the sleeper itself. */
async function sleepInStep(world: World, name: string, nth: number): Promise<number> {
  const { system, load } = world;
  const process = system.all().get(name)!;
  await process.stop();
  await process.restart({ FREEZE_AT: `merger:engine-decided#${nth}` });
  await world.calm(10_000);
  const began = Date.now();
  world.behave({ delayMs: { expert: 500 } });
  // Without compare-and-set the step of the other engine is lost, and its run may never end.
  const asking = load.run({ runs: 6, atOnce: 6, name: `asleep-${name}-${nth}`, patienceMs: world.controlled ? 10_000 : 60_000 });
  const line = await until(
    `${name} to fall asleep`,
    () => system.history().find(({ op, phase, at }) => op === 'engine-decided' && phase === 'freeze' && at >= began),
    { timeoutMs: 20_000, everyMs: 20 },
  );
  // An engine may work on a run before its client knows the id of it.
  const runId = await until(
    `the run of the load that ${name} fell asleep over: ${line.id}`,
    () => everyRun(world).find((id) => line.id.includes(id)),
    { timeoutMs: 5_000, everyMs: 20 },
  );
  world.fault(`SIGSTOP of ${name} in a step of ${runId}`);
  world.mayFail.push(runId);
  await command(system.url(), runId, { command: 'cancel' });
  // Less than the session of a consumer: the sleeper still owns its partitions when it wakes up.
  const taken = await until(
    'another engine to take the cancel',
    () =>
      system
        .history()
        .some(({ op, phase, id, at }) => op === 'CommandIssued' && phase === 'after-publish' && id.includes(runId) && at >= began),
    { timeoutMs: 3_000, everyMs: 20 },
  ).catch(() => false);
  process.signal('SIGCONT');
  await asking;
  world.behave({});
  return taken ? 1 : 0;
}

/** Every service is replaced in turn, as in a deployment. */
export const rollingRestart: Scenario = {
  name: 'rolling-restart',
  promise: 'A deployment that restarts the services one after the other loses nothing and fails no request.',
  fault:
    'SIGTERM and restart of all five services in turn under load, with two gateways and two workers; in embedded mode, of the single process',
  modes: ['distributed', 'embedded'],
  // In a single process nothing is written while its gateway is away.
  // The control fails only if something was written while a viewer was away, which depends on chance.
  controls: [{ without: 'stream-resume', check: 'stream-without-gaps', modes: ['distributed'], ci: false }],
  bounds: { accepted: 8, answered: 1 },
  limitS: 180,
  ci: ['distributed'],
  system: { gateways: 2, experts: 2 },
  async run(world) {
    await world.warmUp();
    world.behave({ delayMs: { expert: 500 }, wordMs: 60 });
    // While a viewer is away, words are still written: a wrong resume misses some.
    const load = world.load.run({
      runs: world.short ? 16 : 48,
      atOnce: 4,
      everyMs: world.short ? 1_200 : 800,
      name: 'rolling',
      patienceMs: world.controlled ? 20_000 : 90_000,
      awayMs: 1_000,
    });
    await until('an answer that is being written', () => underWay(world, 'composer') > 0, { timeoutMs: 30_000, everyMs: 10 });
    const began = world.fault('rolling restart');
    const gatewaysFirst = [...world.system.all()].sort(([a], [b]) => Number(b.startsWith('gateway')) - Number(a.startsWith('gateway')));
    for (const [name, process] of gatewaysFirst) {
      const exit = await process.stop(15_000);
      if (exit?.code !== 0) throw new Error(`${name} ended with ${exit?.signal ?? exit?.code} on SIGTERM.`);
      await process.restart();
    }
    await load;
    const cut = world.load.viewings.filter(({ connection }) => connection > 1).length;
    if (cut === 0) throw new Error('No stream was cut: nobody had to resume.');
    world.row({
      name: 'all services',
      outcome: `restarted; ${cut} streams resumed`,
      recoveryMs: recoveryAfter(world, began),
      runs: everyRun(world),
    });
  },
};

/** From the third death to the end of the run to which the record belongs. */
const killerEndsWithinMs = 45_000;

/** A record that ends every process that handles it. */
export const killerRecord: Scenario = {
  name: 'killer-record',
  promise: 'A record that kills its process three times becomes a dead letter, its run ends with a reason, and everything else continues.',
  fault: 'the planner dies each time it handles one request',
  modes: ['distributed', 'embedded'],
  // In distributed mode the engine gives up waiting for the plan, so the run ends in any case.
  controls: [{ without: 'process-deaths', check: 'one-terminal-event', says: 'no terminal event', modes: ['embedded'] }],
  bounds: { answered: 0.5, terminalMs: killerEndsWithinMs },
  limitS: 150,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    const service: ServiceName = 'planner';
    const process = world.system.process(service);
    const deadly = { CRASH_AT: 'planner:before-call' };
    await process.stop();
    const ends = process.exits().length;
    await process.restart(deadly);
    const load = world.load.run({ runs: 1, atOnce: 1, name: 'killer', patienceMs: world.controlled ? killerEndsWithinMs : 120_000 });
    for (let death = 1; death <= 3; death++) {
      process.nextRestart(deadly);
      const exit = await process.nextExit(ends + death, 45_000);
      world.fault(`death ${death} of the planner`);
      if (exit.signal !== 'SIGKILL') throw new Error(`The planner ended with ${exit.code} instead of killing itself.`);
    }
    const at = Date.now();
    // The record never becomes a dead letter: this would continue for as long as the planner is started again.
    if (world.controlled) {
      const arm = setInterval(() => process.nextRestart(deadly), 20);
      await pause(killerEndsWithinMs + 500);
      clearInterval(arm);
      await load;
      await process.stop();
      return;
    }
    await load;
    world.mayFail.push(
      ...world.load.asked.flatMap(({ runId, question }) => (runId !== null && question.includes('killer') ? [runId] : [])),
    );
    // The same process plans the next question; with its previous environment it would die at its first call.
    await process.stop();
    await process.restart({ CRASH_AT: undefined });
    const [next] = await world.load.run({ runs: 1, atOnce: 1, name: 'after' });
    if (!next?.runId || !world.load.ended.has(next.runId)) throw new Error('The question after the killer record was not answered.');
    world.row({ name: 'three deaths', outcome: 'put aside', recoveryMs: recoveryAfter(world, at), runs: everyRun(world) });
  },
};

/** Work that no one waits for when a worker finds it. */
export const lateWork: Scenario = {
  name: 'late-work',
  promise: 'Remaining tasks of an ended run make no model call.',
  fault: 'the expert workers are stopped until three runs have reached their time limit, then start again',
  modes: ['distributed'],
  controls: [{ without: 'deadline-check', check: 'model-calls-bounded', ci: false }],
  bounds: { answered: 0.3 },
  limitS: 90,
  ci: ['distributed'],
  async run(world) {
    await world.warmUp();
    const process = world.system.process('experts');
    await process.stop();
    world.fault('no expert worker');
    await world.load.run({ runs: 3, atOnce: 3, name: 'late', wallTimeS: 4, patienceMs: 40_000 });
    const before = world.system.models.calls.filter((call) => call.step === 'load expert').length;
    await process.restart();
    world.fault('workers are back');
    await world.calm(20_000);
    await world.load.run({ runs: 2, atOnce: 2, name: 'punctual' });
    const calls = world.system.models.calls.filter((call) => call.step === 'load expert').length - before;
    world.row({
      name: 'expired tasks',
      outcome: `${calls} expert calls for 2 punctual questions`,
      recoveryMs: null,
      runs: everyRun(world),
    });
  },
};
