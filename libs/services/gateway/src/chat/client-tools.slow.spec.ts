import { afterEach, describe, expect, it } from '@jest/globals';
import type { CallRecorded, ChatCompletion, StreamBody } from '@conclave/contracts';
import type { JsonObject, Models } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { completed, reply, twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
const more: World[] = [];
afterEach(async () => {
  await Promise.all([world.close(), ...more.splice(0).map((other) => other.close())]);
});

const used = { calls: 1, prompt: 11, completion: 7, reasoning: 0, cost: 0.125, estimated: false };
const user = { role: 'user', content: 'How is the weather in Ulm and in Bonn?' };
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
const call = (town: string) => ({
  id: `call_${town}`,
  type: 'function',
  function: { name: 'get_weather', arguments: `{"town":"${town}"}` },
});
const asksFirst: WorldOptions = { template: { client_tools: 'ask_first', tool_model: 'm@fake' } };

/** Replies of the tool model, and the request bodies it received. */
let asked: JsonObject[];
function toolModel(on: World, message: JsonObject, gate: Promise<void> = Promise.resolve()): void {
  on.models.pass = async ({ body }, { signal }) => {
    asked.push(body);
    await Promise.race([gate, new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))]);
    const choices = [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }];
    return { ...reply({ usage: used }), body: { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices } };
  };
}
const calls = (...towns: string[]): JsonObject => ({ tool_calls: towns.map(call) });

async function open(message: JsonObject = calls('Ulm', 'Bonn'), options: WorldOptions = {}): Promise<void> {
  asked = [];
  world = await World.open({ ...asksFirst, ...options });
  toolModel(world, message);
}

async function another(options: WorldOptions = {}): Promise<World> {
  const other = await World.open({ ...asksFirst, ...options, share: { stores: world.stores, broker: world.broker } });
  other.models.pass = (() => Promise.reject(new Error('asked again'))) as Models['pass'];
  more.push(other);
  return other;
}

/** The engine's first step for a request whose tool model has called tools. */
function waits(runId = world.run()): StreamBody {
  const own = world.requested().find((one) => one.runId === runId)!.data.clientTools!.calls;
  return { kind: 'question.asked', question: 'The client is to call.', deadline: 9e15, calls: own.map(({ id, name }) => ({ id, name })) };
}

/** The message with which a first turn ends. */
async function firstTurn(init: Parameters<World['chat']>[1] = {}): Promise<ChatCompletion['choices'][number]['message']> {
  const known = world.runs().length;
  const answer = world.chat({ stream: false, messages: [user], tools }, init);
  await until('the run', () => world.requested().length > known);
  world.stores.write(world.runs().at(-1)!, [waits(world.runs().at(-1)!)]);
  const body = (await (await answer).json()) as ChatCompletion;
  return body.choices[0]!.message;
}

const results = (message: ChatCompletion['choices'][number]['message'], texts: readonly string[]) => [
  ...[user, message],
  ...texts.map((content, n) => ({ role: 'tool', tool_call_id: message.tool_calls![n]!.id, content })),
];

/** Plays the engine applying the last command. */
function taken(runId = world.run()): void {
  const { seq, actor, key } = world.commands().at(-1)!.data;
  if (key !== undefined) world.stores.keys.set(`${runId}/${seq}`, key);
  world.stores.write(runId, [
    { kind: 'command.accepted', seq, name: 'answer', actor },
    { kind: 'command.applied', seq, name: 'answer', epoch: 0 },
  ]);
}

describe('a call of a tool of the client', () => {
  it('goes to the client with an id that names its run, which waits; the call of the tool model belongs to the run', async () => {
    await open();
    const answer = world.chat({ stream: false, messages: [user], tools });
    await until('the run', () => world.requested().length === 1);
    const runId = world.run();
    world.write(waits());
    const response = await answer;
    const body = (await response.json()) as ChatCompletion;
    expect([response.status, response.headers.get('x-run-id'), response.headers.get('x-conclave-outcome')]).toEqual([
      200,
      runId,
      'waiting',
    ]);
    const id = (n: number): string => `call_${runId.slice(4)}_${n}`;
    expect(body).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [
              { ...call('Ulm'), id: id(0) },
              { ...call('Bonn'), id: id(1) },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7 },
      conclave: { run_id: runId, outcome: 'waiting', calls: 1 },
    });
    expect(world.requested()[0]!.data).toMatchObject({
      clientTools: { model: 'm@fake', usage: used, calls: [{ id: id(0), name: 'get_weather' }, { id: id(1) }] },
    });
    await until('the record', () => world.events('audit').length === 1);
    expect(world.events<CallRecorded>('audit')[0]).toMatchObject({
      runId,
      data: { purpose: 'tools', usage: used, step: expect.stringMatching(`^${runId}/tools/`) },
    });
    await until('the client to be gone', () => world.stores.clients(runId).size === 0);
    expect([world.commands(), world.stores.flagged.size]).toEqual([[], 0]);
  });

  it('is streamed with index, id, name and arguments, then the finish reason, then the usage', async () => {
    await open({ ...calls('Ulm', 'Bonn'), content: 'Let me look.' });
    const client = new SseClient(await world.chat({ messages: [user], tools, stream_options: { include_usage: true } }));
    await until('the run', () => world.requested().length === 1);
    world.write(waits());
    await client.all();
    const deltas = client.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(deltas.map(({ index, function: made }) => [index, made])).toEqual([
      [0, call('Ulm').function],
      [1, call('Bonn').function],
    ]);
    expect(client.content).toBe('Let me look.');
    expect(client.chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['tool_calls']);
    expect(client.chunks.at(-1)!.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
    expect(client.events.at(-1)!.data).toBe('[DONE]');
  });

  it('is shown again to a retry of the turn, and the tool model is called once', async () => {
    await open();
    const first = await firstTurn();
    const other = await another();
    const again = await other.chat({ stream: false, messages: [user], tools }, { headers: { 'x-stainless-retry-count': '1' } });
    expect(((await again.json()) as ChatCompletion).choices[0]!.message.tool_calls).toEqual(first.tool_calls);
    expect([asked.length, world.runs().length]).toEqual([1, 1]);
  });

  it.each([
    ['none', { content: 'I need none.' }],
    ['an empty list', { tool_calls: [] }],
  ])('is not sent when the tool model names %s: the run answers, and the call of the tool model is counted', async (_what, message) => {
    await open(message);
    const answer = world.chat({ stream: false, messages: [user], tools });
    await until('the run', () => world.requested().length === 1);
    expect(world.requested()[0]!.data.clientTools).toEqual({ model: 'm@fake', usage: used, said: null, calls: [] });
    world.write(completed());
    expect(await (await answer).json()).toMatchObject({ choices: [{ finish_reason: 'stop', message: { content: 'It is blue [1].' } }] });
  });

  it('is abandoned when the client disconnects: no run starts', async () => {
    await open();
    toolModel(world, calls('Ulm'), new Promise(() => undefined));
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', { model: 'conclave', messages: [user], tools });
    await until('the question', () => asked.length === 1);
    client.leave();
    await until('the record', () => world.events('audit').length === 1);
    await until('the closed request', () => world.metric('onRequest').length === 1);
    expect(world.runs()).toEqual([]);
  });
});

