import { describe, expect, it } from '@jest/globals';
import { Failure, makeEvent, TaskDispatched, type Event, type Fact, type ResultReady, type WorkerEntry } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryGraphStore, MemoryStores, type KnowledgeGraph, type Models, type Triple } from '@conclave/ports';
import { CallMaker, workOn } from '@conclave/calls';
import { graphJudgementKey } from '@conclave/strategies';
import { graphCapability, type FactLookup } from './graph.capability.js';
import type { TenantCache } from './tenant-cache.js';

const runId = 'run_00000001';
const taskId = `${runId}/0/g1`;

interface GraphCall {
  readonly question?: string;
  readonly tenant?: string;
  readonly categories?: readonly string[];
  readonly filters?: Readonly<Record<string, string>>;
  readonly maxCharacters?: number;
  readonly detail?: 'redacted' | 'full';
  readonly taskId?: string;
}

const dispatched = (asked: GraphCall): TaskDispatched => {
  const {
    question = 'What is the Aurora Bridge made of?',
    tenant = 'acme',
    categories = [],
    filters = {},
    maxCharacters = 4_000,
    detail = 'redacted',
  } = asked;
  return makeEvent(
    TaskDispatched,
    { id: asked.taskId ?? taskId, runId, source: 'merger', time: 1, key: taskId, taskClass: 'evidence' },
    {
      taskId: asked.taskId ?? taskId,
      epoch: 0,
      capability: 'graph',
      input: { kind: 'graph', question, categories: [...categories], filters: { ...filters }, maxCharacters },
      models: [],
      prices: {},
      contexts: {},
      strategy: 'agentic',
      tenant,
      startBy: Date.now() + 10_000,
      timeoutS: 10,
      allowance: { calls: 1, tokens: 1, cost: null },
      stream: 'held',
      detail,
    },
  );
};

interface World {
  readonly graph?: KnowledgeGraph;
  readonly facts?: FactLookup;
  readonly cache?: TenantCache;
  readonly stores?: MemoryStores;
  readonly withinMs?: number;
}

function worker({ graph = new MemoryGraphStore().connect(), facts, cache, stores = new MemoryStores(), withinMs }: World = {}) {
  const { state, stream } = stores.connect('one');
  const shown: WorkerEntry[] = [];
  const watched: Parameters<typeof graphCapability>[1] = {
    append: (id, entries) => (shown.push(...(entries as readonly WorkerEntry[])), stream.append(id, entries)),
  };
  const maker = new CallMaker({
    state,
    stream,
    models: {} as Models,
    probe: noProbe,
    logger: silentLogger,
    metrics: openMetrics(),
    processId: 'one',
    service: 'experts',
    storePrompts: 'full',
    guard: null,
  });
  const capability = graphCapability(maker, watched, graph, facts ?? null, cache ?? null, withinMs);
  const ask = async (asked: GraphCall = {}) => {
    const signal = new AbortController().signal;
    const outcome = await workOn(dispatched(asked), {
      state,
      cancels: maker.cancels,
      source: 'experts',
      signal,
      capability,
      callsFirst: false,
    });
    const [result, ...records] = outcome as readonly [ResultReady, ...Event[]];
    const output = result.data.output as { kind: 'evidence'; facts: readonly Fact[]; notes: readonly string[] };
    return {
      data: result.data,
      facts: output?.facts ?? [],
      texts: output?.facts.map(({ text }) => text) ?? [],
      notes: output?.notes ?? [],
      records,
    };
  };
  return { graph, ask, shown, stores };
}

const triple = (subject: string, relation: Triple['relation'], object: string): Triple => ({
  subject,
  subjectType: '',
  relation,
  object,
  objectType: '',
  confidence: 0.9,
});
const learn = (graph: KnowledgeGraph, triples: readonly Triple[], more: { tenant?: string; domain?: string } = {}) =>
  graph.addTriples({
    tenant: 'acme',
    eventId: `e ${JSON.stringify(triples)}`,
    runId: 'run_00000009',
    source: 'answer',
    triples,
    domain: 'general',
    at: 1,
    ...more,
  });
