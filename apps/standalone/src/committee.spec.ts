import { afterEach, describe, expect, it } from '@jest/globals';
import { openProviders } from '@conclave/adapter-openai';
import { openSqlite } from '@conclave/adapter-sqlite';
import {
  addUsage,
  type CallRecorded,
  CommandIssued,
  commandId,
  type Event,
  makeEvent,
  noUsage,
  PlanRequested,
  type RunCompleted,
  type StreamEntry,
  type Template,
} from '@conclave/contracts';
import { noProbe, openMetrics, openReadiness, serve, silentLogger, type Ports } from '@conclave/platform';
import type { Search } from '@conclave/ports';
import { ExpertsModule } from '@conclave/service-experts';
import { GraphIngestModule } from '@conclave/service-graph-ingest';
import { MergerModule } from '@conclave/service-merger';
import { PlannerModule } from '@conclave/service-planner';
import { ScriptedModelServer, until, type ScriptedStep } from '@conclave/test-support';

const model = 'm@fake';
const template: Template = {
  id: 'conclave',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  planner: { models: [model], prompt: null },
  judge: { models: [model] },
  experts: { general: { t1: [model], prompt: 'Answer.' } },
  capabilities: ['research'],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 20,
  start_timeout_s: 10,
  planning_timeout_s: 20,
  progress: 'reasoning',
  prices: {},
  contexts: {},
};

const documents: Readonly<Record<string, string>> = {
  founder: 'The tower was founded by Ana Bel.',
  birthplace: 'Ana Bel was born in Corin.',
};
const search: Search = {
  kind: 'corpus',
  description: 'two documents',
  query: async ({ query }) =>
    Object.entries(documents).flatMap(([key, snippet]) => (query.includes(key) ? [{ title: key, url: null, snippet }] : [])),
  health: async () => null,
  close: async () => undefined,
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function committee(steps: readonly ScriptedStep[]) {
  const server = await ScriptedModelServer.start({ script: [...steps] });
  closers.push(() => server.close());
  const sqlite = openSqlite({ home: ':memory:', processId: 'test', durability: 'process' });
  closers.push(() => sqlite.close());
  const models = openProviders({ providers: { fake: { base_url: server.url, local: false, paid: false } } });
  closers.push(() => models.close());
  const ports: Ports = {
    log: sqlite.log,
    state: sqlite.state,
    stream: sqlite.stream,
    blobs: sqlite.blobs,
    graph: sqlite.graph,
    models,
    search,
    close: async () => undefined,
  };
  const observers = {
    logger: silentLogger,
    metrics: openMetrics(),
    probe: noProbe,
    readiness: openReadiness(),
  };
  const parts = [
    ['planner', PlannerModule.register({ storePrompts: 'full' }), []],
    ['experts', ExpertsModule.register({ storePrompts: 'full' }), ['expert', 'evidence']],
    ['merger', MergerModule.register({ storePrompts: 'full' }), ['judge']],
    ['graph-ingest', GraphIngestModule.register(), []],
  ] as const;
  for (const [service, module, classes] of parts) {
    const served = await serve({ service, module, ports, observers, process: { id: 'test', classes } });
    closers.push(() => served.close());
  }
  return { server, sqlite };
}

async function run(sqlite: ReturnType<typeof openSqlite>, runId: string, goal: string): Promise<StreamEntry[]> {
  const at = Date.now();
  const header = makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'gateway', time: at },
    {
      goal,
      conversation: [],
      system: null,
      template,
      limits: template.limits,
      caller: { tenant: 'default', actor: 'anonymous' },
      answer: {},
      origin: 'runs',
      requestedAt: at,
    },
  );
  await sqlite.state.runs.accept({ header, retryKey: null, openLimit: 10 });
  await sqlite.log.publish([header]);
  return until(
    'the terminal entry',
    async () => {
      const page = await sqlite.stream.read(runId, 0, 1_000);
      return page.ended ? [...page.entries] : undefined;
    },
    { timeoutMs: 15_000, everyMs: 20 },
  );
}

async function eventsOf<E extends Event>(sqlite: ReturnType<typeof openSqlite>, topic: string, type: string): Promise<E[]> {
  const found: E[] = [];
  for await (const { event } of sqlite.log.read(topic)) if (event?.type === type) found.push(event as E);
  return found;
}

const plan = (query: string, expert = false): string =>
  JSON.stringify({
    tasks: [
      { id: 'r1', task: 'find it', capability: 'research', search_query: query },
      ...(expert ? [{ id: 'x1', task: 'answer it', capability: 'expert.general' }] : []),
    ],
  });

