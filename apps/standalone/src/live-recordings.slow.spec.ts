import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { openProviders } from '@conclave/adapter-openai';
import { openSqlite } from '@conclave/adapter-sqlite';
import { makeEvent, PlanRequested, topicsFor, type CallRecorded, type Event, type StreamEntry, type Template } from '@conclave/contracts';
import { noProbe, openMetrics, openReadiness, serve, silentLogger, type Ports } from '@conclave/platform';
import type { Search } from '@conclave/ports';
import { ExpertsModule } from '@conclave/service-experts';
import { GraphIngestModule } from '@conclave/service-graph-ingest';
import { MergerModule } from '@conclave/service-merger';
import { PlannerModule } from '@conclave/service-planner';
import { ScriptedModelServer, until, type ScriptedStep } from '@conclave/test-support';
import { driveRun, readRuns, replayedText, sameAsRecorded, type ReplayedRun } from '@conclave/replay';

// Each test starts all services, which is slow on a busy machine.
jest.setTimeout(40_000);

const template: Template = {
  id: 'conclave',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 1,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['first@fake', 'second@fake'], prompt: 'Answer.' } },
  capabilities: ['research'],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 20,
  start_timeout_s: 10,
  planning_timeout_s: 20,
  progress: 'reasoning',
  prices: { 'm@fake': { input: 1, output: 2 } },
  contexts: { 'm@fake': 9_000 },
};
const search: Search = {
  kind: 'corpus',
  description: 'one document',
  query: () => Promise.resolve([{ title: 'Tower', url: null, snippet: 'The tower was founded by Ana Bel.' }]),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
const runId = 'run_recorded0';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Scenario {
  readonly script: readonly ScriptedStep[];
  readonly template?: Partial<Template>;
  readonly search?: Search | null;
  readonly classes?: readonly string[];
  readonly storePrompts?: 'full' | 'hash' | 'none';
  /** Called once the run is accepted. */
  readonly during?: (at: { server: ScriptedModelServer; cancel(): Promise<void> }) => Promise<void>;
}

/** Runs a question in embedded mode against a scripted server, and replays its log. */
async function recorded(scenario: Scenario): Promise<{ end: StreamEntry; run: ReplayedRun; events: readonly Event[] }> {
  const server = await ScriptedModelServer.start({ script: [...scenario.script] });
  closers.push(() => server.close());
  const sqlite = openSqlite({ home: ':memory:', processId: 'test', durability: 'process' });
  closers.push(() => sqlite.close());
  const models = openProviders({ providers: { fake: { base_url: server.url, local: false, paid: false } } });
  closers.push(() => models.close());
  const { log, state, stream, blobs, graph } = sqlite;
  const found = scenario.search === undefined ? search : scenario.search;
  const ports: Ports = { log, state, stream, blobs, graph, models, search: found, close: async () => undefined };
  const metrics = openMetrics();
  const observers = { logger: silentLogger, metrics, probe: noProbe, readiness: openReadiness() };
  const { storePrompts = 'full' } = scenario;
  const parts = [
    ['planner', PlannerModule.register({ storePrompts }), []],
    ['experts', ExpertsModule.register({ storePrompts }), scenario.classes ?? ['expert', 'evidence']],
    ['merger', MergerModule.register({ storePrompts }), ['judge']],
    ['graph-ingest', GraphIngestModule.register({ storePrompts }), []],
  ] as const;
  for (const [service, module, classes] of parts) {
    const served = await serve({ service, module, ports, observers, process: { id: 'test', classes } });
    closers.push(() => served.close());
  }
  const at = Date.now();
  const resolved = { ...template, ...scenario.template };
  const header = makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'gateway', time: at },
    {
      goal: 'Who founded the tower?',
      conversation: [],
      system: null,
      template: resolved,
      limits: resolved.limits,
      caller: { tenant: 'default', actor: 'anonymous' },
      answer: {},
      origin: 'runs',
      requestedAt: at,
    },
  );
  await state.runs.accept({ header, retryKey: null, openLimit: 10 });
  await log.publish([header]);
  await scenario.during?.({ server, cancel: () => state.runs.cancel(runId) });
  const end = await until(
    'the terminal entry',
    async () => {
      const page = await stream.read(runId, 0, 1_000);
      return page.ended ? page.entries.at(-1) : undefined;
    },
    { timeoutMs: 20_000, everyMs: 20 },
  );
  // Events in flight at the end of the run reach the log before every consumer is idle.
  await until(
    'idle services',
    async () => {
      const lags = await Promise.all(
        ['planner', 'merger', ...(scenario.classes ?? ['expert', 'evidence']), 'judge', 'graph-ingest'].map((group) => log.lag(group)),
      );
      return lags.flat().every(({ records }) => records === 0) || undefined;
    },
    { timeoutMs: 20_000, everyMs: 20 },
  );
  const calls = server.calls.length;
  const topics = topicsFor().map(({ name }) => name);
  const runs: ReplayedRun[] = [];
  await readRuns({ log, topics }, runId, async (recording) => void runs.push(await driveRun(recording)));
  expect(server.calls).toHaveLength(calls);
  const events: Event[] = [];
  for (const topic of topics) for await (const { event } of log.read(topic)) if (event) events.push(event);
  return { end, run: runs[0]!, events };
}

const callsOf = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'CallRecorded' ? [(event as CallRecorded).data] : []));
/** Checks the verdict, so that a failing test shows it, and that every recorded call was replayed. */
function expectSame({ run, events }: { run: ReplayedRun; events: readonly Event[] }): void {
  expect(replayedText(run)).toMatch(/^run_recorded0: same decisions, same state: /);
  expect(run.driven.calls).toBe(callsOf(events).length);
  expect(run.driven.steps).toBe(events.filter(({ type }) => type === 'StepRecorded').length);
}