const insight = (graph: KnowledgeGraph, summary: string, entities: readonly string[], tenant = 'acme') =>
  graph.addSynthesis({
    tenant,
    runId: `run ${summary}`,
    insight: { summary, entities: [...entities], insight_type: 'synthesis' },
    domain: 'general',
    confidence: 0.9,
    at: 1,
  });

const memoryCache = () => {
  const kept = new Map<string, string>();
  const ttls: number[] = [];
  const cache: TenantCache = {
    read: (key) => Promise.resolve(kept.get(key) ?? null),
    write: (key, value, ttlMs) => (kept.set(key, value), ttls.push(ttlMs), Promise.resolve()),
  };
  return { cache, kept, ttls };
};

describe('the graph capability', () => {
  it('returns relations and insights as facts whose sources are the graph, and shows their number', async () => {
    const { graph, ask, shown } = worker();
    await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel')]);
    await insight(graph, 'Steel bridges in Corin rust early.', ['Steel', 'Corin']);
    const { data, facts, notes, records } = await ask();
    expect(data).toMatchObject({ status: 'ok', taskId, failure: null });
    expect(facts).toEqual([
      {
        text: 'Steel bridges in Corin rust early.',
        source: {
          kind: 'graph',
          title: 'Earlier insight: Steel bridges in Corin rust early.',
          url: null,
          insight: { id: expect.stringMatching(/^[0-9a-f]{16}$/), runs: ['run Steel bridges in Corin rust early.'] },
        },
        taskId,
        epoch: 0,
        confidence: 0.9,
      },
      {
        text: 'Aurora Bridge uses Steel.',
        source: { kind: 'graph', title: 'Aurora Bridge USES Steel', url: null },
        taskId,
        epoch: 0,
        confidence: 0.54,
      },
    ]);
    expect(data.sources).toEqual(facts.map(({ source }) => source));
    expect(notes).toEqual([]);
    expect(records).toMatchObject([{ type: 'CallRecorded', data: { model: 'graph.retrieve', purpose: 'graph', status: 'ok' } }]);
    expect(shown).toEqual([
      { kind: 'progress', taskId, attempt: 1, n: 0, code: 'graph.context', text: 'Knowledge graph: 1 relation, 1 insight' },
    ]);
  });

  it('shows the context itself only if the run requested full detail', async () => {
    const { graph, ask, shown } = worker();
    await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel')]);
    await ask({ detail: 'full' });
    expect(shown).toMatchObject([{ code: 'graph.context', detail: '- Aurora Bridge uses Steel. (trust 0.54)' }]);
  });

  it('uses what an earlier answer taught the same tenant, and nothing that another tenant was taught', async () => {
    const first = 'The Aurora Bridge and the Corin Tower share one architect.';
    const question = { question: 'What do the Aurora Bridge and other buildings of Corin have in common?' };
    const taught = worker();
    await insight(taught.graph, first, ['Aurora Bridge', 'Corin Tower']);
    const control = worker();
    await insight(control.graph, first, ['Aurora Bridge', 'Corin Tower'], 'another tenant');
    expect((await taught.ask(question)).facts).toMatchObject([{ text: first, source: { title: `Earlier insight: ${first}` } }]);
    expect((await control.ask(question)).facts).toEqual([]);
  });

  it('continues without the graph if it is unavailable, and says so', async () => {
    const store = new MemoryGraphStore();
    const graph = store.connect();
    await graph.close();
    const { ask, shown } = worker({ graph });
    const { data, facts, notes, records } = await ask();
    expect(data.status).toBe('ok');
    expect(facts).toEqual([]);
    expect(notes).toEqual(['The knowledge graph did not answer, so retrieval was skipped.']);
    expect(records).toMatchObject([{ data: { status: 'error', failure: { code: 'GRAPH_UNAVAILABLE' } } }]);
    expect(shown).toMatchObject([{ text: 'The knowledge graph did not answer, so retrieval was skipped.' }]);
  });

  it('continues without a graph that hangs, for however long', async () => {
    const hanging: KnowledgeGraph = { ...new MemoryGraphStore().connect(), retrieve: () => new Promise(() => undefined) };
    const { data, facts, notes } = await worker({ graph: hanging, withinMs: 30 }).ask();
    expect([data.status, facts]).toEqual(['ok', []]);
    expect(notes).toEqual(['The knowledge graph did not answer, so retrieval was skipped.']);
  });

  it('asks the graph once, however often the task is delivered', async () => {
    const inner = new MemoryGraphStore().connect();
    await learn(inner, [triple('Aurora Bridge', 'USES', 'Steel')]);
    let asked = 0;
    const graph: KnowledgeGraph = { ...inner, retrieve: (query) => ((asked += 1), inner.retrieve(query)) };
    const stores = new MemoryStores();
    const one = await worker({ graph, stores }).ask();
    await learn(inner, [triple('Aurora Bridge', 'LOCATED_IN', 'Corin')]);
    expect((await worker({ graph, stores }).ask()).facts).toEqual(one.facts);
    expect(asked).toBe(1);
  });

  it('passes errors that are not an outage to the log', async () => {
    const graph = { retrieve: () => Promise.reject(new TypeError('a bug')) } as unknown as KnowledgeGraph;
    await expect(worker({ graph }).ask()).rejects.toThrow('a bug');
  });

  it('stays within its limit of characters, including facts by filter', async () => {
    const facts: FactLookup = () =>
      Promise.resolve({ facts: Array.from({ length: 50 }, (_, n) => fact(`filtered fact ${n} ${'y'.repeat(50)}`)), unknownKeys: [] });
    const { graph, ask } = worker({ facts });
    for (let n = 0; n < 50; n += 1) await learn(graph, [triple('Aurora Bridge', 'USES', `Part ${n} ${'x'.repeat(50)}`)]);
    const { texts } = await ask({ maxCharacters: 1_000, filters: { expert_domain: 'law' } });
    const length = texts.join('').length;
    expect(length).toBeGreaterThan(800);
    // Each sentence adds a full stop.
    expect(length).toBeLessThanOrEqual(1_000 + texts.length);
    expect(texts.filter((text) => text.startsWith('filtered fact')).length).toBeGreaterThan(1);
  });

  describe('with facts that filters select', () => {
    it('reports unknown keys, and searches for the tenant and the question', async () => {
      const asked: unknown[] = [];
      const facts: FactLookup = (...query) => {
        asked.push(query.slice(0, 3));
        return Promise.resolve({ facts: [fact('§ 242 is about good faith.')], unknownKeys: ['colour'] });
      };
      const { ask, shown } = worker({ facts });
      const { facts: found, notes, records } = await ask({ filters: { expert_domain: 'law', colour: 'red' } });
      expect(asked).toEqual([['acme', 'What is the Aurora Bridge made of?', { expert_domain: 'law', colour: 'red' }]]);
      expect(found).toMatchObject([{ text: '§ 242 is about good faith.', taskId, source: { kind: 'memory' } }]);
      expect(notes).toEqual(['No fact has these filters: colour.']);
      expect(records).toMatchObject([{ data: { model: 'graph.retrieve' } }, { data: { model: 'facts.lookup' } }]);
      expect(shown).toMatchObject([{ text: 'Knowledge graph: 0 relations, 0 insights, 1 fact by filter' }]);
    });

    it('also returns what was learned about the question when the plan names no filter', async () => {
      const facts: FactLookup = (_tenant, _question, filters) =>
        Promise.resolve({ facts: Object.keys(filters).length === 0 ? [fact('The bridge is of steel.')] : [], unknownKeys: [] });
      const { ask, shown } = worker({ facts });
      expect((await ask()).facts).toMatchObject([{ text: 'The bridge is of steel.', source: { kind: 'memory' } }]);
      expect(shown).toMatchObject([{ text: 'Knowledge graph: 0 relations, 0 insights, 1 fact' }]);
    });

    it('continues without them, and without the graph, if they are unavailable', async () => {
      const graph = new MemoryGraphStore().connect();
      await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel')]);
      const facts: FactLookup = () => Promise.reject(new Failure('GRAPH_UNAVAILABLE'));
      const { texts, notes } = await worker({ graph, facts }).ask({ filters: { expert_domain: 'law' } });
      expect(texts).toEqual(['Aurora Bridge uses Steel.']);
      expect(notes).toEqual(['The facts that the filters ask for could not be read and were left out.']);
      const away = new MemoryGraphStore().connect();
      await away.close();
      const there: FactLookup = () => Promise.resolve({ facts: [fact('still there')], unknownKeys: [] });
      expect((await worker({ graph: away, facts: there }).ask({ filters: { a: 'b' } })).texts).toEqual(['still there']);
    });

    it('weighs the domain of a filter like a category', async () => {
      const { graph, ask } = worker();
      await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel'), triple('Aurora Bridge', 'USES', 'Stone')]);
      await learn(graph, [triple('Aurora Bridge', 'USES', 'Permit')], { domain: 'law' });
      expect((await ask({ filters: { expert_domain: 'law' } })).texts[0]).toBe('Aurora Bridge uses Permit.');
      expect((await ask({ categories: ['law'], taskId: `${runId}/0/g2` })).texts[0]).toBe('Aurora Bridge uses Permit.');
    });
  });

  describe('with a cache', () => {
    it('caches a context for an hour and says where it came from', async () => {
      const { cache, ttls } = memoryCache();
      const { graph, ask, shown } = worker({ cache });
      await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel')]);
      const first = await ask();
      await learn(graph, [triple('Aurora Bridge', 'USES', 'Stone')]);
      const again = await ask({ taskId: `${runId}/0/g2`, question: '  what is the AURORA bridge made of? ' });
      expect(again.texts).toEqual(first.texts);
      expect([first.notes, again.notes]).toEqual([[], ['The context of the knowledge graph came from its cache.']]);
      expect(shown.at(-1)).toMatchObject({ text: 'Knowledge graph: 1 relation, 0 insights, from the cache' });
      expect(ttls).toEqual([3_600_000]);
    });

    it.each([
      ['tenant', { tenant: 'zeta' }],
      ['question', { question: 'What is the Aurora Bridge not made of?' }],
      ['categories', { categories: ['law'] }],
      ['filters', { filters: { expert_domain: 'law' } }],
    ])('has a separate entry for another %s', async (_what, other) => {
      const { cache, kept } = memoryCache();
      const { ask } = worker({ cache });
      await ask();
      await ask({ ...other, taskId: `${runId}/0/g2` });
      expect(kept.size).toBe(2);
    });

    it('returns no context from before a rating, not even one that was read before and cached after it', async () => {
      const { cache, kept } = memoryCache();
      const inner = new MemoryGraphStore().connect();
      await insight(inner, 'The Aurora Bridge is made of ice.', ['Aurora Bridge']);
      const rate = async (): Promise<void> => {
        await inner.adjustTrust({ tenant: 'acme', runId: 'run The Aurora Bridge is made of ice.', eventId: 'bad', positive: false });
        kept.set(graphJudgementKey, 'bad');
      };
      const graph: KnowledgeGraph = {
        ...inner,
        retrieve: async (query) => {
          const before = await inner.retrieve(query);
          await rate();
          return before;
        },
      };
      const { ask } = worker({ cache, graph });
      expect((await ask()).texts).toEqual(['The Aurora Bridge is made of ice.']);
      const after = await ask({ taskId: `${runId}/0/g2` });
      expect([after.texts, after.notes]).toEqual([[], []]);
    });

    it('caches nothing while the graph is unavailable', async () => {
      const { cache, kept } = memoryCache();
      const graph = new MemoryGraphStore().connect();
      await graph.close();
      await worker({ cache, graph }).ask();
      expect(kept.size).toBe(0);
    });
  });

  it('treats hostile questions as plain questions', async () => {
    const { graph, ask } = worker();
    await learn(graph, [triple('Aurora Bridge', 'USES', 'Steel')]);
    for (const question of [
      "'} ) DETACH DELETE n //",
      '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /',
      'A'.repeat(10_240),
      '“'.repeat(5_000),
      '\u0000',
    ])
      expect((await ask({ question, taskId: `${runId}/0/${question.length}` })).data.status).toBe('ok');
    expect((await ask()).texts).toEqual(['Aurora Bridge uses Steel.']);
  });
});

function fact(text: string): Fact {
  return { text, source: { kind: 'memory', title: 'fact', url: null }, taskId: 'elsewhere', epoch: 7, confidence: 0.8 };
}
