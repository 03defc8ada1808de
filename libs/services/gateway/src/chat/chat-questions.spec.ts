import { afterEach, describe, expect, it } from '@jest/globals';
import type { ChatCompletion, StreamBody } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { completed, twoTenants, usage, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
const more: World[] = [];
afterEach(async () => {
  await Promise.all([world.close(), ...more.splice(0).map((other) => other.close())]);
});

const question = 'Clocks or ships?';
const first = { role: 'user', content: 'Which company do I mean?' };
const turns = (answer: string, asked = question) => [first, { role: 'assistant', content: asked }, { role: 'user', content: answer }];
const asks = (text = question): StreamBody => ({ kind: 'question.asked', question: text, deadline: Date.now() + 60_000 });

async function open(options: WorldOptions = {}): Promise<void> {
  world = await World.open({ template: { strategy: 'reasoning' }, ...options });
}

/** A run whose first turn ended with its question. */
async function asked(over: Record<string, unknown> = {}, init: Parameters<World['chat']>[1] = {}): Promise<SseClient> {
  const known = world.runs().length;
  const client = new SseClient(await world.chat({ messages: [first], ...over }, init));
  await until('the run', () => world.runs().length > known);
  world.stores.write(world.runs().at(-1)!, [{ kind: 'planning', epoch: 0, iteration: 0, max: 3 }, asks()]);
  await client.all();
  return client;
}

/** Plays the engine applying a command as it was published. */
function taken(runId: string, n = 0, ...then: StreamBody[]): number {
  const { seq, actor, key, command } = world.commands().filter((one) => one.runId === runId)[n]!.data;
  if (key !== undefined) world.stores.keys.set(`${runId}/${seq}`, key);
  world.stores.write(runId, [{ kind: 'command.accepted', seq, name: command.name, actor }, ...then]);
  return seq;
}
const applied = (seq: number): StreamBody => ({ kind: 'command.applied', seq, name: 'answer', epoch: 0 });

describe('a question of a run', () => {
  it('ends the turn as its text, with finish_reason stop, and the run is not cancelled', async () => {
    await open();
    const client = await asked({ stream_options: { include_usage: true } });
    const finish = client.chunks.find(({ choices }) => choices[0]?.finish_reason)!;
    expect([client.content, finish.choices[0]!.finish_reason, client.failure]).toEqual([question, 'stop', null]);
    expect(finish.conclave).toMatchObject({ run_id: world.run(), outcome: 'waiting' });
    expect(client.events.at(-1)!.data).toBe('[DONE]');
    expect(client.reasoning).not.toContain(question);
    await until('the client to be gone', () => world.stores.clients(world.run()).size === 0);
    expect([world.commands(), world.stores.flagged.size]).toEqual([[], 0]);
  });

  it('is the message of an answer that is not streamed', async () => {
    await open();
    const reply = world.chat({ stream: false, messages: [first] });
    await until('the run', () => world.requested().length === 1);
    world.write(asks());
    const response = await reply;
    const body = (await response.json()) as ChatCompletion;
    expect([response.status, response.headers.get('x-conclave-outcome')]).toEqual([200, 'waiting']);
    expect(body.choices[0]).toMatchObject({ message: { content: question }, finish_reason: 'stop' });
  });

  it('follows the closed thinking block in the progress mode think', async () => {
    await open();
    const client = await asked({ conclave: { progress: 'think' } });
    expect(client.content).toMatch(/^<think>[^]*<\/think>\s+Clocks or ships\?$/);
  });
});

describe('the next message of the conversation', () => {
  it.each([true, false])('answers the question and shows how the run continues (stream: %s)', async (stream) => {
    await open();
    const turn = await asked();
    const reply = world.chat({ stream, messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    expect(world.commands()[0]).toMatchObject({ runId: world.run(), data: { command: { name: 'answer', text: 'Clocks' } } });
    const seq = taken(world.run());
    world.write(applied(seq), { kind: 'replanning', iteration: 1, max: 3, gap: 'clocks' }, completed({ answer: 'Northlight.' }));
    const response = await reply;
    expect([response.status, response.headers.get('x-run-id')]).toEqual([200, world.run()]);
    if (stream) {
      const client = new SseClient(response);
      await client.all();
      expect([client.content, client.failure]).toEqual(['Northlight.', null]);
      // What the first turn has shown is not shown again.
      expect([client.reasoning.includes('Iteration 1/3'), client.reasoning.includes('Planning')]).toEqual([true, false]);
      expect(client.chunks[0]!.id).not.toBe(turn.chunks[0]!.id);
    } else expect(((await response.json()) as ChatCompletion).choices[0]!.message.content).toBe('Northlight.');
    expect([world.runs().length, world.requested().length]).toEqual([1, 1]);
  });

  it('learns what the run has used since the question', async () => {
    await open();
    const { state, kept } = world.stores;
    const before = { ...usage, calls: 2, prompt: 100, completion: 40, cost: 0.2 };
    const write = kept.caches.write.bind(kept.caches);
    // The fixture's run reports no usage before its end.
    state.caches.write = (entry) => write({ ...entry, value: [{ runId: world.run(), usage: before }] });
    await asked();
    const reply = world.chat({ stream: false, messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())), completed());
    const body = (await (await reply).json()) as ChatCompletion;
    expect(body.usage).toMatchObject({ prompt_tokens: usage.prompt - 100, completion_tokens: usage.completion - 40 });
    expect(body.conclave).toMatchObject({ calls: usage.calls - 2 });
  });

  it('may lead to another question, which the next message answers', async () => {
    await open();
    await asked();
    const second = world.chat({ messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())), asks('Which year?'));
    const client = new SseClient(await second);
    await client.all();
    expect(client.content).toBe('Which year?');
    const last = world.chat({
      messages: [...turns('Clocks'), { role: 'assistant', content: 'Which year?' }, { role: 'user', content: '1911' }],
    });
    await until('the second answer', () => world.commands().length === 2);
    expect(world.commands()[1]).toMatchObject({ data: { command: { name: 'answer', text: '1911' } } });
    world.write(applied(taken(world.run(), 1)), completed({ answer: 'Northlight, 1911.' }));
    const end = new SseClient(await last);
    await end.all();
    expect([end.content, world.runs().length]).toEqual(['Northlight, 1911.', 1]);
  });

  it('is matched by the question even when the client changed white space and kept the thinking block', async () => {
    await open();
    await asked();
    void world.chat({ messages: turns('Clocks', `<think>\n- planning\n</think>\n\n  Clocks  or ships?\n`) });
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())), completed());
  });

  it('finds its run through another gateway', async () => {
    await open();
    await asked();
    const other = await World.open({ template: { strategy: 'reasoning' }, share: { stores: world.stores, broker: world.broker } });
    more.push(other);
    const reply = other.chat({ messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())), completed({ answer: 'Northlight.' }));
    const client = new SseClient(await reply);
    await client.all();
    expect(client.content).toBe('Northlight.');
  });

  it.each([
    ['another question comes before it', { messages: turns('Clocks', 'Clocks or boats?') }, {}],
    ['its conversation began differently', { messages: [{ role: 'user', content: 'Which one?' }, ...turns('Clocks').slice(1)] }, {}],
    ['another actor of the tenant sends it', {}, { headers: { authorization: 'Bearer sk-a-full' } }],
    ['another tenant sends it', {}, { headers: { authorization: 'Bearer sk-b' } }],
  ])('starts a run of its own when %s', async (_what, over, init) => {
    await open({ keys: twoTenants });
    const own = { headers: { authorization: 'Bearer sk-a' } };
    await asked({}, own);
    void world.chat({ messages: turns('Clocks'), ...over }, { ...own, ...init });
    await until('another run', () => world.requested().length === 2);
    expect(world.commands()).toEqual([]);
    for (const runId of world.runs()) world.stores.write(runId, [completed()]);
  });

  it('starts a run of its own, with the question in its conversation, when the first run has ended meanwhile', async () => {
    await open();
    await asked();
    world.write(completed({ outcome: 'limit_reached' }));
    void world.chat({ messages: turns('Clocks') });
    await until('another run', () => world.requested().length === 2);
    expect(world.requested()[1]!.data.conversation).toEqual([first, { role: 'assistant', content: question }]);
    world.stores.write(world.runs()[1]!, [completed()]);
  });

  it('answers each of several runs that wait in equal conversations exactly once', async () => {
    await open();
    await asked();
    await asked();
    const [one, two] = world.runs();
    void world.chat({ messages: turns('Clocks') });
    await until('the first answer', () => world.commands().length === 1);
    const answered = world.commands()[0]!.runId;
    world.stores.write(answered, [applied(taken(answered))]);
    void world.chat({ messages: turns('Ships') });
    await until('the second answer', () => world.commands().length === 2);
    expect(new Set(world.commands().map(({ runId }) => runId))).toEqual(new Set([one, two]));
    const other = world.commands()[1]!.runId;
    world.stores.write(other, [applied(taken(other)), completed()]);
    world.stores.write(answered, [completed()]);
  });

  it('is sent only once when it is retried, and the retry shows the same run', async () => {
    await open();
    await asked();
    const headers = { 'idempotency-key': 'answer-1' };
    const lost = await RawClient.open(world.url);
    lost.post('/v1/chat/completions', { model: 'conclave', stream: true, messages: turns('Clocks') }, headers);
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())));
    const reply = world.chat({ messages: turns('Clocks') }, { headers });
    await until('the retry', () => world.stores.clients(world.run()).size === 2);
    world.write(completed({ answer: 'Northlight.' }));
    const client = new SseClient(await reply);
    await client.all();
    expect([client.content, world.commands().length, world.runs().length]).toEqual(['Northlight.', 1, 1]);
    lost.leave();
  });

  it('is refused when the run no longer asks, and the run continues', async () => {
    await open();
    await asked();
    const reply = world.chat({ messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    const seq = taken(world.run());
    world.write({ kind: 'command.rejected', seq, name: 'answer', reason: 'The run has asked nothing.' });
    const client = new SseClient(await reply);
    await client.all();
    expect(client.failure).toMatchObject({ code: 'COMMAND_REJECTED', message: expect.stringContaining('The run has asked nothing.') });
    await until('the client to be gone', () => world.stores.clients(world.run()).size === 0);
    expect(world.stores.flagged.size).toBe(0);
  });

  it('cancels the run when its client disconnects', async () => {
    await open();
    await asked();
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', { model: 'conclave', stream: true, messages: turns('Clocks') });
    await until('the answer', () => world.commands().length === 1);
    world.write(applied(taken(world.run())));
    client.leave();
    await until('the cancel', () => world.stores.flagged.has(world.run()));
  });

  it('is refused when it is longer than a command may be', async () => {
    await open();
    await asked();
    const response = await world.chat({ messages: turns('x'.repeat(20_001)) });
    expect([response.status, world.commands()]).toEqual([400, []]);
  });
});

describe('a question that cannot be stored', () => {
  it('is not shown: the stream fails, and a retry of the turn shows the question', async () => {
    await open();
    const { caches } = world.stores.state;
    const write = caches.write.bind(caches);
    caches.write = () => Promise.reject(new Error('the store does not answer'));
    const client = await asked({}, { headers: { 'idempotency-key': 'turn-1' } });
    expect([client.content, client.failure]).toEqual(['', expect.anything()]);
    caches.write = write;
    const again = new SseClient(await world.chat({ messages: [first] }, { headers: { 'idempotency-key': 'turn-1' } }));
    await again.all();
    expect([again.content, world.runs().length]).toEqual([question, 1]);
  });
});
