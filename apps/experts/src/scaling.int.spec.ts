import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import {
  CommitteeScript,
  System,
  expert,
  latch,
  parseMetrics,
  price,
  repeatedFinished,
  runEnd,
  runEvents,
  type Sample,
  startRun,
  streamFaults,
  sumOf,
} from '@conclave/test-support/system';

// Real workers of one class on the real broker; the model server behind them counts every call.
const graceS = 4;
const slots = 2;
const lanes = 4;
const bound = 60_000;
let system: System;

beforeAll(async () => {
  system = await System.start({
    mode: 'distributed',
    configuration: { task_classes: { expert: { concurrency: slots } } },
    serviceEnv: { experts: { SHUTDOWN_GRACE_S: String(graceS) } },
  });
}, 120_000);
afterAll(() => system?.stop(), 60_000);

const metricsOf = async (name: string): Promise<readonly Sample[]> =>
  parseMetrics(await (await fetch(`${system.metricUrl(name)}/metrics`)).text());
const ofClass = { class: 'expert' } as const;
const reply = (text: string): string => `${text}\nFINDING: ${text}\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none`;

interface Ended {
  readonly id: string;
  readonly script: CommitteeScript;
  readonly answer: string;
}

let asked = 0;
/** One complete run of three slow experts. */
async function oneRun(): Promise<Ended> {
  const answer = `This is answer ${(asked += 1)}.`;
  const script = new CommitteeScript(system.models, `Who works now? (question ${asked}, please)`)
    .plan([expert('x1', 'Look left.'), expert('x2', 'Look right.'), expert('x3', 'Look up.')])
    .expertReply({ chunks: [{ text: reply('Somebody does.'), afterMs: 300 }], usage: price.expert }, undefined, 3)
    .answer([answer]);
  const { id } = (await startRun(system.url(), { model: 'conclave-fast', input: script.question })).body;
  await runEnd(system.url(), id, bound);
  return { id, script, answer };
}

/** Keeps several runs going until `stop`, which returns all of them. */
function load(): { readonly stop: () => Promise<readonly Ended[]> } {
  const ended: Ended[] = [];
  let going = true;
  const running = Promise.all(
    Array.from({ length: lanes }, async () => {
      while (going) ended.push(await oneRun());
    }),
  );
  // `stop` reports the failure.
  running.catch(() => undefined);
  return {
    stop: async () => {
      going = false;
      await running;
      return ended;
    },
  };
}

/** Waits until a worker has joined and received tasks. */
const works = (name: string): Promise<unknown> =>
  until(`tasks for ${name}`, async () => sumOf(await metricsOf(name), 'conclave_tasks_total', { capability: 'expert.general' }) > 0, {
    timeoutMs: bound,
    everyMs: 100,
  });

/** Sends SIGTERM and returns the seconds until the process has ended by itself. */
async function leaves(name: string): Promise<number> {
  const from = performance.now();
  expect(await system.removeWorker(name, 30_000)).toMatchObject({ code: 0, signal: null });
  return (performance.now() - from) / 1_000;
}

describe('the workers of a task class', () => {
  it('join and leave under load: every run ends once with its answer, and no call is made twice', async () => {
    const under = load();
    await works('experts');
    await Promise.all([system.addWorker('experts', 'experts-2'), system.addWorker('experts', 'experts-3')]);
    await Promise.all([works('experts-2'), works('experts-3')]);
    expect(await leaves('experts-2')).toBeLessThan(graceS + 10);
    await system.addWorker('experts', 'experts-4');
    await works('experts-4');
    const [samples, another] = [await metricsOf('experts-3'), await metricsOf('experts-4')];
    await leaves('experts');
    const runs = await under.stop();

    expect(runs.length).toBeGreaterThan(lanes);
    for (const { id, script, answer } of runs) {
      const run = await runEnd(system.url(), id);
      expect([run.outcome, run.answer]).toEqual(['completed', answer]);
      expect(streamFaults(await runEvents(system.url(), id))).toEqual([]);
      expect([script.calls('planner').length, script.calls('expert').length, script.calls('composer').length]).toEqual([1, 3, 1]);
    }
    expect(system.models.violations()).toEqual([]);
    expect(repeatedFinished(system.models.calls)).toEqual([]);
    for (const one of [samples, another]) {
      expect(sumOf(one, 'conclave_worker_slots', ofClass)).toBe(slots);
      expect(sumOf(one, 'conclave_worker_busy_slots', ofClass)).toBeLessThanOrEqual(slots);
      expect(one.some(({ name }) => name === 'conclave_task_waiting_seconds')).toBe(true);
      expect(sumOf(one, 'conclave_task_queue_wait_seconds_count', ofClass)).toBeGreaterThan(0);
      expect([sumOf(one, 'conclave_duplicate_calls_total'), sumOf(one, 'conclave_handed_back_calls_total')]).toEqual([0, 0]);
    }
  }, 120_000);

  it('when stopped: a call that ends within the grace period counts, and a remaining worker repeats the other one', async () => {
    await leaves('experts-4');
    const gate = latch();
    const script = new CommitteeScript(system.models, 'Who is told to end?')
      .plan([expert('x1', 'Be quick.'), expert('x2', 'Be slow.')])
      .expertReply({ chunks: [{ text: reply('Quick enough.'), when: gate.opened }], usage: price.expert }, 'Be quick.')
      .expertReply({ hang: true }, 'Be slow.')
      .expertReply({ text: reply('Made anew.'), usage: price.expert }, 'Be slow.')
      .answer(['Both are there.']);
    const { id } = (await startRun(system.url(), { model: 'conclave-fast', input: script.question })).body;
    await until('both calls', () => script.calls('expert').length === 2, { timeoutMs: bound });
    await system.addWorker('experts', 'experts-5');
    const left = leaves('experts-3');
    gate.open();
    const seconds = await left;
    expect([seconds > graceS, seconds < graceS + 10]).toEqual([true, true]);

    expect(await runEnd(system.url(), id, bound)).toMatchObject({ outcome: 'completed', answer: 'Both are there.' });
    expect(streamFaults(await runEvents(system.url(), id))).toEqual([]);
    const slow = script.calls('expert').filter(({ messages }) => JSON.stringify(messages).includes('Be slow.'));
    expect(slow.map(({ abortedAt, finishedAt }) => [abortedAt !== null, finishedAt !== null])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect([script.calls('expert').length, script.calls().length]).toEqual([3, 5]);
    expect(repeatedFinished(script.calls())).toEqual([]);
    const samples = await metricsOf('experts-5');
    expect(sumOf(samples, 'conclave_handed_back_calls_total')).toBe(1);
    expect(sumOf(samples, 'conclave_duplicate_calls_total')).toBe(0);
  }, 120_000);
});
