import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openProviders } from '@conclave/adapter-openai';
import { openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import { addUsage, Failure, noUsage } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import type { Models, StateStore } from '@conclave/ports';
import { askModels, CallMaker, type MadeReply, type ModelQuestion } from '@conclave/calls';
import { ScriptedModelServer, until, watchSignals, type ScriptedStep } from '@conclave/test-support';

const runId = 'run_calls0001';
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

async function serverWith(script: readonly ScriptedStep[], options: { attempts?: number; slots?: number } = {}) {
  const server = await ScriptedModelServer.start({ script: [...script] });
  const models = openProviders({
    providers: { fake: { base_url: server.url, local: false, paid: false, max_concurrency: options.slots ?? 8 } },
    retry: { attempts: options.attempts ?? 1, base_ms: 1, cap_ms: 2 },
  });
  closers.push(
    () => server.close(),
    () => models.close(),
  );
  return { server, models };
}

async function maker(
  models: Models,
  state: StateStore = sqlite.state,
  processId = 'one',
  more: { readonly repetitionLimit?: number } = {},
): Promise<CallMaker> {
  await state.leases.renewProcess({ id: processId, service: 'experts', classes: [], ttlMs: 60_000 });
  const made = new CallMaker({
    state,
    stream: sqlite.stream,
    models,
    probe: noProbe,
    logger: silentLogger,
    metrics: openMetrics(),
    processId,
    service: 'experts',
    storePrompts: 'full',
    guard: null,
    ...more,
  });
  closers.push(() => made.close());
  return made;
}

/** The store with one member of one part replaced. */
function stateWith<Part extends 'journal' | 'hints' | 'leases'>(part: Part, changes: Partial<StateStore[Part]>): StateStore {
  const own = sqlite.state[part];
  const changed = new Proxy(own, {
    get(target, name) {
      const value: unknown = name in changes ? Reflect.get(changes, name) : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(name in changes ? changes : target) as unknown) : value;
    },
  });
  return new Proxy(sqlite.state, {
    get(target, name) {
      const value: unknown = name === part ? changed : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const question = (changes: Partial<ModelQuestion> = {}): ModelQuestion => ({
  runId,
  owner,
  purpose: 'expert.general',
  models: ['a@fake'],
  messages: [{ role: 'user', content: 'What is it?' }],
  deadline: Date.now() + 20_000,
  calls: 2,
  prices: {},
  signal: new AbortController().signal,
  ...changes,
});
const answer: ScriptedStep = { match: () => true, reply: { text: 'It is B.' }, times: 9 };
const away = (): Failure => new Failure('STORE_UNAVAILABLE');

describe('a call step of a process that stays alive', () => {
  it('is free again when the store was unavailable while its call was abandoned', async () => {
    const { server, models } = await serverWith([{ match: () => true, reply: { hang: true } }, answer]);
    let failures = 0;
    const state = stateWith('journal', {
      abandon: (...call) => ((failures += 1) <= 2 ? Promise.reject(away()) : sqlite.state.journal.abandon(...call)),
    });
    const stop = new AbortController();
    const running = askModels(await maker(models, state), question({ signal: stop.signal })).catch((error: unknown) => error);
    await until('the call to arrive', () => server.calls.length === 1);
    stop.abort();
    expect(await running).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(failures).toBe(3);
    expect(await askModels(await maker(models), question())).toMatchObject({ kind: 'answer' });
  });

  it('waits for a store together with many others without exceeding the listeners of a signal', async () => {
    const { server, models } = await serverWith([{ ...answer, times: 30 }], { slots: 30 });
    const signals = watchSignals();
    try {
      let isAway = true;
      let refused = 0;
      const state = stateWith('journal', {
        begin: (call) => (isAway ? ((refused += 1), Promise.reject(away())) : sqlite.state.journal.begin(call)),
      });
      const made = await maker(models, state);
      const asked = Array.from({ length: 30 }, (_, n) => askModels(made, question({ owner: `${runId}/0/x${n}` })));
      await until('all of them to wait', () => refused >= 30);
      isAway = false;
      for (const end of await Promise.all(asked)) expect(end).toMatchObject({ kind: 'answer' });
      expect(server.calls).toHaveLength(30);
      expect(signals.crowded()).toBe(0);
    } finally {
      signals.stop();
    }
  });

  it('keeps a paid reply until the store is back', async () => {
    const { server, models } = await serverWith([answer]);
    let failures = 0;
    const state = stateWith('journal', {
      finish: (...end) => ((failures += 1) <= 2 ? Promise.reject(away()) : sqlite.state.journal.finish(...end)),
    });
    expect(await askModels(await maker(models, state), question())).toMatchObject({ kind: 'answer', replayed: false });
    expect(server.calls).toHaveLength(1);
  });

  it('is abandoned when its outcome can never be stored', async () => {
    const { models } = await serverWith([answer]);
    const state = stateWith('journal', { finish: () => Promise.reject(new RangeError('too long')) });
    await expect(askModels(await maker(models, state), question())).rejects.toThrow('too long');
    expect(await askModels(await maker(models), question())).toMatchObject({ kind: 'answer' });
  });

  it('is abandoned when our own code throws before the call', async () => {
    const { server, models } = await serverWith([answer]);
    const onBegun = (): never => {
      throw new TypeError('a bug');
    };
    await expect(askModels(await maker(models), question({ onBegun }))).rejects.toThrow('a bug');
    expect(server.calls).toHaveLength(0);
    expect(await askModels(await maker(models), question())).toMatchObject({ kind: 'answer' });
  });

  it('delays its answer, not its request, until the lines that announce it are shown, also if the run stream is unavailable', async () => {
    const { server, models } = await serverWith([answer]);
    let shows = 0;
    let callsBefore = -1;
    const onBegun = async (): Promise<void> => {
      shows += 1;
      if (shows < 3) throw away();
      callsBefore = server.calls.length;
    };
    expect(await askModels(await maker(models), question({ onBegun }))).toMatchObject({ kind: 'answer', replayed: false });
    expect([shows, callsBefore, server.calls.length]).toEqual([3, 1, 1]);
  });

  it('that was paid is kept when its lines cannot be shown', async () => {
    const { server, models } = await serverWith([answer]);
    const failing = async (): Promise<never> => {
      await Promise.resolve();
      throw new TypeError('a bug');
    };
    await expect(askModels(await maker(models), question({ onBegun: failing }))).rejects.toThrow('a bug');
    await expect(askModels(await maker(models), question({ owner: `${runId}/0/x2`, onReply: failing }))).rejects.toThrow('a bug');
    for (const owner of [`${runId}/0/x1`, `${runId}/0/x2`])
      expect(await askModels(await maker(models), question({ owner }))).toMatchObject({ kind: 'answer', replayed: true });
    expect(server.calls).toHaveLength(2);
  });

  it('shows its reply while the journal stores it, once, and a replayed one not at all', async () => {
    const { models } = await serverWith([answer]);
    const seen: string[] = [];
    let isShown: () => void = () => undefined;
    const shown = new Promise<void>((resolve) => (isShown = resolve));
    const state = stateWith('journal', {
      // Would never end if the reply were shown only after it was stored.
      finish: async (...end) => {
        await shown;
        return sqlite.state.journal.finish(...end);
      },
    });
    const onReply = ({ reply, attempt, replayed }: MadeReply): void => {
      seen.push(`${attempt} ${replayed} ${reply.content}`);
      isShown();
    };
    expect(await askModels(await maker(models, state), question({ onReply }))).toMatchObject({ kind: 'answer' });
    expect(await askModels(await maker(models), question({ onReply }))).toMatchObject({ kind: 'answer', replayed: true });
    expect(seen).toEqual(['1 false It is B.']);
  });

  it('keeps a paid reply whose slot could not be released', async () => {
    const { server, models } = await serverWith([answer]);
    const state = stateWith('leases', { releaseSlot: () => Promise.reject(new TypeError('a bug')) });
    expect(await askModels(await maker(models, state), question())).toMatchObject({ kind: 'answer' });
    expect(await askModels(await maker(models), question())).toMatchObject({ kind: 'answer', replayed: true });
    expect(server.calls).toHaveLength(1);
  });
});

describe('cancelling', () => {
  it('is heard again after the store was unavailable at the first subscription', async () => {
    const { models } = await serverWith([answer]);
    let tries = 0;
    const state = stateWith('hints', {
      subscribe: (channel, listener) => ((tries += 1) === 1 ? Promise.reject(away()) : sqlite.state.hints.subscribe(channel, listener)),
    });
    const calls = await maker(models, state);
    await expect(askModels(calls, question())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await askModels(calls, question())).toMatchObject({ kind: 'answer' });
  });

  it('before a call makes no call and counts none', async () => {
    const { server, models } = await serverWith([answer]);
    await sqlite.state.runs.cancel(runId);
    expect(await askModels(await maker(models), question())).toMatchObject({ kind: 'cancelled', usage: { calls: 0, prompt: 0 } });
    expect(server.calls).toHaveLength(0);
  });

  it('ends a tool that ignores its signal', async () => {
    const { models } = await serverWith([]);
    const calls = await maker(models);
    const running = calls.tool(
      {
        runId,
        owner,
        index: 0,
        purpose: 'research',
        name: 'search.corpus',
        request: {},
        deadline: Date.now() + 20_000,
        signal: new AbortController().signal,
        task: null,
      },
      () => new Promise<never>(() => undefined),
    );
    await until('the tool to begin', () => sqlite.state.journal.started(owner));
    await sqlite.state.runs.cancel(runId);
    expect(await running).toMatchObject({ kind: 'cancelled' });
  });
});

describe('the usage ledger', () => {
  const ofRun = () => sqlite.state.usage.ofRun(runId);

  it('contains every call that was made, retried, failed or cut short, once, with its known usage', async () => {
    const { models } = await serverWith(
      [
        { match: () => true, reply: { status: 500, body: {} }, times: 2 },
        { match: 'Go on', reply: { stallAfter: [{ text: 'twenty characters it' }] } },
        { ...answer, reply: { text: 'It is B.', usage: { prompt_tokens: 7, completion_tokens: 3 } } },
      ],
      { attempts: 2 },
    );
    const calls = await maker(models);
    const price = { input: 1_000_000, output: 2_000_000 };
    const failed = await askModels(calls, question());
    expect(failed).toMatchObject({ kind: 'failed', usage: { calls: 2 } });
    expect(await ofRun()).toEqual(failed.kind === 'failed' && failed.usage);
    const made = await askModels(calls, question({ owner: `${runId}/0/x2`, prices: { 'a@fake': price } }));
    expect(made).toMatchObject({ kind: 'answer', usage: { calls: 1, prompt: 7, completion: 3, cost: 13 } });
    expect(await askModels(calls, question({ owner: `${runId}/0/x2` }))).toMatchObject({ kind: 'answer', replayed: true });
    const before = await ofRun();
    expect(before).toMatchObject({ calls: 3, cost: 13 });

    let seen = '';
    const onContent = (text: string): void => void (seen += text);
    const messages = [{ role: 'user', content: 'Go on' }] as const;
    const slow = askModels(calls, question({ owner: `${runId}/0/x3`, messages, onContent }));
    await until('the first text', () => seen !== '');
    await sqlite.state.runs.cancel(`${runId}/0/x3`);
    const cut = await slow;
    expect(cut).toMatchObject({ kind: 'cancelled', usage: { calls: 1, estimated: true } });
    expect(await ofRun()).toEqual(addUsage(before, cut.kind === 'cancelled' ? cut.usage : noUsage));
  });

  it('contains a call that a stopping process abandoned, which has no record', async () => {
    const { server, models } = await serverWith([{ match: () => true, reply: { hang: true } }, answer]);
    const stop = new AbortController();
    const running = askModels(await maker(models), question({ signal: stop.signal })).catch((error: unknown) => error);
    await until('the call to arrive', () => server.calls.length === 1);
    stop.abort();
    expect(await running).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await ofRun()).toMatchObject({ calls: 1 });
    const second = await askModels(await maker(models), question());
    expect(second).toMatchObject({ kind: 'answer', usage: { calls: 1 } });
    expect(await ofRun()).toMatchObject({ calls: 2 });
  });

  it('contains a call whose outcome came too late to count', async () => {
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const { server, models } = await serverWith([{ match: () => true, reply: { chunks: [{ when: held, text: 'late' }] } }, answer]);
    const running = askModels(await maker(models), question());
    await until('the call to arrive', () => server.calls.length === 1);
    await sqlite.state.leases.endProcess('one');
    const other = sqlite.connect('two').state;
    expect(await askModels(await maker(models, other, 'two'), question())).toMatchObject({ kind: 'answer' });
    go();
    expect(await running).toMatchObject({ kind: 'busy' });
    expect(await ofRun()).toMatchObject({ calls: 2 });
  });

  it('contains no tools and no calls that were never sent', async () => {
    const { models } = await serverWith([]);
    const calls = await maker(models);
    const call = { runId, owner, index: 0, purpose: 'research', name: 'search.corpus', request: {}, deadline: Date.now() + 20_000 };
    expect(await calls.tool({ ...call, task: null, signal: new AbortController().signal }, () => Promise.resolve('found'))).toMatchObject({
      kind: 'reply',
    });
    await sqlite.state.runs.cancel(`${runId}/0/x2`);
    expect(await askModels(calls, question({ owner: `${runId}/0/x2` }))).toMatchObject({ kind: 'cancelled' });
    expect(await ofRun()).toEqual(noUsage);
  });
});

describe('the cost limit of a question', () => {
  it('counts every attempt of a failed call, and makes no more than the budget allows', async () => {
    const { server, models } = await serverWith([{ match: () => true, reply: { status: 500, body: {} }, times: 20 }], { attempts: 4 });
    const asked = await askModels(await maker(models), question({ models: ['a@fake', 'b@fake'], calls: 3 }));
    expect(asked).toMatchObject({ kind: 'failed', usage: { calls: 3 } });
    expect(server.calls.map((call) => call.model)).toEqual(['a', 'a', 'b']);
  });

  it('waits for a slot only until its deadline, at no cost', async () => {
    const { server, models } = await serverWith([answer], { slots: 1 });
    await sqlite.state.leases.acquireSlot({ name: 'fake', limit: 1, holder: 'another', ttlMs: 60_000 });
    const asked = await askModels(await maker(models), question({ deadline: Date.now() + 300 }));
    expect(asked).toMatchObject({ kind: 'failed', failure: { code: 'CALL_TIMEOUT' }, usage: { calls: 0, prompt: 0 } });
    expect(server.calls).toHaveLength(0);
  });

  it('ends without a call when the prompt alone exceeds its tokens or its cost', async () => {
    const { server, models } = await serverWith([answer]);
    const long = [{ role: 'user' as const, content: 'word '.repeat(1_000) }];
    const calls = await maker(models);
    const dear = { prices: { 'a@fake': { input: 1_000, output: 1_000 } }, cost: 0.5, owner: `${runId}/0/x2` };
    for (const limit of [{ tokens: 500 }, dear])
      expect(await askModels(calls, question({ messages: long, ...limit }))).toMatchObject({
        kind: 'failed',
        failure: { code: 'ALLOWANCE_EXHAUSTED' },
        usage: { calls: 0 },
      });
    expect(server.calls).toHaveLength(0);
  });

  it('cuts off a reply that exceeds it although the server knew the limit', async () => {
    const { models } = await serverWith([{ match: () => true, reply: { text: 'word '.repeat(2_000), words: true } }]);
    const asked = await askModels(await maker(models), question({ tokens: 300 }));
    expect(asked).toMatchObject({ kind: 'answer', reply: { finishReason: 'length' } });
    expect(asked.kind === 'answer' && asked.reply.content.length).toBeLessThan(3_000);
  });

  describe('of a model that repeats itself without end', () => {
    const start = 'Rivers carry water to the sea.\n';
    const loop = 'The old town lies at one of them, as I said. ';
    const chunks = [{ text: start }, ...Array.from({ length: 400 }, () => ({ text: loop }))];
    const endless: ScriptedStep = { match: () => true, reply: { stallAfter: chunks } };

    it('is ended upstream, keeps the text before the repetition, and says so in its record', async () => {
      const { server, models } = await serverWith([endless]);
      const asked = await askModels(await maker(models), question());
      expect(asked).toMatchObject({
        kind: 'answer',
        reply: { content: start + loop, finishReason: 'repetition', repeated: 4_000 },
        records: [{ data: { status: 'ok', repeated: 4_000, reply: { content: start + loop, finishReason: 'repetition' } } }],
      });
      await until('the end of the call upstream', () => server.calls[0]?.abortedAt !== null);
      // The tokens that arrived are paid, not only those that are kept.
      expect(asked.kind === 'answer' && asked.usage.completion).toBeGreaterThan(1_000);
      // A repeat of the work gets the same reply from the journal.
      expect(await askModels(await maker(models), question())).toMatchObject({
        reply: { content: start + loop, finishReason: 'repetition', repeated: 4_000 },
      });
      expect(server.calls).toHaveLength(1);
    });

    it('keeps exactly what was shown while it was written', async () => {
      const { models } = await serverWith([endless]);
      let shown = '';
      const asked = await askModels(await maker(models), question({ onContent: (text) => void (shown += text) }));
      expect(asked).toMatchObject({ kind: 'answer', reply: { content: shown, finishReason: 'repetition' } });
      expect(shown.startsWith(start + loop)).toBe(true);
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).toMatch(/as I said\.$/);
    });

    it('is ended in its thinking, too', async () => {
      const thinking = Array.from({ length: 400 }, () => ({ reasoning: 'Wait, let me think about that once more. ' }));
      const { models } = await serverWith([{ match: () => true, reply: { stallAfter: thinking } }]);
      expect(await askModels(await maker(models), question())).toMatchObject({
        reply: { content: '', reasoning: expect.stringMatching(/^.{41}$/), repeated: 4_000 },
      });
    });

    it('goes on if the limit is switched off', async () => {
      const { models } = await serverWith([{ match: () => true, reply: { chunks } }]);
      const asked = await askModels(await maker(models, sqlite.state, 'one', { repetitionLimit: 0 }), question());
      expect(asked).toMatchObject({ reply: { content: start + loop.repeat(400), finishReason: 'stop' } });
    });
  });

  it('writes the prompt for the context of the called model', async () => {
    const { models } = await serverWith([answer]);
    const sizes: number[] = [];
    const messages = (promptTokens: number) => (sizes.push(promptTokens), [{ role: 'user' as const, content: 'Hi' }]);
    await askModels(await maker(models), question({ messages, contexts: { 'a@fake': 8_192 }, tokens: 100_000 }));
    expect(sizes).toEqual([8_192 - 2_048]);
  });
});
