import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { KeptPlan, PlanRequested } from '@conclave/contracts';
import { answersPurpose, collectionOf, MemoryVectorStore, type Embedder, type Vectors } from '@conclave/ports';
import { runTag, semanticKey, type KeptAnswer } from '@conclave/strategies';
import { twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';

const caches = { answer: true, semantic: true, plan: true, search: true };
const question = 'How tall is the Aurora tower?';
const paraphrase = 'What is the height of the Aurora tower?';
const task = { needs: [], query: null, metadata_filters: null };
const plan: KeptPlan = {
  complexity: 'moderate',
  signals: [],
  tasks: [{ ...task, id: 'x1', capability: 'expert.general', task: 'Say it.' }],
  searchQuestion: null,
};
const kept = (over: Partial<KeptAnswer> = {}): KeptAnswer => ({
  ...{ runId: 'run_earlier0', question, answer: 'It is 400 m tall.', sources: [], storedAt: 1 },
  ...over,
});

/** Every text has the same vector, so only the comparison of the questions distinguishes them. */
const embedder: Embedder = {
  id: 'flat-1',
  dimension: 2,
  embed: (texts) => Promise.resolve(texts.map(() => Float32Array.of(1, 0))),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
const collection = collectionOf(answersPurpose, embedder);

describe('the caches of answers, before a run is accepted', () => {
  let world: World;
  let vectors: Vectors;
  afterEach(() => world.close());

  const open = async (options: WorldOptions = {}): Promise<void> => {
    vectors = new MemoryVectorStore().connect();
    world = await World.open({ ...options, template: { caches, ...options.template }, parts: { vectors, embedder } });
  };
  const ask = async (content: string, body: object = {}, headers: Record<string, string> = {}) => {
    const response = await world.post('/v1/runs', { model: 'conclave', input: content, ...body }, { headers });
    expect(response.status).toBe(202);
    const runId = response.headers.get('x-run-id')!;
    return { header: response.headers.get('x-conclave-cache'), data: world.stores.headers.get(runId)!.data };
  };
  /** Writes what the learning service stores for a committed run with this question. */
  const learn = async ({ caching, caller: { tenant } }: PlanRequested['data'], answer = kept()): Promise<void> => {
    const tags = [runTag(answer.runId)];
    const { state } = world.stores;
    if (caching?.exact) await state.caches.write({ tenant, key: caching.exact, value: answer, ttlMs: 60_000, tags });
    if (!caching?.scope) return;
    await state.caches.write({ tenant, key: semanticKey(answer.runId), value: answer, ttlMs: 60_000, tags });
    await vectors.create({ tenant, collection }, 2);
    const vector = Float32Array.of(1, 0);
    await vectors.upsert({ tenant, collection }, [{ id: answer.runId, vector, text: answer.question, metadata: { scope: caching.scope } }]);
  };
  const counted = () => world.metric('onCache').map(([lookup]) => lookup);

  it('returns no answer from before the document folder changed, and none while the folder cannot be read', async () => {
    let contents: () => Promise<string> = () => Promise.resolve('as it was');
    vectors = new MemoryVectorStore().connect();
    const parts = { vectors, embedder, contents: () => contents() };
    world = await World.open({ template: { caches, capabilities: ['research'] }, parts });
    await learn((await ask(question)).data);
    expect((await ask(question)).header).toBe('exact');
    contents = () => Promise.resolve('as it is');
    expect((await ask(question)).header).toBeNull();
    expect((await ask(paraphrase)).header).toBeNull();
    contents = () => Promise.reject(new Error('gone'));
    expect((await ask(question)).data.caching).toBeUndefined();
  });

  it('returns neither answer nor plan of an earlier day if the question depends on the day', async () => {
    await open();
    const ofDay = async (days: number, content: string, body = {}) => {
      const now = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 10, 26 + days, 12));
      const { data } = await ask(content, body);
      now.mockRestore();
      return data.caching!;
    };
    const relative = 'Who is the current mayor of Bonn?';
    const [first, same, next] = [await ofDay(0, relative), await ofDay(0, relative), await ofDay(1, relative)];
    expect(same).toEqual(first);
    for (const key of ['exact', 'scope', 'plan'] as const) expect(next[key]).not.toBe(first[key]);
    expect(await ofDay(1, question)).toEqual(await ofDay(0, question));
    const conversation = {
      input: undefined,
      messages: [
        { role: 'user', content: 'Will it rain today?' },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: 'And in Bonn?' },
      ],
    };
    expect((await ofDay(1, '', conversation)).exact).not.toBe((await ofDay(0, '', conversation)).exact);
  });

  it('returns the committed answer for the same question and says so in a header', async () => {
    await open();
    const first = await ask(question);
    expect(first).toMatchObject({
      header: null,
      data: { caching: { exact: expect.stringMatching(/^answer\//), scope: expect.any(String) } },
    });
    expect(first.data.cached).toBeUndefined();
    await learn(first.data);
    const again = await ask(`  ${question.toUpperCase().replace('?', '')} `);
    expect(again).toMatchObject({ header: 'exact', data: { cached: { ...kept(), origin: 'exact', distance: null } } });
    expect(counted()).toEqual([
      { cache: 'exact', result: 'miss' },
      { cache: 'semantic', result: 'miss' },
      { cache: 'plan', result: 'miss' },
      { cache: 'exact', result: 'hit' },
    ]);
  });

  it('returns the plan of a successful run for the same question when there is no answer for it', async () => {
    await open();
    const first = await ask(question, { response_format: { type: 'json_object' } });
    expect(first.data.plan).toBeUndefined();
    const { caching, caller } = first.data;
    const { caches: stored } = world.stores.state;
    await stored.write({ tenant: caller.tenant, key: caching!.plan!, value: plan, ttlMs: 60_000, tags: [] });
    // Another response format needs another answer, but the same plan.
    expect((await ask(` ${question.toUpperCase()}`)).data).toMatchObject({ plan });
    expect(counted().at(-1)).toEqual({ cache: 'plan', result: 'hit' });
    await learn(first.data);
    expect((await ask(question, { response_format: { type: 'json_object' } })).data).not.toHaveProperty('plan');
    expect((await ask(question, { conclave: { cache: false } })).data).not.toHaveProperty('plan');
    expect((await ask(`${question} And the mast?`)).data).not.toHaveProperty('plan');
    await stored.write({ tenant: caller.tenant, key: caching!.plan!, value: { tasks: 'none' }, ttlMs: 60_000, tags: [] });
    expect((await ask(question)).data).not.toHaveProperty('plan');
  });

  it('says so in a chat response too', async () => {
    await open();
    await learn((await ask(question)).data);
    const response = await world.chat({ messages: [{ role: 'user', content: question }] });
    expect(response.headers.get('x-conclave-cache')).toBe('exact');
    await response.body?.cancel();
  });

  it('returns the answer for a paraphrase, with the distance between the questions', async () => {
    await open();
    await learn((await ask(question)).data);
    expect(await ask(paraphrase)).toMatchObject({
      header: 'semantic; distance=0.000',
      data: { cached: { origin: 'semantic', distance: 0, question } },
    });
  });

  it.each([
    ['a number', 'How many of the 3 seats does the Aurora hall have?', 'How many of the 4 seats does the Aurora hall have?'],
    ['a date', 'What happened on 4 May 2020?', 'What happened on 5 May 2020?'],
    ['a name', 'Who built the Aurora hall?', 'Who built the Borealis hall?'],
    ['a negation', 'Which birds can fly?', 'Which birds can not fly?'],
  ])('does not treat a question with %s changed as the same, however close the vectors are', async (_what, one, other) => {
    await open();
    await learn((await ask(one)).data, kept({ question: one }));
    expect(await ask(other)).toMatchObject({ header: null });
    expect(await ask(one)).toMatchObject({ header: 'exact' });
  });

  it('compares questions only with questions: a text that equals an answer is a miss', async () => {
    await open();
    await learn((await ask(question)).data);
    expect(await ask(kept().answer)).toMatchObject({ header: null });
  });

  it.each([
    ['the body', { conclave: { cache: false } }, {}],
    ['our header', {}, { 'x-conclave-cache': 'off' }],
    ['HTTP', {}, { 'cache-control': 'max-age=0, no-cache' }],
  ])('neither answers from a cache nor stores anything when %s says so', async (_what, body, headers) => {
    await open();
    await learn((await ask(question)).data);
    const { header, data } = await ask(question, body, headers as Record<string, string>);
    expect(header).toBeNull();
    expect(data).not.toHaveProperty('cached');
    expect(data).not.toHaveProperty('caching');
    expect(counted()).toHaveLength(3);
  });

  it('prefers the body over a header and refuses a header it does not understand', async () => {
    await open();
    await learn((await ask(question)).data);
    expect(await ask(question, { conclave: { cache: true } }, { 'x-conclave-cache': 'off' })).toMatchObject({ header: 'exact' });
    const refused = await world.post('/v1/runs', { model: 'conclave', input: question }, { headers: { 'x-conclave-cache': 'perhaps' } });
    expect(refused.status).toBe(400);
  });

  it.each([
    [
      'the history',
      {
        input: null,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Yes?' },
          { role: 'user', content: question },
        ],
      },
    ],
    [
      'the instructions',
      {
        input: null,
        messages: [
          { role: 'system', content: 'Answer in rhymes.' },
          { role: 'user', content: question },
        ],
      },
    ],
    ['the form of the answer', { response_format: { type: 'json_object' } }],
    ['the length of the answer', { max_tokens: 5 }],
    ['the number of rounds', { conclave: { rounds: 0 } }],
    ['the level', { conclave: { complexity: 'complex' } }],
  ])('treats a request with another value of %s as a different one', async (_what, body) => {
    await open();
    await learn((await ask(question)).data);
    const other = await ask(question, body);
    expect(other).toMatchObject({ header: null, data: { caching: { exact: expect.any(String) } } });
    if ('messages' in body) expect(other.data.caching?.scope).toBeNull();
  });

  it('returns nothing across tenants: each tenant has keys of its own', async () => {
    await open({ keys: twoTenants });
    const mine = { authorization: 'Bearer sk-a' };
    const theirs = { authorization: 'Bearer sk-b' };
    const first = await ask(question, {}, mine);
    await learn(first.data);
    expect(await ask(question, {}, theirs)).toMatchObject({ header: null });
    expect(await ask(paraphrase, {}, theirs)).toMatchObject({ header: null });
    const other = await ask(question, {}, theirs);
    expect(other.data.caching).not.toEqual(first.data.caching);
    expect(await ask(question, {}, mine)).toMatchObject({ header: 'exact' });
  });

  it('returns nothing from another version of the template', async () => {
    await open();
    const { data } = await ask(question);
    await learn(data);
    await world.close();
    const { stores, broker } = world;
    world = await World.open({ share: { stores, broker }, template: { caches, version: 'other' }, parts: { vectors, embedder } });
    expect(await ask(question)).toMatchObject({ header: null });
    expect(await ask(paraphrase)).toMatchObject({ header: null });
  });

  it('queries no cache that the template has turned off', async () => {
    await open({ template: { caches: { answer: false, semantic: false, plan: true, search: false } } });
    expect((await ask(question)).data.caching).toEqual({ exact: null, scope: null, plan: expect.stringMatching(/^plan\//) });
    await world.close();
    await open({ template: { caches: { answer: false, semantic: false, plan: false, search: false } } });
    expect((await ask(question)).data).not.toHaveProperty('caching');
    expect(counted()).toEqual([]);
  });

  it('returns no answer that was removed, although its vector is still there', async () => {
    await open();
    await learn((await ask(question)).data);
    await world.stores.state.caches.removeTagged('default', runTag('run_earlier0'), 1_000);
    expect(await ask(question)).toMatchObject({ header: null });
    expect(await ask(paraphrase)).toMatchObject({ header: null });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('answers without the cache, and counts it, when the vector store %s', async (_what, query) => {
    await open();
    await learn((await ask(question)).data);
    vectors.query = query;
    const began = performance.now();
    expect(await ask(paraphrase)).toMatchObject({ header: null });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(counted()).toContainEqual({ cache: 'semantic', result: 'failed' });
    expect(await ask(question)).toMatchObject({ header: 'exact' });
  });
});