const plan =
  '{"tasks":[{"id":"r1","task":"find it","capability":"research","search_query":"tower"},{"id":"x1","task":"answer it","capability":"expert.general"}]}';
const planned: ScriptedStep = { match: { system: 'You are the planner' }, reply: { text: plan } };
const expert: ScriptedStep = {
  match: { system: 'You are an expert' },
  reply: { text: 'Ana Bel.\nFINDING: Ana Bel founded it.\nCONFIDENCE: 0.9' },
};
const complete: ScriptedStep = {
  match: { system: 'You assess' },
  reply: { text: 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none' },
};
const written: ScriptedStep = { match: { system: 'You are the composer' }, reply: { text: 'Ana Bel founded it [1].', words: true } };

describe('a recorded run is the same under unchanged code', () => {
  it('when the ask for a plan was repeated and then a search and the general task were used', async () => {
    const result = await recorded({
      script: [{ ...planned, reply: { text: 'I would rather chat.' }, times: 3 }, expert, complete, written],
    });
    expect(result.end).toMatchObject({ outcome: 'completed' });
    expectSame(result);
    expect(result.run.driven).toMatchObject({ calls: 8, outcomes: 5 });
  });

  it('when the ask of a judge was repeated, and its second reply was used', async () => {
    const critic = (text: string, user: RegExp): ScriptedStep => ({ match: { system: 'You are the critic', user }, reply: { text } });
    const result = await recorded({
      script: [
        planned,
        expert,
        complete,
        { ...written, reply: { text: `Ana Bel founded it${', as everybody knows'.repeat(6)}.` } },
        critic('It is fine.', /^(?![\s\S]*cannot be used)/),
        critic('{"verdict":"corrected","reasons":["name"],"answer":"Ana Bela founded it."}', /no JSON\.\nReply again/),
      ],
      template: { critic: { categories: ['general'] } },
    });
    expect(result.end).toMatchObject({ outcome: 'completed', answer: 'Ana Bela founded it.', usage: { calls: 6 } });
    expect(callsOf(result.events).filter(({ purpose }) => purpose === 'judge.critic')).toHaveLength(2);
    expectSame(result);
  });

  it('when a model failed and the next one was called', async () => {
    const failing: ScriptedStep = {
      // Without scores the order of a tier is random: the model called first fails.
      match: (request) => ['first', 'second'].includes(request.model),
      reply: { status: 400, body: { error: { message: 'no' } } },
      times: 1,
    };
    const result = await recorded({ script: [planned, failing, expert, complete, written] });
    expect(callsOf(result.events).map(({ status }) => status)).toContain('error');
    expect(result.end).toMatchObject({ outcome: 'completed' });
    expectSame(result);
  });

  it('with the learning call, and names that call when its request has changed', async () => {
    const learner: ScriptedStep = {
      match: { system: 'You write down what an answer teaches.' },
      reply: { text: '[{"subject":"Ana Bel","relation":"CREATED","object":"the tower","confidence":0.9}]' },
    };
    const result = await recorded({ script: [planned, expert, complete, written, learner], template: { learn: 'triples' } });
    expect(callsOf(result.events).map(({ purpose }) => purpose)).toContain('graph.triples');
    expectSame(result);
  });

  it('when every model refused', async () => {
    const result = await recorded({
      script: [{ match: () => true, reply: { status: 401, body: { error: { message: 'no' } } }, times: 99 }],
    });
    expect(result.end).toMatchObject({ outcome: 'failed' });
    expectSame(result);
  });

  it('when no search was available', async () => {
    const result = await recorded({ script: [planned, expert, complete, written], search: null });
    expect(result.events).toContainEqual(
      expect.objectContaining({ type: 'ResultReady', data: expect.objectContaining({ status: 'unsupported' }) }),
    );
    expectSame(result);
  });

  it('when the engine settled a task that no worker took', async () => {
    const result = await recorded({ script: [planned, expert, complete, written], classes: ['expert'], template: { start_timeout_s: 1 } });
    expect(result.events.filter(({ type }) => type === 'TimerFired').length).toBeGreaterThan(0);
    expectSame(result);
  });

  it('when the answer stalled until its time was over', async () => {
    const stalled: ScriptedStep = { ...written, reply: { stallAfter: [{ text: 'Ana ' }] }, times: 9 };
    const result = await recorded({ script: [planned, expert, complete, stalled], template: { task_timeout_s: 1 } });
    expect(callsOf(result.events).map(({ status }) => status)).toContain('timeout');
    expectSame(result);
  });

  it('when it was cancelled in the middle of a call', async () => {
    const result = await recorded({
      script: [planned, { ...expert, reply: { hang: true } }],
      during: async ({ server, cancel }) => {
        await until('the call of the expert', async () => server.calls.length === 2 || undefined, { timeoutMs: 10_000, everyMs: 10 });
        await cancel();
      },
    });
    expect(callsOf(result.events).map(({ status }) => status)).toContain('cancelled');
    expect(result.end).toMatchObject({ outcome: 'cancelled' });
    expectSame(result);
  });

  it('as far as it was stored, and is incomplete otherwise', async () => {
    const { run } = await recorded({ script: [planned, expert, complete, written], storePrompts: 'hash' });
    expect(run).toMatchObject({
      first: null,
      lacks: [expect.stringMatching(/^replies are not stored: 5 of its calls/)],
      driven: { calls: 5 },
    });
    expect(sameAsRecorded(run)).toBe(false);
  });
});
