import { afterEach, describe, expect, it } from '@jest/globals';
import { openProviders } from '@conclave/adapter-openai';
import { openSqlite } from '@conclave/adapter-sqlite';
import { makeEvent, noUsage, RunCompleted, TaskDispatched, type ResultReady } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger, type DeliveryContext } from '@conclave/platform';
import { CallMaker } from '@conclave/calls';
import { graphCapability } from '@conclave/service-experts';
import { GraphIngestHandler } from '@conclave/service-graph-ingest';
import { ScriptedModelServer } from '@conclave/test-support';

const model = 'm@fake';
const signal = new AbortController().signal;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const triples = [
  { subject: 'Aurora Bridge', subject_type: 'bridge', relation: 'CREATED_BY', object: 'Ana Bel', object_type: 'person', confidence: 0.9 },
  { subject: 'Ana Bel', subject_type: 'person', relation: 'LOCATED_IN', object: 'Corin', object_type: 'town', confidence: 0.8 },
];
const summary = 'Ana Bel built every bridge of Corin before 1900 from local steel.';

/** The first run, committed. */
const firstRun = (graph: RunCompleted['data']['learning']['graph']): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: 'run_00000001/completed', runId: 'run_00000001', source: 'merger', time: 10 },
    {
      outcome: 'completed',
      rule: 'D3',
      reason: 'It is complete.',
      reasonCode: 'sufficient',
      question: 'Who built the Aurora Bridge?',
      answer: 'Ana Bel of Corin built the Aurora Bridge.',
      cutShort: false,
      sources: [],
      insight: { summary, entities: ['Ana Bel', 'Corin'], insight_type: 'synthesis' },
      history: [],
      rounds: 1,
      usage: noUsage,
      caller: { tenant: 'default', actor: 'me' },
      template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
      learning: { graph, models: [model], prices: {}, contexts: {} },
      failure: null,
      startedAt: 1,
      completedAt: 10,
    },
  );

/** The graph task of a second run, which asks something else about the same bridge. */
const secondRun = (): TaskDispatched =>
  makeEvent(
    TaskDispatched,
    { id: 'run_00000002/0/g1', runId: 'run_00000002', source: 'merger', time: 20, key: 'run_00000002/0/g1', taskClass: 'evidence' },
    {
      taskId: 'run_00000002/0/g1',
      epoch: 0,
      capability: 'graph',
      input: {
        kind: 'graph',
        question: 'What material is the Aurora Bridge made of?',
        categories: ['general'],
        filters: {},
        maxCharacters: 4_000,
      },
      models: [],
      prices: {},
      contexts: {},
      strategy: 'agentic',
      tenant: 'default',
      startBy: Date.now() + 10_000,
      timeoutS: 10,
      allowance: { calls: 1, tokens: 1_000, cost: null },
      stream: 'held',
    },
  );

async function evidenceOfTheSecondRun(learns: RunCompleted['data']['learning']['graph']) {
  const server = await ScriptedModelServer.start({
    script: [{ match: { system: /^You write down what an answer teaches/ }, reply: { text: JSON.stringify(triples) } }],
  });
  const sqlite = openSqlite({ home: ':memory:', processId: 'one', durability: 'process' });
  const models = openProviders({ providers: { fake: { base_url: server.url, local: false, paid: false } } });
  closers.push(
    () => server.close(),
    () => sqlite.close(),
    () => models.close(),
  );
  const metrics = openMetrics();
  const parts = {
    state: sqlite.state,
    stream: sqlite.stream,
    models,
    probe: noProbe,
    logger: silentLogger,
    metrics,
    processId: 'one',
    storePrompts: 'none',
    guard: null,
  } as const;
  const ingest = new GraphIngestHandler(
    sqlite.graph,
    sqlite.state,
    new CallMaker({ ...parts, service: 'graph-ingest' }),
    silentLogger,
    metrics,
    { ingest: () => Promise.resolve([]), dead: () => Promise.resolve() },
  );
  await ingest.onCompleted(firstRun(learns), { signal } as DeliveryContext);
  const capability = graphCapability(new CallMaker({ ...parts, service: 'experts' }), sqlite.stream, sqlite.graph, null);
  const performed = await capability({ task: secondRun(), signal, deadline: Date.now() + 10_000 });
  const { result } = performed as { readonly result: Partial<ResultReady['data']> };
  const { facts } = result.output as Extract<ResultReady['data']['output'], { kind: 'evidence' }>;
  return { calls: server.calls.length, facts: facts.map(({ text, source }) => `${text} (${source.kind}: ${source.title})`) };
}

describe('what one answer teaches', () => {
  it('is evidence for the next one: the insight is found through the relations of the same answer', async () => {
    expect(await evidenceOfTheSecondRun('triples')).toEqual({
      calls: 1,
      facts: [
        `${summary} (graph: Earlier insight: ${summary})`,
        'Aurora Bridge was created by Ana Bel. (graph: Aurora Bridge CREATED_BY Ana Bel)',
        'Ana Bel is located in Corin. (graph: Ana Bel LOCATED_IN Corin)',
      ],
    });
  });

  it('is absent when nothing was learned from the first one', async () => {
    expect(await evidenceOfTheSecondRun('off')).toEqual({ calls: 0, facts: [] });
  });
});
