import { afterEach, describe, expect, it } from '@jest/globals';
import { type CachedAnswer, type KnowledgeProposed, makeEvent, PlanRequested, type RunView, type StreamBody } from '@conclave/contracts';
import { step } from '@conclave/loop';
import type { StateStore } from '@conclave/ports';
import type { KeptAnswer } from '@conclave/strategies';
import { runTag, strategyOf } from '@conclave/strategies';
import { until } from '@conclave/test-support';
import { RawClient } from '../__fixtures__/sse-client.js';
import { twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';

const question = 'How tall is the Aurora tower?';
const kept: KeptAnswer = {
  ...{ runId: 'run_earlier0', question, answer: 'It is 400 m tall [1].', storedAt: 1 },
  sources: [{ kind: 'web', title: 'Towers', url: 'http://127.0.0.1/towers', n: 1 }],
};

let world: World;
afterEach(() => world.close());

/** A gateway whose cache knows the question; no engine runs unless a spec plays it. */
async function open(options: WorldOptions = {}): Promise<void> {
  const caches = { answer: true, semantic: false, plan: false, search: false };
  world = await World.open({ ...options, template: { caches, ...options.template } });
  const response = await world.post('/v1/runs', { model: 'conclave', input: question }, { headers: { 'x-api-key': 'sk-a' } });
  const [runId] = world.runs();
  const { caching, caller } = world.stores.headers.get(runId!)!.data;
  const { tenant } = caller;
  await world.stores.state.caches.write({ tenant, key: caching!.exact!, value: kept, ttlMs: 60_000, tags: [runTag(kept.runId)] });
  expect(response.status).toBe(202);
  world.stores.headers.clear();
}

/** Writes what the engine writes for the request. */
function engineAnswers(runId: string): void {
  const request = world.stores.headers.get(runId)!;
  world.stores.write(runId, step(null, request, Date.now() + 5_000, strategyOf)!.entries);
}

const ask = (body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  world.chat({ stream: false, messages: [{ role: 'user', content: question }], ...body }, { headers: { 'x-api-key': 'sk-a', ...headers } });

/** Everything by which a client can distinguish two answers. */
async function wholeOf(response: Response): Promise<object> {
  const { 'x-request-id': _id, date: _date, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

describe('an answer from a cache', () => {
  const ways: readonly (readonly [string, object])[] = [
    ['in one piece', {}],
    ['streamed, with its progress', { stream: true }],
    ['streamed, with its usage', { stream: true, stream_options: { include_usage: true } }],
    ['streamed, with a thinking block', { stream: true, conclave: { progress: 'think' } }],
    ['streamed, with status events', { stream: true, conclave: { progress: 'status' } }],
    ['streamed, without progress', { stream: true, conclave: { progress: 'none' } }],
    [
      'for a program that reads it',
      { stream: true, tools: [{ type: 'function', function: { name: 'look' } }], conclave: { progress: 'think' } },
    ],
  ];

  it.each(ways)('has the same bytes as the answer through the engine, but arrives immediately: %s', async (_how, body) => {
    await open({ keys: twoTenants });
    const headers = { 'idempotency-key': 'the same' };
    const direct = await wholeOf(await ask(body, headers));
    const runId = world.run();
    engineAnswers(runId);
    // A repeat attaches to the run and reads what the engine wrote.
    const byEngine = await wholeOf(await ask(body, headers));
    expect(direct).toEqual(byEngine);
    expect(direct).toMatchObject({ status: 200, headers: { 'x-conclave-cache': 'exact', 'x-run-id': runId } });
    expect(JSON.stringify(direct)).toContain('It is 400 m tall [1].');
    expect(world.runs()).toEqual([runId]);
    expect(world.metric('onAttached')).toHaveLength(1);
  });

  it('belongs to one run even when a repeat reads the run at the moment it ends', async () => {
    await open({ keys: twoTenants });
    const headers = { 'idempotency-key': 'the same' };
    await ask({}, headers);
    const runId = world.run();
    engineAnswers(runId);
    const { runs } = world.stores.state;
    const { read } = runs;
    // The first read still finds the run open.
    Object.assign(runs, { read: async () => Object.assign(runs, { read }) && null });
    expect((await ask({}, headers)).headers.get('x-run-id')).toBe(runId);
    expect(world.runs()).toEqual([runId]);
  });

  it('reports its distance when the question was phrased differently, as the engine does', async () => {
    await open();
    const cached: CachedAnswer = { ...kept, origin: 'semantic', distance: 0.0834 };
    const { accept } = world.stores.state.runs;
    // The faster gateway found the answer in the semantic cache.
    world.stores.state.runs.accept = (request) => accept({ ...request, header: withAnswer(request.header, cached) });
    const response = await ask({}, { 'idempotency-key': 'the same' });
    expect(response.headers.get('x-conclave-cache')).toBe('semantic; distance=0.083');
    expect(await response.json()).toMatchObject({ conclave: { reason: expect.stringContaining('(distance 0.083)') } });
  });

  it('is a run like any other: its header is stored, its request is on the log once, and it is not cancelled', async () => {
    await open({ keys: twoTenants });
    const response = await ask();
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: kept.answer, annotations: [{ url_citation: { title: 'Towers' } }] }, finish_reason: 'stop' }],
      usage: { total_tokens: 0 },
      conclave: { run_id: world.run(), outcome: 'completed', calls: 0, cost: 0 },
    });
    const requests = () => world.requested().filter(({ runId }) => runId === world.run());
    await until('the request on the log', () => requests().length > 0);
    expect(requests()).toMatchObject([{ data: { cached: { runId: kept.runId }, caller: { tenant: 'a' } } }]);
    expect(world.stores.headers.get(world.run())!.data.cached).toMatchObject({ origin: 'exact' });
    expect(world.commands()).toEqual([]);
    expect(world.stores.reads).toEqual([]);
  });

  it('is returned while the log is away; a sweep publishes its run from the header later', async () => {
    await open();
    world.publishFails = true;
    expect((await ask()).status).toBe(200);
    expect(world.stores.headers.get(world.run())!.data.cached).toMatchObject({ runId: kept.runId });
    await until('the warning', () => world.lines.some(({ message }) => message.includes('could not be published')));
  });

  it('is not returned when its run cannot be stored', async () => {
    await open({ limits: { openRuns: 1 }, keys: twoTenants });
    const first = await ask();
    expect(first.headers.get('x-conclave-cache')).toBe('exact');
    // The run is open until its record is written.
    expect((await ask()).status).toBe(429);
    expect(world.runs()).toHaveLength(1);
    engineAnswers(world.run());
    expect((await ask()).status).toBe(200);
  });

  it('cancels its run when the client disconnects before the answer', async () => {
    await open();
    const { accept } = world.stores.state.runs;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let asked = false;
    world.stores.state.runs.accept = async (request) => {
      asked = true;
      await held;
      return accept(request);
    };
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', { model: 'conclave', messages: [{ role: 'user', content: question }] }, { 'x-api-key': 'sk-a' });
    await until('the request', () => asked);
    client.leave();
    // The gateway must see the close before the store answers.
    await until('the close', () => world.metric('onRequest').some(([request]) => (request as { status: number }).status === 499));
    goOn();
    await until('the cancel', () => world.commands().length > 0);
    expect(world.commands()).toMatchObject([{ runId: world.run(), data: { command: { name: 'cancel' } } }]);
  });
});