describe('the committee over the embedded log', () => {
  it('answers a two-hop question after one re-plan with exactly the calls it needs', async () => {
    const { server, sqlite } = await committee([
      { match: { system: /ITERATION 1\/3[\s\S]*You are the planner/, user: 'QUESTION:' }, reply: { text: plan('birthplace') } },
      { match: { system: /^You are the planner/ }, reply: { text: plan('founder', true) } },
      {
        match: { system: 'You are an expert', user: 'Ana Bel' },
        reply: { text: 'Ana Bel founded it.\nFINDING: Ana Bel founded the tower.\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none' },
      },
      {
        match: { system: 'You assess', user: 'born in Corin' },
        reply: { text: 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none' },
      },
      {
        match: { system: 'You assess' },
        reply: { text: 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: where Ana Bel was born\nNEXT_FOCUS: birthplace of Ana Bel' },
      },
      {
        match: { system: 'You are the composer' },
        reply: {
          text: 'She was born in Corin [1].<SYNTHESIS_INSIGHT>{"summary":"The founder of the tower was born in Corin","entities":["Tower","Corin"],"insight_type":"inference"}</SYNTHESIS_INSIGHT>',
          words: true,
        },
      },
    ]);
    const entries = await run(sqlite, 'run_twohop000', 'Where was the founder of the tower born?');
    expect(server.violations()).toEqual([]);
    expect(server.calls).toHaveLength(6);
    const end = entries.at(-1)!;
    expect(end).toMatchObject({ kind: 'run.completed', outcome: 'completed', rule: 'D3', rounds: 2, usage: { calls: 6 } });
    const text = entries.flatMap((entry) => (entry.kind === 'chunk' ? [entry.text] : [])).join('');
    expect(text).toBe('She was born in Corin [1].\n\nSources:\n[1] birthplace');
    expect(end.kind === 'run.completed' && end.answer).toBe(text);
    expect(entries.map((entry) => entry.id)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.filter((entry) => entry.kind === 'decided').map((entry) => entry.rule)).toEqual(['D9', 'D3']);
    const graph = await until('the synthesis node', async () => {
      const found = await sqlite.graph.synthesesAbout({ tenant: 'default', entities: ['corin'], limit: 5 });
      return found.length > 0 ? found : undefined;
    });
    expect(graph).toMatchObject([{ text: 'The founder of the tower was born in Corin', runs: ['run_twohop000'] }]);
  });

  it('repeats the ask for a plan with its fault at most twice, then searches for the question before the general task', async () => {
    const { server, sqlite } = await committee([
      { match: { system: 'You are the planner' }, reply: { text: 'I would rather chat.' }, times: 3 },
      { match: { system: 'You are an expert' }, reply: { text: 'Forty-two.\nCONFIDENCE: high' } },
      { match: { system: 'You assess' }, reply: { text: 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none' } },
      { match: { system: 'You are the composer' }, reply: { text: 'Forty-two.' } },
    ]);
    const entries = await run(sqlite, 'run_fallback0', 'What is it?');
    expect(server.violations()).toEqual([]);
    expect(entries.at(-1)).toMatchObject({ kind: 'run.completed', outcome: 'completed', answer: 'Forty-two.', usage: { calls: 6 } });
    const plan = entries.find((entry) => entry.kind === 'plan.ready');
    expect(plan).toMatchObject({ fallback: true, tasks: [{ capability: 'research' }, { capability: 'expert.general' }] });
  });

  it("keeps the usage of a call that a cancel cut short in the ledger, beside the run's own count", async () => {
    const runId = 'run_cancelled0';
    const { server, sqlite } = await committee([
      {
        match: { system: 'You are the planner' },
        reply: { text: JSON.stringify({ tasks: [{ id: 'x1', task: 'answer it', capability: 'expert.general' }] }) },
      },
      { match: { system: 'You are an expert' }, reply: { stallAfter: [{ text: 'Forty-two, because of what was said before.' }] } },
    ]);
    const running = run(sqlite, runId, 'What is it?');
    await until('the expert to be asked', () => server.calls.length === 2);
    const issuedAt = Date.now();
    await sqlite.log.publish([
      makeEvent(
        CommandIssued,
        { id: commandId(runId, 1), runId, source: 'gateway', time: issuedAt },
        { seq: 1, actor: 'anonymous', issuedAt, command: { name: 'cancel', reason: 'enough' } },
      ),
    ]);
    const end = (await running).at(-1)!;
    expect(end).toMatchObject({ kind: 'run.completed', outcome: 'cancelled', usage: { calls: 1 } });
    const ofRun = await until('the call to be in the ledger', async () => {
      const usage = await sqlite.state.usage.ofRun(runId);
      return usage.calls === 2 ? usage : undefined;
    });
    const planned = end.kind === 'run.completed' ? end.usage : noUsage;
    expect(ofRun.prompt).toBeGreaterThan(planned.prompt);
    const account = { tenant: 'default', actor: 'anonymous', period: 'day', at: issuedAt } as const;
    expect(await sqlite.state.usage.ofAccount(account)).toEqual(ofRun);

    const records = await until('the record of the call', async () => {
      const found = await eventsOf<CallRecorded>(sqlite, 'audit', 'CallRecorded');
      return found.length === 2 ? found : undefined;
    });
    expect(records.map(({ data }) => data.usage).reduce(addUsage)).toEqual(ofRun);
    expect(records.at(-1)!.data).toMatchObject({ purpose: 'expert.general', status: 'cancelled', usage: { calls: 1 } });
    expect(await eventsOf<RunCompleted>(sqlite, 'run.completed', 'RunCompleted')).toMatchObject([{ data: { openCalls: 1 } }]);
  });

  it('fails with the failure of the model server when no model can be called', async () => {
    const { sqlite } = await committee([
      { match: () => true, reply: { status: 401, body: { error: { message: 'no' } } }, times: Number.POSITIVE_INFINITY },
    ]);
    const entries = await run(sqlite, 'run_refused00', 'What is it?');
    expect(entries.at(-1)).toMatchObject({
      kind: 'run.completed',
      outcome: 'failed',
      answer: null,
      failure: { code: 'PROVIDER_UNAUTHENTICATED' },
    });
  });
});