describe('the results of tools', () => {
  it('continue the run through another gateway, and no question is repeated', async () => {
    await open();
    const message = await firstTurn();
    const other = await another();
    const answer = other.chat({ stream: false, messages: results(message, ['4 degrees', 'rain']) });
    await until('the results', () => world.commands().length === 1);
    const [one, two] = message.tool_calls!;
    expect(world.commands()[0]).toMatchObject({
      runId: world.run(),
      data: {
        command: {
          name: 'answer',
          text: 'Results of get_weather.',
          results: [
            { id: one!.id, text: '4 degrees' },
            { id: two!.id, text: 'rain' },
          ],
        },
      },
    });
    taken();
    world.write(completed({ answer: 'Cold and wet.', usage: { ...used, calls: 4, prompt: 111 } }));
    const response = await answer;
    expect(response.headers.get('x-run-id')).toBe(world.run());
    // What the first turn has reported is not reported again.
    expect(await response.json()).toMatchObject({
      choices: [{ finish_reason: 'stop', message: { content: 'Cold and wet.' } }],
      usage: { prompt_tokens: 100 },
      conclave: { calls: 3 },
    });
    expect([asked.length, world.runs().length, world.requested().length]).toEqual([1, 1, 1]);
  });

  it('are sent only once when they are retried, and the retry shows the same run', async () => {
    await open();
    const messages = results(await firstTurn(), ['4 degrees', 'rain']);
    const lost = world.chat({ messages });
    await until('the results', () => world.commands().length === 1);
    taken();
    const again = new SseClient(await world.chat({ messages }, { headers: { 'x-stainless-retry-count': '1' } }));
    world.write(completed({ answer: 'Cold.' }));
    await again.all();
    await new SseClient(await lost).all();
    expect([again.content, world.commands().length, world.runs().length]).toEqual(['Cold.', 1, 1]);
  });

  it.each([
    ['another key of the tenant sends them', { headers: { authorization: 'Bearer sk-a-full' } }],
    ['another tenant sends them', { headers: { authorization: 'Bearer sk-b' } }],
  ])('start a run of their own when %s', async (_what, init) => {
    await open(calls('Ulm'), { keys: twoTenants });
    const message = await firstTurn({ headers: { authorization: 'Bearer sk-a' } });
    void world.chat({ messages: results(message, ['4 degrees']) }, init);
    await until('another run', () => world.requested().length === 2);
    expect(world.commands()).toEqual([]);
    for (const runId of world.runs()) world.stores.write(runId, [completed()]);
  });

  it.each([
    ['has ended', () => world.write(completed({ outcome: 'limit_reached' }))],
    ['is erased', () => void world.stores.headers.delete(world.run())],
    ['was asked with another template', () => Object.assign(world.stores.headers.get(world.run())!.data.template, { id: 'other' })],
  ])('start a run of their own when theirs %s, with the results in its conversation', async (_what, change) => {
    await open(calls('Ulm'));
    const message = await firstTurn();
    const first = world.run();
    const { messages } = { messages: results(message, ['4 degrees']) };
    change();
    void world.chat({ messages });
    await until('another run', () => world.requested().length === 2);
    const { runId, data } = world.requested()[1]!;
    expect([runId === first, data.conversation.at(-1)!.content, world.commands()]).toEqual([
      false,
      expect.stringContaining('4 degrees'),
      [],
    ]);
    world.stores.write(runId, [completed()]);
  });

  it('are cut to a maximum length', async () => {
    await open(calls('Ulm'));
    const message = await firstTurn();
    void world.chat({ messages: results(message, ['x'.repeat(50_000)]) });
    await until('the results', () => world.commands().length === 1);
    const { command } = world.commands()[0]!.data;
    expect(command.name === 'answer' && command.results![0]!.text.length).toBe(16_000);
    taken();
    world.write(completed());
  });
});
