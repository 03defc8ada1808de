import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { parkedFlag, stopHint } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, reply, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let client: Anthropic;
beforeEach(async () => {
  world = await World.open();
  client = new Anthropic({ baseURL: world.url, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => world.close());

const question = { model: 'conclave', max_tokens: 500, messages: [{ role: 'user' as const, content: 'Why is the sky blue?' }] };

/** Plays the engine for the next run: progress, live text, the end. */
async function engine(): Promise<void> {
  await until('the run', () => world.requested().length > 0);
  world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 }, { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' });
  world.compose();
  await world.chunk('It is ', 0);
  await world.chunk('blue', 6);
  world.write(completed());
}

describe('the Anthropic client', () => {
  it('reads a whole answer, its usage and its request id', async () => {
    const played = engine();
    const { data, request_id: id, response } = await client.messages.create(question).withResponse();
    await played;
    expect(data).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'conclave',
      content: [{ type: 'text', text: 'It is blue [1].' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 120, output_tokens: 45 },
    });
    expect(data.id).toBe(`msg_${world.run().slice('run_'.length)}`);
    expect(id).toMatch(/^req_/);
    expect(response.headers.get('x-run-id')).toBe(world.run());
    expect(world.requested()[0]!.data).toMatchObject({ goal: 'Why is the sky blue?', answer: { max_tokens: 500 }, origin: 'chat' });
  });

  it('reads a stream with its helper, through pings, with the usage of all calls', async () => {
    await world.close();
    world = await World.open({ limits: { firstHeartbeatMs: 5, heartbeatMs: 5 } });
    client = new Anthropic({ baseURL: world.url, apiKey: 'sk-test' });
    const stream = client.messages.stream(question);
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    await engine();
    const final = await stream.finalMessage();
    expect(texts.slice(0, 2).join('')).toBe('It is blue');
    expect(final.content).toEqual([{ type: 'text', text: 'It is blue [1].', citations: null }]);
    expect(final).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 120, output_tokens: 45 } });
  });

  it('gets the events in order, named as in their data, and no progress unless it asked for it', async () => {
    const response = await world.post('/v1/messages', { ...question, stream: true });
    const stream = new SseClient(response);
    await engine();
    const events = (await stream.all()).filter(({ comment }) => comment === null);
    expect(events.map(({ event }) => event)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      ...events.slice(3, -3).map(() => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    for (const { event, data, id } of events) expect([(JSON.parse(data!) as { type: string }).type, id]).toEqual([event, null]);
    expect(JSON.parse(events[0]!.data!)).toMatchObject({ message: { content: [], usage: { input_tokens: 9, output_tokens: 0 } } });
    expect(JSON.parse(events.at(-2)!.data!)).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 120, output_tokens: 45 },
      conclave: { run_id: world.run(), outcome: 'completed' },
    });
  });

  it.each<[string, object, Record<string, string>]>([
    ['the request enables thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }, {}],
    ['a header chooses a progress mode', {}, { 'x-conclave-progress': 'reasoning' }],
  ])('gets progress as one thinking block before the text when %s', async (_, over, headers) => {
    const stream = client.messages.stream({ ...question, ...over }, { headers });
    const kinds: string[] = [];
    stream.on('streamEvent', ({ type }) => kinds.at(-1) === type || kinds.push(type));
    await engine();
    const { content } = await stream.finalMessage();
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect((content[0] as Anthropic.ThinkingBlock).thinking).toContain('🔄 Agentic Loop — Iteration 1/3');
    expect((content[1] as Anthropic.TextBlock).text).toBe('It is blue [1].');
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(kinds.filter((kind) => kind.startsWith('content_block'))).toEqual([...block, ...block]);
  });

  it('sends instructions, images and earlier turns as the chat API does', async () => {
    const played = engine();
    // Older clients send a temperature, which this version no longer has in its types.
    const asked = {
      ...question,
      system: [{ type: 'text' as const, text: 'Be brief.' }],
      stop_sequences: ['END'],
      temperature: 0.5,
      messages: [
        { role: 'user' as const, content: 'Hello' },
        {
          role: 'assistant' as const,
          content: [
            { type: 'thinking' as const, thinking: 'hidden', signature: '' },
            { type: 'text' as const, text: 'Hi!' },
          ],
        },
        { role: 'user' as const, content: [{ type: 'text' as const, text: 'Why is the sky blue?' }] },
      ],
    };
    await client.messages.create(asked);
    await played;
    expect(world.requested()[0]!.data).toMatchObject({
      goal: 'Why is the sky blue?',
      system: 'Be brief.',
      conversation: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi!' },
      ],
      answer: { stop: ['END'], temperature: 0.5, max_tokens: 500 },
    });
    const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const;
    const seen = client.messages.create({
      ...question,
      system: 'Look.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', source: image },
          ],
        },
      ],
    });
    await expect(seen).rejects.toMatchObject({ status: 400, error: { error: { code: 'VISION_MISSING' } } });
  });

  it.each<[number, object, unknown, RegExp]>([
    [404, { model: 'nobody' }, Anthropic.NotFoundError, /Valid ids: conclave/],
    [400, { max_tokens: 0 }, Anthropic.BadRequestError, /`max_tokens` must be a whole number above 0/],
    [
      400,
      { tool_choice: { type: 'any' }, tools: ['a', 'b'].map((name) => ({ name, input_schema: { type: 'object' } })) },
      Anthropic.BadRequestError,
      /none can be required/,
    ],
    [400, { tools: [{ name: '', input_schema: { type: 'object' } }] }, Anthropic.BadRequestError, /`tools\[0\]\.name` must not be empty/],
    [400, { system: 'x', messages: [{ role: 'user', content: ' ' }] }, Anthropic.BadRequestError, /no text/],
    [400, { messages: [{ role: 'system', content: 'x' }] }, Anthropic.BadRequestError, /add the question as the last message/],
  ])('throws its own error class for status %s of %j', async (status, over, type, sentence) => {
    const asked = client.messages.create({ ...question, ...over } as Anthropic.MessageCreateParamsNonStreaming);
    const error = (await asked.then(
      () => null,
      (thrown: unknown) => thrown,
    )) as InstanceType<typeof Anthropic.APIError>;
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status, error: { type: 'error', error: { message: expect.stringMatching(sentence) } } });
    expect((error.error as { request_id: string }).request_id).toBe(error.requestID);
  });

  it('ignores optional tools, as the chat API does', async () => {
    const played = engine();
    const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
    expect((await client.messages.create({ ...question, tools, tool_choice: { type: 'auto' } })).stop_reason).toBe('end_turn');
    await played;
  });

  it('throws on an error inside a stream and on a run without an answer, and does not retry the latter', async () => {
    client = new Anthropic({ baseURL: world.url, apiKey: 'sk-test', maxRetries: 2 });
    const failure = { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true } as const;
    const stream = client.messages.stream(question);
    await until('the run', () => world.runs().length === 1);
    world.write(completed({ outcome: 'failed', answer: null, failure }));
    await expect(stream.finalMessage()).rejects.toThrow('No model answered.');
    const asked = client.messages.create(question);
    asked.catch(() => undefined);
    await until('the second run', () => world.runs().length === 2);
    world.stores.write(world.runs()[1]!, [completed({ outcome: 'failed', answer: null, failure })]);
    await expect(asked).rejects.toBeInstanceOf(Anthropic.InternalServerError);
    expect(world.runs()).toHaveLength(2);
  });

  it('parks its run and ends its calls when it aborts, because its SDK may send the request again', async () => {
    const stream = client.messages.stream(question);
    stream.on('error', () => undefined);
    stream.on('abort', () => undefined);
    const told: string[] = [];
    await world.stores.state.hints.subscribe('cancel', (id) => void told.push(id));
    await until('the client', () => world.runs().length === 1 && world.stores.clients(world.run()).size === 1);
    stream.abort();
    await until('the parked run', () => world.stores.flagged.has(parkedFlag(world.run())), { timeoutMs: 1_000 });
    await until('the hint', () => told.length > 0, { timeoutMs: 1_000 });
    expect([told, world.stores.flagged.has(world.run())]).toEqual([[stopHint(world.run())], false]);
  });

  it('is identified by its key in either header, and gets errors of its own shape for a wrong key', async () => {
    const keyed = await World.open({ keys: twoTenants });
    try {
      const send = (headers: Record<string, string>) => keyed.post('/v1/messages/count_tokens', question, { headers });
      expect((await send({ 'x-api-key': 'sk-a', 'anthropic-version': '2023-06-01' })).status).toBe(200);
      expect((await send({ authorization: 'Bearer sk-a' })).status).toBe(200);
      const wrong = new Anthropic({ baseURL: keyed.url, apiKey: 'sk-wrong', maxRetries: 0 }).messages.create(question);
      await expect(wrong).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    } finally {
      await keyed.close();
    }
  });

  it('counts tokens by an estimate, including images, and refuses to for an unknown model', async () => {
    const { input_tokens: plain } = await client.messages.countTokens(question);
    expect(plain).toBe(9);
    const image = { type: 'image' as const, source: { type: 'url' as const, url: 'https://example.org/a.png' } };
    const seen = await client.messages.countTokens({ ...question, system: 'Be brief.', messages: [{ role: 'user', content: [image] }] });
    expect(seen.input_tokens).toBeGreaterThan(1_000);
    await expect(client.messages.countTokens({ ...question, model: 'nobody' })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    expect(world.runs()).toEqual([]);
  });
});

