import { describe, expect, it } from '@jest/globals';
import { Failure, KnowledgeProposed, makeEvent, noUsage, RunCompleted } from '@conclave/contracts';
import type { DeliveryContext } from '@conclave/platform';
import {
  answersPurpose,
  collectionOf,
  documentsChanged,
  factsPurpose,
  MemoryStores,
  MemoryVectorStore,
  systemClock,
  type Embedder,
} from '@conclave/ports';
import { semanticKey } from '@conclave/strategies';
import { LearningHandler } from './learning.handler.js';

type Completed = RunCompleted['data'];
const runId = 'run_00000001';
const tenant = 'acme';
const now = Date.parse('2026-03-10T12:00:00Z');
const context = { signal: new AbortController().signal } as DeliveryContext;
const caching = { exact: 'answer/1', scope: 'scope-1', plan: 'plan/1' };
const plan: Completed['plan'] = {
  complexity: 'moderate',
  signals: [],
  tasks: [{ id: 'x1', capability: 'expert.general', task: 'Say it.', query: null, needs: [], metadata_filters: null }],
  searchQuestion: null,
};
const expert = (over: Partial<Completed['experts'][number]> = {}): Completed['experts'][number] => ({
  ...{ taskId: 't', category: 'general', model: 'a@fake', tier: 't1', confidence: 0.8, gaps: [], status: 'ok' },
  ...over,
});
const fact = (text: string, kind: Completed['evidence'][number]['source']['kind'] = 'web'): Completed['evidence'][number] => ({
  ...{ text, taskId: 't', epoch: 0, confidence: null },
  source: { kind, title: 'A page', url: 'http://127.0.0.1/page' },
});