describe('the run of a cached answer', () => {
  const view = async (runId: string): Promise<RunView> =>
    (await (await fetch(`${world.url}/v1/runs/${runId}`, { headers: { 'x-api-key': 'sk-a' } })).json()) as RunView;

  it('is shown with its end to a client that asks for it immediately', async () => {
    await open();
    await (await ask()).text();
    const shown = view(world.run());
    await until('somebody who waits', () => world.stores.reads.length > 0);
    engineAnswers(world.run());
    expect(await shown).toMatchObject({ status: 'completed', terminal: true, answer: kept.answer });
  });

  it('is shown as accepted, with the answer it got, while the engine has not handled it', async () => {
    await open();
    await (await ask()).text();
    expect(await view(world.run())).toMatchObject({
      status: 'accepted',
      terminal: false,
      answer: null,
      cached: { origin: 'exact', runId: kept.runId, distance: null },
    });
  });

  it('can be rated immediately', async () => {
    await open();
    const { id } = (await (await ask()).json()) as { id: string };
    const rated = await world.post('/v1/feedback', { response_id: id, rating: 1 }, { headers: { 'x-api-key': 'sk-a' } });
    expect(rated.status).toBe(202);
    expect(world.events<KnowledgeProposed>('knowledge.ingest')).toMatchObject([{ data: { about: world.run(), rating: 1 } }]);
  });

  it('has the outcome that the engine recorded when it was cancelled first', async () => {
    await open();
    const first = (await (await ask({}, { 'idempotency-key': 'the same' })).json()) as { choices: unknown };
    expect(first.choices).toMatchObject([{ message: { content: kept.answer } }]);
    const runId = world.run();
    const cancelled: StreamBody = {
      ...(step(null, world.stores.headers.get(runId)!, 1, strategyOf)!.entries.at(-1) as Extract<StreamBody, { kind: 'run.completed' }>),
      ...{ outcome: 'cancelled', rule: 'D1', reason: 'The run was cancelled.', reasonCode: 'cancelled', answer: null },
    };
    world.stores.write(runId, [cancelled]);
    expect(await view(runId)).toMatchObject({ outcome: 'cancelled', answer: null });
    // The retry of a run without an answer is a new run.
    expect((await ask({}, { 'idempotency-key': 'the same' })).status).toBe(200);
    expect(world.runs()).toHaveLength(2);
  });
});

const withAnswer = (header: Parameters<StateStore['runs']['accept']>[0]['header'], cached: CachedAnswer): PlanRequested =>
  makeEvent(PlanRequested, header, { ...header.data, cached });