describe('the Anthropic client at a single model', () => {
  it('reads text and thinking that a model streams', async () => {
    world.models.next(async ({ onDelta }) => {
      onDelta?.({ reasoning: 'Hmm.' });
      onDelta?.({ content: 'Hello ' });
      onDelta?.({ content: 'there' });
      return reply();
    });
    const stream = client.messages.stream({ ...question, model: 'm@fake', thinking: { type: 'enabled', budget_tokens: 1024 } });
    const final = await stream.finalMessage();
    expect(final.content.map((block) => ('text' in block ? block.text : 'thinking' in block ? block.thinking : ''))).toEqual([
      'Hmm.',
      'Hello there',
    ]);
    expect(final.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    expect(world.models.calls[0]!.request.body).toMatchObject({ max_tokens: 500, messages: question.messages });
    world.models.next(async () => reply({ reasoning: 'Hmm.' }));
    const unasked = await client.messages.create({ ...question, model: 'm@fake' });
    expect(unasked.content.map(({ type }) => type)).toEqual(['text']);
    expect(world.runs()).toEqual([]);
  });

  it('accepts instructions between the turns, as coding agents send them', async () => {
    let body: Readonly<Record<string, unknown>> = {};
    world.models.pass = async (request) => {
      body = request.body;
      return { ...reply(), body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }] } };
    };
    const system = (content: string) => ({ role: 'system', content }) as unknown as Anthropic.MessageParam;
    const messages = [system('Be brief.'), { role: 'user' as const, content: 'Hello' }, system('Answer in French.')];
    await client.messages.create({ ...question, model: 'm@fake', system: 'You are an agent.', messages });
    expect(body['messages']).toEqual([
      { role: 'system', content: 'You are an agent.\n\nBe brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'system', content: 'Answer in French.' },
    ]);
  });

  it('sends tools to it and reads their calls, streamed and whole', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } };
    world.models.pass = async ({ body }, { onChunk }) => {
      const usage = { prompt_tokens: 3, completion_tokens: 2 };
      if (body['stream'] !== true)
        return {
          ...reply({ finishReason: 'tool_calls' }),
          body: {
            choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
            usage,
          },
        };
      const send = (delta: object, finish_reason: string | null = null): void =>
        onChunk!({ choices: [{ index: 0, delta, finish_reason }] });
      send({ role: 'assistant', tool_calls: [{ index: 0, ...call, function: { name: 'look', arguments: '' } }] });
      send({ tool_calls: [{ index: 0, function: { arguments: '{"at":' } }] });
      send({ tool_calls: [{ index: 0, function: { arguments: '"sky"}' } }] });
      send({}, 'tool_calls');
      onChunk!({ choices: [], usage });
      return { ...reply({ finishReason: 'tool_calls' }), body: null };
    };
    const asked = {
      ...question,
      model: 'm@fake',
      tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' as const } }],
      messages: [
        ...question.messages,
        { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'call_0', name: 'look', input: { at: 'sea' } }] },
        { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: 'call_0', content: 'green' }] },
      ],
    };
    const expected = [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'sky' } }];
    const whole = await client.messages.create(asked);
    expect([whole.content, whole.stop_reason]).toEqual([expected, 'tool_use']);
    const streamed = await client.messages.stream(asked).finalMessage();
    expect(JSON.parse(JSON.stringify([streamed.content, streamed.stop_reason]))).toEqual([expected, 'tool_use']);
  });

  it('passes on images that tools returned, and that tools may not be called at once', async () => {
    let body: Readonly<Record<string, unknown>> = {};
    world.models.pass = async (request) => {
      body = request.body;
      return { ...reply(), body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Blue.' }, finish_reason: 'stop' }] } };
    };
    const data = 'iVBORw0KGgo=';
    const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data } };
    await client.messages.create({
      ...{ ...question, model: 'm@fake' },
      tools: [{ name: 'look', input_schema: { type: 'object' as const } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        ...question.messages,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: [{ type: 'text', text: 'a map' }, image] }] },
      ],
    });
    expect(body['parallel_tool_calls']).toBe(false);
    expect((body['messages'] as unknown[]).at(-1)).toEqual({
      ...{ role: 'tool', tool_call_id: 'call_0' },
      content: [
        { type: 'text', text: 'a map' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
      ],
    });
  });
});
