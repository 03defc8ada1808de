import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openProviders } from '@conclave/adapter-openai';
import { openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { stopHint, type Models } from '@conclave/ports';
import { askModels, CallMaker, LiveText, type ModelQuestion } from '@conclave/calls';
import { acceptance, counting, ending, nthInput } from '@conclave/ports/suites';
import { ScriptedModelServer, until, type ScriptedStep } from '@conclave/test-support';

const runId = 'run_calls0000';
const owner = `${runId}/0/x1`;
let sqlite: Sqlite;
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  sqlite = openSqlite({ home: ':memory:', processId: 'one', durability: 'process' });
  closers.push(() => sqlite.close());
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serverWith(script: readonly ScriptedStep[], maxConcurrency = 8): Promise<{ server: ScriptedModelServer; models: Models }> {
  const server = await ScriptedModelServer.start({ script: [...script] });
  const models = openProviders({
    providers: { fake: { base_url: server.url, local: false, paid: false, max_concurrency: maxConcurrency } },
    retry: { attempts: 1 },
  });
  closers.push(
    () => server.close(),
    () => models.close(),
  );
  return { server, models };
}

async function maker(models: Models, processId = 'one'): Promise<CallMaker> {
  const { state, stream } = processId === 'one' ? sqlite : sqlite.connect(processId);
  await state.leases.renewProcess({ id: processId, service: 'experts', classes: [], ttlMs: 60_000 });
  const made = new CallMaker({
    state,
    stream,
    models,
    probe: noProbe,
    logger: silentLogger,
    metrics: openMetrics(),
    processId,
    service: 'experts',
    storePrompts: 'full',
    guard: null,
  });
  closers.push(() => made.cancels.close());
  return made;
}

const question = (changes: Partial<ModelQuestion> = {}): ModelQuestion => ({
  runId,
  owner,
  purpose: 'expert.general',
  models: ['a@fake', 'b@fake'],
  messages: [{ role: 'user', content: 'What is it?' }],
  deadline: Date.now() + 20_000,
  calls: 2,
  prices: { 'a@fake': { input: 1, output: 2 } },
  signal: new AbortController().signal,
  ...changes,
});
const is = (model: string) => (request: { model: string }) => request.model === model;

describe('a journalled question', () => {
  it('is paid once: a repetition returns the stored reply, usage and record', async () => {
    const { server, models } = await serverWith([
      { match: is('a'), reply: { text: 'It is B.', usage: { prompt_tokens: 10, completion_tokens: 5 } } },
    ]);
    const calls = await maker(models);
    const first = await askModels(calls, question());
    const again = await askModels(calls, question());
    expect(first).toMatchObject({
      kind: 'answer',
      model: 'a@fake',
      replayed: false,
      usage: { calls: 1, prompt: 10, completion: 5, cost: 0.00002 },
    });
    expect(again).toMatchObject({ kind: 'answer', replayed: true, reply: { content: 'It is B.' } });
    expect(first.kind === 'answer' && first.records).toEqual(
      again.kind === 'answer' && again.records.map((record) => ({ ...record, time: expect.any(Number) })),
    );
    expect(server.calls).toHaveLength(1);
  });

  it('goes to the next model when the first fails, and a failed call counts and is not repeated', async () => {
    const { server, models } = await serverWith([
      { match: is('a'), reply: { status: 500, body: { error: { message: 'broken' } } } },
      { match: is('b'), reply: { text: 'It is B.' } },
    ]);
    const calls = await maker(models);
    for (let round = 0; round < 2; round += 1)
      expect(await askModels(calls, question())).toMatchObject({ kind: 'answer', model: 'b@fake', attempt: 10_001, usage: { calls: 2 } });
    expect(server.calls).toHaveLength(2);
  });

  it('never makes more calls than it may', async () => {
    const { server, models } = await serverWith([{ match: () => true, reply: { status: 500, body: {} }, times: 9 }]);
    expect(await askModels(await maker(models), question({ calls: 1 }))).toMatchObject({
      kind: 'failed',
      failure: { code: 'PROVIDER_FAILED' },
      usage: { calls: 1 },
    });
    expect(server.calls).toHaveLength(1);
  });

  it('waits while another living process performs it', async () => {
    const { models } = await serverWith([{ match: is('a'), reply: { hang: true } }]);
    const stop = new AbortController();
    const running = askModels(await maker(models), question({ signal: stop.signal })).catch((error: unknown) => error);
    await until('the first call to begin', () => sqlite.state.journal.started(owner));
    expect(await askModels(await maker(models, 'two'), question())).toMatchObject({ kind: 'busy' });
    stop.abort();
    expect(await running).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  it('is abandoned when its process stops, so that the next one begins it again', async () => {
    const { server, models } = await serverWith([
      { match: is('a'), reply: { hang: true } },
      { match: is('a'), reply: { text: 'It is B.' } },
    ]);
    const stop = new AbortController();
    const running = askModels(await maker(models), question({ signal: stop.signal })).catch((error: unknown) => error);
    await until('the call to arrive', () => server.calls.length === 1);
    stop.abort();
    await running;
    expect(await askModels(await maker(models, 'two'), question())).toMatchObject({ kind: 'answer', reply: { content: 'It is B.' } });
  });

  it('stops upstream within a second of a cancel and counts what had arrived', async () => {
    const { server, models } = await serverWith([{ match: is('a'), reply: { stallAfter: [{ text: 'It is a long story' }] } }]);
    const running = askModels(await maker(models), question());
    await until('the call to arrive', () => server.calls.length === 1);
    const at = Date.now();
    await sqlite.state.runs.cancel(runId);
    expect(await running).toMatchObject({ kind: 'cancelled', usage: { calls: 1, estimated: true } });
    await until('the server to see it', () => server.calls[0]!.abortedAt);
    expect(server.calls[0]!.abortedAt! - at).toBeLessThan(1_000);
  });

  it('stops upstream within a second of the end of its run', async () => {
    const { server, models } = await serverWith([{ match: is('a'), reply: { stallAfter: [{ text: 'It is a long story' }] } }]);
    const running = askModels(await maker(models), question());
    await until('the call to arrive', () => server.calls.length === 1);
    const at = Date.now();
    const last = nthInput(runId, 1);
    await sqlite.state.runs.commit(last, counting(last, ending));
    expect(await running).toMatchObject({ kind: 'cancelled' });
    await until('the server to see it', () => server.calls[0]!.abortedAt);
    expect(server.calls[0]!.abortedAt! - at).toBeLessThan(1_000);
  });

  it('does not poll while it is in flight', async () => {
    const { server, models } = await serverWith([{ match: is('a'), reply: { stallAfter: [{ text: 'It is a long story' }] } }]);
    const { runs } = sqlite.state;
    const cancelled = runs.cancelled.bind(runs);
    let asked = 0;
    runs.cancelled = (ids) => {
      asked += 1;
      return cancelled(ids);
    };
    const running = askModels(await maker(models), question());
    await until('the call to arrive', () => server.calls.length === 1);
    asked = 0;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(asked).toBe(0);
    await runs.cancel(runId);
    await running;
    expect(asked).toBe(1);
  });

  it('begins no call while its run is parked, and makes it when a client has come back', async () => {
    const { server, models } = await serverWith([{ match: is('a'), reply: { text: 'It is B.' } }]);
    const { runs } = sqlite.state;
    const made = await maker(models);
    await runs.accept(acceptance(runId));
    await runs.attach(runId, 'client');
    await sqlite.state.leases.endProcess('one');
    expect(await runs.park(60_000, 5)).toEqual({ parked: 1, overdue: [] });
    const asked = question();
    expect(await askModels(made, asked)).toEqual({ kind: 'busy', retryInMs: 1_000 });
    expect(server.calls).toHaveLength(0);
    await runs.attach(runId, 'client again');
    expect(await askModels(made, asked)).toMatchObject({ kind: 'answer', reply: { content: 'It is B.' } });
    server.expectCalls(1);
  });

  it('is ended when its run is parked and told to stop, and is made again when a client has come back', async () => {
    const { server, models } = await serverWith([
      { match: is('a'), reply: { stallAfter: [{ text: 'It is a long' }] } },
      { match: is('a'), reply: { text: 'It is B.' } },
    ]);
    const { runs, hints } = sqlite.state;
    const made = await maker(models);
    await runs.accept(acceptance(runId));
    await runs.attach(runId, 'client');
    const asked = question();
    const running = askModels(made, asked);
    await until('the call to arrive', () => server.calls.length === 1);
    expect(await runs.leave(runId, 'client')).toBe(0);
    const at = Date.now();
    await hints.publish('cancel', stopHint(runId));
    expect(await running).toEqual({ kind: 'busy', retryInMs: 1_000 });
    await until('the server to see it', () => server.calls[0]!.abortedAt);
    expect(server.calls[0]!.abortedAt! - at).toBeLessThan(1_000);
    await runs.attach(runId, 'client again');
    expect(await askModels(made, asked)).toMatchObject({ kind: 'answer', reply: { content: 'It is B.' } });
    server.expectCalls(2);
  });

  it('shares the slots of a provider between processes', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { server, models } = await serverWith(
      [
        { match: is('a'), reply: { chunks: [{ text: 'one', when: gate }] } },
        { match: is('a'), reply: { text: 'two' } },
      ],
      1,
    );
    const first = askModels(await maker(models), question());
    await until('the first call to arrive', () => server.calls.length === 1);
    const second = askModels(await maker(models, 'two'), question({ owner: `${runId}/0/x2` }));
    await until('the second to wait for its slot', () => sqlite.state.journal.started(`${runId}/0/x2`));
    expect(server.calls).toHaveLength(1);
    release();
    expect([await first, await second]).toMatchObject([{ kind: 'answer' }, { kind: 'answer' }]);
  });
});

describe('live text', () => {
  it('is appended in order, and a replay adds only what is missing', async () => {
    const shown = async () =>
      (await sqlite.stream.read(runId, 0, 100)).entries.flatMap((entry) => (entry.kind === 'chunk' ? [entry.text] : [])).join('');
    const first = new LiveText(sqlite.stream, runId, owner, 1);
    first.push('One, ');
    await first.flush();
    const again = new LiveText(sqlite.stream, runId, owner, 1);
    again.push('One, two, ');
    again.push('three.');
    await again.flush();
    expect(await shown()).toBe('One, two, three.');
  });

  it('is no longer appended once a later attempt has begun', async () => {
    const old = new LiveText(sqlite.stream, runId, owner, 1);
    old.push('old');
    await old.flush();
    const later = new LiveText(sqlite.stream, runId, owner, 2);
    later.push('new');
    await later.flush();
    old.push(' more');
    await old.flush();
    expect(old.refused).toBe(true);
    expect((await sqlite.stream.read(runId, 0, 100)).entries).toMatchObject([
      { kind: 'chunk', text: 'old' },
      { kind: 'superseded', attempt: 2, discarded: 3 },
      { kind: 'chunk', text: 'new' },
    ]);
  });
});