const completed = (over: Partial<Completed> = {}, id = runId): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${id}/completed`, runId: id, source: 'merger', time: now },
    {
      ...{ outcome: 'completed', rule: 'D3', reason: '', reasonCode: 'sufficient', question: 'Who wrote Hamlet?', answer: 'Shakespeare.' },
      ...{
        cutShort: false,
        sources: [],
        insight: null,
        history: [],
        rounds: 1,
        usage: noUsage,
        failure: null,
        startedAt: now,
        completedAt: now,
      },
      ...{
        caller: { tenant, actor: 'me' },
        template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
        caching,
        experts: [expert()],
      },
      ...over,
    },
  );
const rated = (rating: number, about = runId, of = tenant, id = `feedback-${about}-${rating}`): KnowledgeProposed =>
  makeEvent(
    KnowledgeProposed,
    { id, runId: about, source: 'gateway', time: now },
    { kind: 'feedback', tenant: of, actor: 'me', text: '', about, rating, proposedAt: now },
  );

class FakeEmbedder implements Embedder {
  readonly dimension = 2;
  fails: Failure | null = null;
  during: () => Promise<unknown> = () => Promise.resolve();
  constructor(readonly id = 'flat-1') {}
  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    await this.during();
    if (this.fails) throw this.fails;
    return texts.map((text) => Float32Array.of(1, text.length));
  }
  health = () => Promise.resolve(null);
  close = () => Promise.resolve();
}

function world(options: { readonly withoutVectors?: boolean } = {}) {
  let time = now;
  const stores = new MemoryStores({ clock: { ...systemClock, now: () => time } });
  const { state } = stores.connect('one');
  const vectors = new MemoryVectorStore().connect();
  const embedder = new FakeEmbedder();
  const over = (used: Embedder) =>
    new LearningHandler(state, options.withoutVectors ? null : vectors, options.withoutVectors ? null : used, { info: () => undefined });
  const handler = over(embedder);
  const at = (purpose: string, of = tenant, by: Embedder = embedder) => ({ tenant: of, collection: collectionOf(purpose, by) });
  return {
    ...{ state, vectors, embedder, handler, over, at },
    wait: (ms: number) => void (time += ms),
    complete: (over: Partial<Completed> = {}, id = runId) => handler.onCompleted(completed(over, id), context),
    rate: (...args: Parameters<typeof rated>) => handler.onProposed(rated(...args)),
    exact: async (of = tenant) => (await state.caches.read(of, caching.exact))?.value ?? null,
    plan: async () => (await state.caches.read(tenant, caching.plan))?.value ?? null,
    semantic: async (id = runId) => (await state.caches.read(tenant, semanticKey(id)))?.value ?? null,
    answers: () => vectors.get(at(answersPurpose), [runId]),
    facts: () => vectors.query(at(factsPurpose), { vector: Float32Array.of(1, 1), limit: 50 }).then(({ hits }) => hits),
    scores: () => state.scores.all(tenant),
  };
}

describe('a run that was deleted while it was learned', () => {
  it('leaves no vector, although the process that wrote them died before it saw that', async () => {
    const { handler, complete, facts, state } = world();
    const learning = { graph: 'triples', models: [], contexts: {}, prices: {} } as unknown as Completed['learning'];
    await complete({ learning, evidence: [fact('Hamlet is a play.')] });
    expect(await facts()).not.toEqual([]);
    await handler.onErased({ type: 'RunCompleted', runId });
    expect(await facts()).not.toEqual([]);
    await state.runs.erase({ runId, tenant, requestedAt: 1 });
    await handler.onErased({ type: 'RunCompleted', runId });
    expect(await facts()).toEqual([]);
  });

  it('leaves no vector either when its record comes again whole', async () => {
    const { complete, facts, state } = world();
    const learning = { graph: 'triples', models: [], contexts: {}, prices: {} } as unknown as Completed['learning'];
    const lesson = { learning, evidence: [fact('Hamlet is a play.')] };
    await complete(lesson);
    await state.caches.removeTagged(tenant, `run:${runId}`, 60_000);
    expect(await facts()).not.toEqual([]);
    await complete(lesson);
    expect(await facts()).toEqual([]);
  });
});

describe('what a committed run adds to the cache of plans', () => {
  it.each<[string, Partial<Completed>]>([
    ['ended well', {}],
    ['ended at a limit', { outcome: 'limit_reached' }],
  ])('is its first plan when it %s, for 30 minutes after the commit', async (_what, over) => {
    const { complete, plan: kept, wait } = world();
    wait(29 * 60_000);
    await complete({ plan, ...over });
    expect(await kept()).toEqual(plan);
    wait(2 * 60_000);
    expect(await kept()).toBeNull();
  });

  it.each<[string, Partial<Completed>]>([
    ['was cancelled', { outcome: 'cancelled', answer: null }],
    ['has failed', { outcome: 'failed', answer: null }],
    ['may not be kept', { caching: null }],
    ['is of a template without such a cache', { caching: { ...caching, plan: null } }],
    ['took its plan from the cache', { plan: null }],
  ])('is nothing when it %s', async (_what, over) => {
    const { complete, plan: kept } = world();
    await complete({ plan, ...over });
    expect(await kept()).toBeNull();
  });

  it('is removed by a bad rating and does not return', async () => {
    const { complete, plan: kept, rate } = world();
    await complete({ plan });
    await rate(1);
    expect(await kept()).toBeNull();
    await complete({ plan });
    expect(await kept()).toBeNull();
  });
});

describe('what a committed run adds to the caches of answers', () => {
  it('is its answer under the same question, and its question as a vector with the scope', async () => {
    const { complete, exact, semantic, answers } = world();
    expect(await complete()).toEqual([]);
    const kept = { runId, question: 'Who wrote Hamlet?', answer: 'Shakespeare.', sources: [], storedAt: now };
    expect(await exact()).toEqual(kept);
    expect(await semantic()).toEqual(kept);
    expect(await answers()).toMatchObject([{ id: runId, text: 'Who wrote Hamlet?', metadata: { scope: 'scope-1' } }]);
  });

  it.each<[string, Partial<Completed>]>([
    ['was cancelled', { outcome: 'cancelled', answer: null }],
    ['has failed', { outcome: 'failed', answer: null }],
    ['ended at a limit', { outcome: 'limit_reached' }],
    ['was cut short', { cutShort: true }],
    ['has an answer that no model wrote', { reasonCode: 'composer_failed' }],
    ['was ended by a gap check that could not be read', { rule: 'D3', reasonCode: 'assessment_unreadable', assessed: false }],
    [
      'was ended by a gap check that failed, and its answer by the composer',
      { rule: 'D3', reasonCode: 'assessment_failed', assessed: false },
    ],
    ['has a review that could not be read', { review: 'unparsable' }],
    ['was not reviewed although it had to be', { review: 'not_reviewed' }],
    ['came from a cache itself', { cached: { origin: 'exact', runId: 'run_00000000', distance: null } }],
    ['may not be kept', { caching: null }],
    ['has no answer', { answer: '  ' }],
  ])('is nothing when it %s', async (_what, over) => {
    const { complete, exact, semantic, answers } = world();
    expect(await complete(over)).toEqual([]);
    expect([await exact(), await semantic(), await answers()]).toEqual([null, null, []]);
  });

  it('is removed when the documents of its tenant change', async () => {
    const { complete, exact, semantic, state } = world();
    await complete();
    await documentsChanged(state.caches, 'another');
    expect([await exact(), await semantic()]).not.toContain(null);
    await documentsChanged(state.caches, tenant);
    expect([await exact(), await semantic()]).toEqual([null, null]);
  });

  it('is nothing when the documents of its tenant have changed since it was asked, and its answer when they changed before', async () => {
    const { complete, exact, semantic, answers, state, wait } = world();
    wait(1_000);
    await documentsChanged(state.caches, 'another');
    await documentsChanged(state.caches, tenant);
    await complete({ completedAt: now + 2_000 });
    expect([await exact(), await semantic(), await answers()]).toEqual([null, null, []]);
    await complete({ startedAt: now + 1_001, completedAt: now + 2_000 });
    expect([await exact(), await semantic()]).not.toContain(null);
  });

  it('is removed again when the documents of its tenant change while it is kept', async () => {
    const { complete, exact, semantic, answers, state } = world();
    const { read } = state.caches;
    // The change comes right behind the look for one.
    state.caches.read = async (...asked) => {
      state.caches.read = read;
      const found = await read.apply(state.caches, asked);
      await documentsChanged(state.caches, tenant);
      return found;
    };
    await complete();
    expect([await exact(), await semantic(), await answers()]).toEqual([null, null, []]);
  });

  it('lasts 30 minutes for the same question and 7 days for similar ones, counted from the commit even when the delivery is late', async () => {
    const { complete, exact, semantic, wait } = world();
    wait(29 * 60_000);
    await complete();
    expect(await exact()).not.toBeNull();
    wait(2 * 60_000);
    expect(await exact()).toBeNull();
    expect(await semantic()).not.toBeNull();
    wait(7 * 24 * 60 * 60_000);
    expect(await semantic()).toBeNull();
    await complete();
    expect([await exact(), await semantic()]).toEqual([null, null]);
  });

  it('is not served for a week if the question is about the present', async () => {
    const { complete, semantic, wait } = world();
    await complete({ question: 'What is the weather in Oslo today?' });
    expect(await semantic()).not.toBeNull();
    wait(31 * 60_000);
    expect(await semantic()).toBeNull();
  });

  it('belongs only to its tenant', async () => {
    const { complete, exact, vectors, at } = world();
    await complete();
    expect(await exact('other')).toBeNull();
    expect(await vectors.list('other')).toEqual([]);
    expect(await vectors.count(at(answersPurpose, 'other'))).toBe(0);
  });

  it('is added without vectors, and leaves out an answer that is too large', async () => {
    const { complete, exact } = world({ withoutVectors: true });
    await complete();
    expect(await exact()).not.toBeNull();
    await complete({ answer: 'x'.repeat(300_000), caching: { exact: 'answer/1', scope: null, plan: null } });
    expect(await exact()).toMatchObject({ answer: 'Shakespeare.' });
  });

  it('is in another collection for another embedder, and a bad rating reaches both', async () => {
    const { complete, over, at, vectors, rate } = world();
    await complete();
    const other = new FakeEmbedder('flat-2');
    await over(other).onCompleted(completed(), context);
    expect([await vectors.count(at(answersPurpose)), await vectors.count(at(answersPurpose, tenant, other))]).toEqual([1, 1]);
    await rate(1);
    expect([await vectors.count(at(answersPurpose)), await vectors.count(at(answersPurpose, tenant, other))]).toEqual([0, 0]);
  });

  it('is removed once its time is over', async () => {
    const { complete, at, vectors } = world();
    await complete();
    const later = now + 9 * 24 * 60 * 60_000;
    await complete({ completedAt: later, startedAt: later }, 'run_00000002');
    expect((await vectors.get(at(answersPurpose), [runId, 'run_00000002'])).map(({ id }) => id)).toEqual(['run_00000002']);
  });
});

describe('facts', () => {
  it('are those found outside and the answer, with the fields by which filters select', async () => {
    const { complete, facts } = world();
    await complete({
      evidence: [fact('Hamlet is a play by Shakespeare.'), fact('remembered', 'memory'), fact('known', 'graph')],
      experts: [expert({ category: 'science' })],
    });
    const metadata = { expert_domain: 'science', template: 'conclave', language: 'en', date: '2026-03-10', run: runId };
    const found = await facts();
    expect(found.map(({ text }) => text).sort()).toEqual(['Hamlet is a play by Shakespeare.', 'Who wrote Hamlet?\nShakespeare.']);
    expect(found.map(({ metadata: of }) => of)).toEqual(expect.arrayContaining([{ ...metadata, source: 'http://127.0.0.1/page' }]));
  });

  it.each<[string, Partial<Completed>, number]>([
    ['evidence without the answer of a run that was cut short', { cutShort: true }, 1],
    ['also those of a run that fills no cache: learning is a separate choice', { caching: null }, 2],
    ['nothing if the template switches learning off', { learning: { graph: 'off', models: [], prices: {}, contexts: {} } }, 0],
    ['nothing from a run that failed', { outcome: 'failed', answer: null }, 0],
  ])('are %s', async (_what, over, many) => {
    const { complete, facts } = world();
    await complete({ evidence: [fact('one')], ...over });
    expect(await facts()).toHaveLength(many);
  });

  it.each(['corpus', 'collection'] as const)(
    'contain no copy of a document (%s), nor what an answer took from it: documents change',
    async (kind) => {
      const { complete, facts } = world();
      await complete({ evidence: [fact('The pool opens at 8.', kind), fact('Pools are wet.')] });
      expect((await facts()).map(({ text }) => text)).toEqual(['Pools are wet.']);
    },
  );

  it('contain no bare result of a tool, which does not say what was asked', async () => {
    const { complete, facts } = world();
    await complete({ question: 'What is 2 + 3?', answer: '2 + 3 = 5', evidence: [fact('{"result":"5"}', 'tool')] });
    expect((await facts()).map(({ text }) => text)).toEqual(['What is 2 + 3?\n2 + 3 = 5']);
  });

  it('have a maximum length', async () => {
    const { complete, facts } = world();
    await complete({ evidence: [fact('long '.repeat(10_000))], answer: 'x'.repeat(50_000) });
    for (const { text } of await facts()) expect(text.length).toBeLessThanOrEqual(4_000);
  });
});

describe('scores', () => {
  it('follow the confidence of experts, and count what a model got wrong but not what its server did', async () => {
    const { complete, scores } = world();
    await complete({
      experts: [
        expert({ confidence: 0.75 }),
        expert({ model: 'b@fake', confidence: null, status: 'error' }),
        expert({ model: null, confidence: null, status: 'error' }),
        expert({ model: null, confidence: null, status: 'timeout' }),
        expert({ category: 'math', model: 'c@fake', confidence: 0.25 }),
      ],
    });
    expect(await scores()).toEqual([
      { category: 'general', model: 'a@fake', positive: 0.75, negative: 0.25 },
      { category: 'general', model: 'b@fake', positive: 0, negative: 1 },
      { category: 'math', model: 'c@fake', positive: 0.25, negative: 0.75 },
    ]);
  });

  it.each([
    [5, 1.8, 0.2],
    [4, 1.8, 0.2],
    [3, 0.8, 0.2],
    [2, 0.8, 1.2],
    [1, 0.8, 1.2],
  ])('count a rating of %i once, however often it and the run are delivered', async (rating, positive, negative) => {
    const { complete, rate, scores } = world();
    for (let times = 0; times < 2; times += 1) {
      await complete({ experts: [expert(), expert({ model: 'b@fake', confidence: null, status: 'timeout' })] });
      await rate(rating);
    }
    const [score, ...others] = await scores();
    expect(others).toEqual([]);
    expect(score!.positive).toBeCloseTo(positive);
    expect(score!.negative).toBeCloseTo(negative);
  });

  it('count a rating that came before its run was learned', async () => {
    const { complete, rate, scores } = world();
    await rate(5);
    await complete();
    expect((await scores())[0]!.positive).toBeCloseTo(1.8);
  });

  it('ignore a rating of another tenant, and its bad rating removes nothing', async () => {
    const { complete, rate, scores, exact, answers, state } = world();
    await complete();
    await rate(1, runId, 'other');
    expect((await scores())[0]!.negative).toBeCloseTo(0.2);
    expect(await state.scores.all('other')).toEqual([]);
    expect(await exact()).not.toBeNull();
    expect(await answers()).toHaveLength(1);
  });
});

describe('a bad rating', () => {
  const left = async ({ exact, semantic, answers, facts }: ReturnType<typeof world>) => [
    await exact(),
    await semantic(),
    await answers(),
    await facts(),
  ];
  const nothing = [null, null, [], []];

  it('removes the answer and the facts permanently: no redelivery brings them back', async () => {
    const all = world();
    await all.complete({ evidence: [fact('one')] });
    await all.rate(1);
    expect(await left(all)).toEqual(nothing);
    await all.complete({ evidence: [fact('one')] });
    expect(await left(all)).toEqual(nothing);
  });

  it('that arrives before the run is learned prevents it from being served at all', async () => {
    const all = world();
    await all.rate(2);
    await all.complete({ evidence: [fact('one')] });
    expect(await left(all)).toEqual(nothing);
  });

  it('that arrives while the run is being learned leaves nothing behind', async () => {
    const all = world();
    all.embedder.during = async () => {
      all.embedder.during = () => Promise.resolve();
      await all.rate(1);
    };
    await all.complete({ evidence: [fact('one')] });
    expect(await left(all)).toEqual(nothing);
  });

  it.each(['after', 'before'])('of a cached answer removes the answer it came from, also %s that run is known', async (when) => {
    const all = world();
    await all.complete({ evidence: [fact('one')] });
    const given = () => all.complete({ cached: { origin: 'semantic', runId, distance: 0.1 }, experts: [] }, 'run_00000002');
    if (when === 'after') await given();
    await all.rate(1, 'run_00000002');
    if (when === 'before') await given();
    expect(await left(all)).toEqual(nothing);
    expect((await all.scores())[0]!.negative).toBeCloseTo(1.2);
  });

  it('of another run of the same question leaves this answer alone', async () => {
    const all = world();
    await all.complete();
    await all.rate(1, 'run_00000009');
    expect(await all.exact()).not.toBeNull();
  });
});

describe('while the vectors or the embedder are unavailable', () => {
  it.each([
    [
      'the vectors',
      (all: ReturnType<typeof world>) => {
        const { upsert } = all.vectors;
        all.vectors.upsert = () => Promise.reject(new Failure('VECTORS_UNAVAILABLE'));
        return () => void (all.vectors.upsert = upsert);
      },
    ],
    [
      'the embedder',
      (all: ReturnType<typeof world>) => {
        all.embedder.fails = new Failure('PROVIDER_UNREACHABLE');
        return () => void (all.embedder.fails = null);
      },
    ],
  ])('the record waits for %s, and then everything is learned once', async (_what, takeAway) => {
    const all = world();
    const bring = takeAway(all);
    expect(await all.complete()).toEqual({ deferMs: expect.any(Number) });
    expect(await all.exact()).not.toBeNull();
    bring();
    expect(await all.complete()).toEqual([]);
    expect(await all.answers()).toHaveLength(1);
    expect((await all.scores())[0]!.positive).toBeCloseTo(0.8);
  });

  it('a rating waits too, and the answer is already gone', async () => {
    const all = world();
    await all.complete();
    const { list } = all.vectors;
    all.vectors.list = () => Promise.reject(new Failure('VECTORS_UNAVAILABLE'));
    expect(await all.rate(1)).toEqual({ deferMs: expect.any(Number) });
    expect([await all.exact(), await all.semantic()]).toEqual([null, null]);
    all.vectors.list = list;
    expect(await all.rate(1)).toEqual([]);
    expect(await all.answers()).toEqual([]);
  });

  it('permanent failures become dead letters and are not waited for', async () => {
    const all = world();
    all.embedder.fails = new Failure('VECTORS_INCOMPATIBLE');
    await expect(all.complete()).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
  });
});
