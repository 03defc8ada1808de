import { describe, expect, it } from '@jest/globals';
import { Failure, type Event } from '@conclave/contracts';
import { MemoryGraphStore, MemoryStores, type GraphContext, type KnowledgeGraph } from '@conclave/ports';
import { graphJudgementKey } from '@conclave/strategies';
import { completed, context, ingest, proposed, runId } from './__fixtures__/ingest.js';

const treats = JSON.stringify([
  { subject: 'Aspirin', subject_type: 'drug', relation: 'TREATS', object: 'Headache', object_type: 'symptom', confidence: 1 },
]);

const about = (graph: KnowledgeGraph, term: string, tenant = 'default'): Promise<GraphContext> =>
  graph.retrieve({ tenant, terms: [term], categories: [], limit: 10, maxCharacters: 1_000 });

/** A graph that is unavailable until the spec restores it. */
function patchy(inner: KnowledgeGraph) {
  let away = true;
  const graph = new Proxy(inner, {
    get: (target, name) =>
      away
        ? () => Promise.reject(new Failure('GRAPH_UNAVAILABLE'))
        : (Reflect.get(target, name) as (() => unknown) | undefined)?.bind(target),
  });
  return { graph, back: () => void (away = false) };
}

describe('graph ingest', () => {
  it('extracts triples from an ended run, and writes entities, relations and the insight', async () => {
    const { handler, graph, asked, metrics } = ingest({ replies: [treats] });
    const outcome = (await handler.onCompleted(completed(), context)) as readonly Event[];
    expect(outcome).toMatchObject([
      {
        type: 'CallRecorded',
        runId,
        id: `${runId}/ingest/call/0/1`,
        source: 'graph-ingest',
        data: { purpose: 'graph.triples', status: 'ok' },
      },
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('Aspirin treats headache.');
    expect(asked[0]).toContain('Pharmacology');
    const { entities, relations, syntheses } = await about(graph, 'Aspirin');
    // The confidence of the assessment bounds that of the model: 0.9 x 0.6.
    expect(relations).toEqual([{ subject: 'Aspirin', relation: 'TREATS', object: 'Headache', trust: 0.54, source: 'answer', hops: 1 }]);
    expect(entities).toContainEqual({ name: 'Headache', type: 'symptom', hops: 1 });
    expect(syntheses).toMatchObject([
      { text: 'Aspirin is about pain.', confidence: 0.9, entities: ['Aspirin', 'Pain'], runs: [runId], hops: 0 },
    ]);
    expect(await metrics.text()).toContain('conclave_graph_extractions_total{outcome="ok"} 1');
  });

  it('learns nothing from a run that was deleted, even while it was being read', async () => {
    const stores = new MemoryStores();
    const erase = () => stores.connect('two').state.runs.erase({ runId, tenant: 'default', requestedAt: 1 });
    const deleted = ingest({ stores });
    await erase();
    expect(await deleted.handler.onCompleted(completed(), context)).toEqual([]);
    expect(deleted.asked).toEqual([]);

    const later = new MemoryStores();
    const inner = new MemoryGraphStore().connect();
    const statsAtScrub: unknown[] = [];
    // The run is deleted after the graph was asked to forget it, and before this writes.
    const graph: KnowledgeGraph = {
      ...inner,
      addSynthesis: async (write) => {
        await later.connect('two').state.runs.erase({ runId, tenant: 'default', requestedAt: 1 });
        return inner.addSynthesis(write);
      },
      // Its erasure can no longer remove from files what is forgotten after it.
      scrub: async () => void statsAtScrub.push(await inner.stats('default')),
    };
    await ingest({ stores: later, graph, replies: [treats] }).handler.onCompleted(completed(), context);
    expect(await inner.stats('default')).toMatchObject({ entities: 0, relations: 0, syntheses: 0 });
    expect(statsAtScrub).toEqual([await inner.stats('default')]);
  });

  it('forgets what it wrote of a deleted run before it died, whether the record comes again whole or erased', async () => {
    for (const again of ['whole', 'erased']) {
      const stores = new MemoryStores();
      const graph = new MemoryGraphStore().connect();
      await ingest({ stores, graph, replies: [treats] }).handler.onCompleted(completed(), context);
      const heir = ingest({ stores, graph }).handler;
      expect(await heir.onErased({ type: 'RunCompleted', runId })).toEqual([]);
      expect(await graph.stats('default')).not.toMatchObject({ entities: 0 });
      await stores.connect('two').state.runs.erase({ runId, tenant: 'default', requestedAt: 1 });
      if (again === 'whole') await heir.onCompleted(completed(), context);
      else await heir.onErased({ type: 'RunCompleted', runId });
      expect(await graph.stats('default')).toMatchObject({ entities: 0, relations: 0, syntheses: 0 });
    }
  });

  it('forgets a deleted run when the gateway cannot, once the graph answers', async () => {
    const inner = new MemoryGraphStore().connect();
    const { graph, back } = patchy(inner);
    const { handler } = ingest({ graph });
    await ingest({ graph: inner, replies: [treats] }).handler.onCompleted(completed(), context);
    const erasure = proposed({ kind: 'erasure', rating: null }, `${runId}/forgotten`);
    expect(await handler.onProposed(erasure, context)).toEqual({ deferMs: 2_000 });
    back();
    expect(await handler.onProposed(erasure, context)).toEqual([]);
    expect(await inner.stats('default')).toMatchObject({ entities: 0, relations: 0, syntheses: 0 });
  });

  it('does not count an insight as assessed when its gap check failed or could not be read', async () => {
    const { handler, graph } = ingest({ replies: [treats] });
    await handler.onCompleted(completed({ rule: 'D3', reasonCode: 'assessment_unreadable', assessed: false }), context);
    const { relations, syntheses } = await about(graph, 'Aspirin');
    expect(syntheses).toMatchObject([{ confidence: 0.6 }]);
    expect(relations).toMatchObject([{ trust: 0.36 }]);
  });

  it('pays once and changes nothing if the record is redelivered, also to another process', async () => {
    const stores = new MemoryStores();
    const graph = new MemoryGraphStore().connect();
    const first = ingest({ replies: [treats], stores, graph });
    const outcome = await first.handler.onCompleted(completed(), context);
    const before = await about(graph, 'Aspirin');
    const second = ingest({ stores, graph });
    expect(await second.handler.onCompleted(completed(), context)).toEqual(outcome);
    expect([first.asked.length, second.asked.length]).toEqual([1, 0]);
    expect(await about(graph, 'Aspirin')).toEqual(before);
  });

  it('waits in the log while the graph is unavailable, keeps the paid reply, and catches up', async () => {
    const { graph, back } = patchy(new MemoryGraphStore().connect());
    const { handler, asked } = ingest({ replies: [treats], graph });
    for (let again = 0; again < 3; again += 1)
      expect(await handler.onCompleted(completed(), context)).toEqual({ deferMs: expect.any(Number) });
    expect(await handler.onProposed(proposed(), context)).toEqual({ deferMs: expect.any(Number) });
    back();
    expect(await handler.onCompleted(completed(), context)).toMatchObject([{ type: 'CallRecorded' }]);
    expect(await handler.onProposed(proposed(), context)).toEqual([]);
    expect(asked).toHaveLength(1);
    expect((await about(graph, 'Aspirin')).relations).toMatchObject([{ trust: 0.655 }]);
  });

  it('passes every other error to the log', async () => {
    const graph = { addSynthesis: () => Promise.reject(new TypeError('a bug')) } as unknown as KnowledgeGraph;
    const { handler } = ingest({ graph });
    const insights = completed({ learning: { graph: 'insights', models: [], prices: {}, contexts: {} } });
    await expect(handler.onCompleted(insights, context)).rejects.toThrow('a bug');
  });

  it('finds what it learned although entities and links arrive with the same record', async () => {
    const { handler, graph } = ingest({ replies: [treats] });
    const insight = { summary: 'Headache and sleep go together.', entities: ['Headache', 'Sleep'], insight_type: 'synthesis' as const };
    await handler.onCompleted(completed({ insight }), context);
    expect((await about(graph, 'Aspirin')).syntheses).toMatchObject([{ text: insight.summary, hops: 1 }]);
    expect((await about(graph, 'Sleep')).syntheses).toMatchObject([{ text: insight.summary, hops: 0 }]);
  });

  it.each([
    ['cannot be used', 'I know nothing.', 'unusable', 'warn'],
    ['is empty', '[]', 'empty', null],
    ['never arrives', new Failure('PROVIDER_UNREACHABLE'), 'failed', 'warn'],
  ] as const)(
    'keeps the insight when the reply %s, counts and reports it, and does not ask again',
    async (_what, reply, outcome, level) => {
      const { handler, graph, asked, lines, metrics } = ingest({ replies: [reply] });
      expect(await handler.onCompleted(completed(), context)).toMatchObject([{ type: 'CallRecorded' }]);
      await handler.onCompleted(completed(), context);
      expect(asked).toHaveLength(1);
      expect((await graph.stats('default')).relations).toBe(0);
      expect((await about(graph, 'Pain')).syntheses).toHaveLength(1);
      expect(await metrics.text()).toContain(`outcome="${outcome}"`);
      const said = lines.filter((line) => line.level === 'warn');
      expect(said.map((line) => line.level)).toEqual(level ? [level, level] : []);
      expect(JSON.stringify(lines)).not.toContain('I know nothing');
    },
  );

  it.each([
    ['off', { learning: { graph: 'off' as const, models: ['m@fake'], prices: {}, contexts: {} } }],
    ['a cancelled run', { outcome: 'cancelled' as const, answer: null }],
    ['a failed run', { outcome: 'failed' as const, answer: null }],
    ['an answer from a cache', { cached: { origin: 'semantic' as const, runId: 'run_00000009', distance: 0.1 } }],
  ])('learns nothing from %s', async (_what, data) => {
    const { handler, graph, asked } = ingest();
    expect(await handler.onCompleted(completed(data), context)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await graph.stats('default')).toMatchObject({ entities: 0, syntheses: 0 });
  });

  it.each([
    ['insights', { graph: 'insights' as const, models: ['m@fake'], prices: {}, contexts: {} }],
    ['triples without a model', { graph: 'triples' as const, models: [], prices: {}, contexts: {} }],
  ])('makes no call for %s', async (_what, learning) => {
    const { handler, graph, asked } = ingest();
    expect(await handler.onCompleted(completed({ learning }), context)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await graph.stats('default')).toMatchObject({ syntheses: 1, relations: 0 });
  });

  it('trusts an insight less when its answer was not assessed as complete, and files it under the surest expert', async () => {
    const { handler, graph } = ingest({ replies: ['[]', '[]'] });
    const expert = { taskId: 't', model: null, tier: 't1' as const, gaps: [], status: 'ok' };
    const experts = [
      { ...expert, category: 'general', confidence: 0.6 },
      { ...expert, category: 'medical_consult', confidence: 0.9 },
      { ...expert, category: 'math', confidence: 1, status: 'error' },
    ];
    await handler.onCompleted(completed({ rule: 'D6', experts }), context);
    expect((await about(graph, 'Pain')).syntheses).toMatchObject([{ confidence: 0.6, domain: 'medical_consult' }]);
  });

  it('quarantines what contradicts an earlier run, and reports it without the words', async () => {
    const { handler, graph, lines } = ingest({ replies: [treats, treats.replace('TREATS', 'CAUSES')] });
    await handler.onCompleted(completed(), context);
    await handler.onCompleted(completed({}, 'run_00000002'), context);
    expect(await graph.quarantine({ tenant: 'default', limit: 5 })).toMatchObject([{ relation: 'CAUSES', runs: ['run_00000002'] }]);
    expect(lines.at(-1)).toMatchObject({ level: 'warn', fields: { quarantined: 1, added: 0 } });
    expect(JSON.stringify(lines)).not.toMatch(/aspirin/i);
  });

  it.each([
    [5, 0.655],
    [4, 0.655],
    [3, 0.54],
  ])('changes the trust of what the run taught by a rating of %d', async (rating, trust) => {
    const { handler, graph } = ingest({ replies: [treats] });
    await handler.onCompleted(completed(), context);
    for (let again = 0; again < 2; again += 1) expect(await handler.onProposed(proposed({ rating }), context)).toEqual([]);
    expect((await about(graph, 'Aspirin')).relations).toMatchObject([{ trust }]);
  });

  it.each([1, 2])('flags what a run taught after a rating of %d, even when the rating arrives first', async (rating) => {
    const { handler, graph } = ingest({ replies: [treats] });
    await handler.onProposed(proposed({ rating }), context);
    await handler.onCompleted(completed(), context);
    expect(await about(graph, 'Aspirin')).toMatchObject({ relations: [], syntheses: [] });
    expect(await graph.stats('default')).toMatchObject({ relations: 1, flagged: 1, syntheses: 1 });
  });

  it('keeps run, answer, sources and time beside the insight', async () => {
    const { handler, graph } = ingest({ replies: ['[]'] });
    await handler.onCompleted(completed(), context);
    expect(await graph.synthesis({ tenant: 'default', by: { runId } })).toMatchObject({
      text: 'Aspirin is about pain.',
      origins: [{ runId, at: 5, answer: 'Aspirin treats headache.', sources: [{ kind: 'web', title: 'Pharmacology', url: null }] }],
    });
  });

  it('notifies processes that cache contexts when a rating changed the graph, and only then', async () => {
    const { handler, stores } = ingest({ replies: ['[]'] });
    const { caches } = stores.connect('two').state;
    await handler.onCompleted(completed(), context);
    await handler.onProposed(proposed({ rating: 3 }), context);
    expect(await caches.read('default', graphJudgementKey)).toBeNull();
    await handler.onProposed(proposed({ rating: 1 }), context);
    expect((await caches.read('default', graphJudgementKey))?.value).toBe('feedback-1');
    expect(await caches.read('other', graphJudgementKey)).toBeNull();
  });

  it('ignores ratings of what another tenant learned, and learns nothing from corrections and documents', async () => {
    const { handler, graph, lines } = ingest({ replies: [treats] });
    await handler.onCompleted(completed(), context);
    const before = await about(graph, 'Aspirin');
    await handler.onProposed(proposed({ tenant: 'other', rating: 1 }), context);
    await handler.onProposed(proposed({ kind: 'correction', text: 'Aspirin causes joy.', rating: null }, 'c'), context);
    await handler.onProposed(proposed({ kind: 'document', text: 'x', rating: null }, 'd'), context);
    await handler.onProposed(proposed({ about: null }, 'e'), context);
    expect(await about(graph, 'Aspirin')).toEqual(before);
    expect(lines.some(({ message }) => message.includes('correction could not be learned'))).toBe(true);
    expect(JSON.stringify(lines)).not.toContain('joy');
  });
});
