import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parkedFlag, stopHint } from '@conclave/ports';
import { until } from '@conclave/test-support';
import OpenAI from 'openai';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, reply, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let client: OpenAI;
beforeEach(async () => {
  world = await World.open();
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => world.close());

const question = { model: 'conclave', input: 'Why is the sky blue?' };

/** Plays the engine for the n-th run: progress, live text, the end. */
async function engine(n = 0, over: Parameters<typeof completed>[0] = {}): Promise<void> {
  await until('the run', () => world.requested().length > n);
  const run = world.runs()[n]!;
  const taskId = `${run}/0/judge.synthesis`;
  world.stores.write(run, [
    { kind: 'planning', epoch: 0, iteration: 0, max: 3 },
    { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' },
    { kind: 'composing', taskId, stream: 'live' },
  ]);
  await world.stores.worker(run, [{ kind: 'chunk', taskId, attempt: 1, offset: 0, text: 'It is ' }]);
  await world.stores.worker(run, [{ kind: 'chunk', taskId, attempt: 1, offset: 6, text: 'blue' }]);
  world.stores.write(run, [completed(over)]);
}
const asked = async (over: object = {}): Promise<OpenAI.Responses.Response> => {
  const n = world.requested().length;
  const played = engine(n);
  const response = await client.responses.create({ ...question, ...over } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  await played;
  return response;
};

const usage = {
  ...{ input_tokens: 120, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 45, output_tokens_details: { reasoning_tokens: 7 }, total_tokens: 165 },
};

describe('the Responses API through the OpenAI client', () => {
  it('answers with text, citations, usage and the settings of the request', async () => {
    const response = await asked({
      instructions: 'Be brief.',
      max_output_tokens: 500,
      metadata: { a: 'b' },
      text: { format: { type: 'json_object' } },
    });
    expect(response).toMatchObject({
      id: `resp_${world.run().slice('run_'.length)}`,
      ...{ object: 'response', status: 'completed', model: 'conclave', output_text: 'It is blue [1].', error: null, usage },
      ...{ instructions: 'Be brief.', max_output_tokens: 500, metadata: { a: 'b' }, store: true, previous_response_id: null },
    });
    // Members that the Open Responses specification requires.
    expect(response).toMatchObject({
      ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, max_tool_calls: null },
      ...{ service_tier: 'default', safety_identifier: null, prompt_cache_key: null, completed_at: expect.any(Number) },
    });
    expect(response.output).toMatchObject([
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', annotations: [{ type: 'url_citation', title: 'Sky' }] }],
      },
    ]);
    const { data } = world.requested()[0]!;
    expect(data).toMatchObject({ goal: 'Why is the sky blue?', system: 'Be brief.', origin: 'chat' });
    expect(data.answer).toEqual({ max_tokens: 500, response_format: { type: 'json_object' } });
  });

  it('streams its events in order, numbered without gaps, and the helper reads them', async () => {
    const played = engine();
    const stream = client.responses.stream(question);
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    await played;
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, n) => n));
    const kinds = events.map(({ type }) => type.replace('response.', ''));
    expect(kinds.filter((kind, at) => kind !== kinds[at - 1])).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta', 'output_text.annotation.added'],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'It is blue [1].', usage, completed_at: expect.any(Number) });
    expect(events[0]).toMatchObject({ response: { status: 'in_progress', completed_at: null } });
    expect(await client.responses.retrieve(final.id)).toMatchObject({
      output: final.output.map((item) => ({ type: item.type, id: item.id })),
      usage,
    });
  });

  it('shows progress as a reasoning item when a summary is requested', async () => {
    const played = engine();
    const final = await client.responses.stream({ ...question, reasoning: { summary: 'auto' } }).finalResponse();
    await played;
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(JSON.stringify(final.output[0])).toContain('Agentic Loop');
  });

  it('ends as incomplete when the text was cut short and as failed when there is none, also when it is read later', async () => {
    const cut = engine(0, { cutShort: true });
    const stream = client.responses.stream(question);
    const incomplete = await stream.finalResponse();
    await cut;
    expect(incomplete).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(await client.responses.retrieve(incomplete.id)).toMatchObject({ status: 'incomplete' });

    const failure = { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true } as const;
    const broken = engine(1, { outcome: 'failed', answer: null, failure });
    const kinds: string[] = [];
    let id = '';
    for await (const event of await client.responses.create({ ...question, stream: true })) {
      kinds.push(event.type);
      if (event.type === 'response.failed') {
        id = event.response.id;
        expect(event.response).toMatchObject({
          status: 'failed',
          error: { code: 'PROVIDER_UNREACHABLE', message: expect.stringContaining('No model answered.') },
        });
      }
    }
    await broken;
    expect(kinds.at(-1)).toBe('response.failed');
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'failed', error: { message: 'No model answered.' } });
  });

  it('continues from a stored response, without its instructions', async () => {
    const first = await asked({ instructions: 'Be brief.' });
    const second = await asked({
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'And the sea?' }] }],
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect(world.requested()[1]!.data).toMatchObject({
      goal: 'And the sea?',
      system: null,
      conversation: [
        { role: 'user', content: 'Why is the sky blue?' },
        { role: 'assistant', content: 'It is blue [1].' },
      ],
    });
    await asked({ input: 'Why?', previous_response_id: second.id });
    expect(world.requested()[2]!.data.conversation.map(({ content }) => content)).toEqual([
      ...['Why is the sky blue?', 'It is blue [1].', 'And the sea?', 'It is blue [1].'],
    ]);
  });

  it('is read, listed and deleted by its id, and is not stored with store: false', async () => {
    const { id } = await asked({
      input: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: 'Why?' },
      ],
    });
    const texts: string[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2 })) texts.push(JSON.stringify(item));
    expect(texts.map((text) => /"text":"([^"]+)"/.exec(text)?.[1])).toEqual(['Why?', 'Hi', 'Hello']);
    // Taken as absent, an unknown value would show the first page again, and again.
    for (const [query, param] of [
      ['/input_items?after=msg_unknown', 'after'],
      ['/input_items?order=up', 'order'],
      ['?stream=perhaps', 'stream'],
      ['?starting_after=-1', 'starting_after'],
    ] as const) {
      const refused = await fetch(`${world.url}/v1/responses/${id}${query}`);
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param } }]);
    }
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'RESPONSE_NOT_FOUND' });
    await expect(client.responses.delete(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.responses.create({ ...question, previous_response_id: id })).rejects.toMatchObject({
      status: 404,
      param: 'previous_response_id',
    });
    const unkept = await asked({ store: false });
    expect(unkept).toMatchObject({ store: false });
    await expect(client.responses.retrieve(unkept.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('works in the background without a client until it is done or cancelled', async () => {
    const queued = await client.responses.create({ ...question, background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] });
    expect(world.requested()[0]!.data.origin).toBe('runs');
    await expect(client.responses.create({ ...question, previous_response_id: queued.id })).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
    });
    await engine();
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ status: 'completed', output_text: 'It is blue [1].', usage });
    expect(await client.responses.cancel(queued.id)).toMatchObject({ status: 'completed' });

    const other = await client.responses.create({ ...question, background: true });
    const cancelling = client.responses.cancel(other.id);
    const run = world.runs()[1]!;
    await until('the cancel', () => world.stores.flagged.has(run));
    world.stores.write(run, [completed({ outcome: 'cancelled', answer: null })]);
    expect(await cancelling).toMatchObject({ status: 'cancelled', output: [] });
  });

  /** The events of a stored response, as its stream sends them. */
  async function events(id: string, over: { starting_after?: number } = {}): Promise<OpenAI.Responses.ResponseStreamEvent[]> {
    const all: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.retrieve(id, { stream: true, ...over })) all.push(event);
    return all;
  }

  it('is streamed again after its end, from any event', async () => {
    const { id } = await asked();
    const all = await events(id);
    expect(all.map(({ type, sequence_number: n }) => `${n} ${type.replace('response.', '')}`)).toEqual([
      ...['0 created', '1 in_progress', '2 output_item.added', '3 content_part.added', '4 output_text.delta'],
      ...['5 output_text.annotation.added', '6 output_text.done', '7 content_part.done', '8 output_item.done', '9 completed'],
    ]);
    const end = all.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    const { output_text: _, ...read } = await client.responses.retrieve(id);
    expect(end.response).toEqual(read);
    expect(all[4]).toMatchObject({ delta: 'It is blue [1].', item_id: read.output[0]!.id });
    expect(await events(id)).toEqual(all);
    expect(await events(id, { starting_after: 4 })).toEqual(all.slice(5));
    // A client that read the first part as a live stream, with more events, still gets the end.
    for (const after of [9, 500]) expect(await events(id, { starting_after: after })).toEqual([end]);
    const wrong = await fetch(`${world.url}/v1/responses/${id}?stream=true&starting_after=x`);
    expect([wrong.status, ((await wrong.json()) as { error: { param: string } }).error.param]).toEqual([400, 'starting_after']);
  });

  it('is streamed as failed when it failed or was cancelled', async () => {
    const failure = { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true } as const;
    for (const [n, outcome] of (['failed', 'cancelled'] as const).entries()) {
      const { id } = await client.responses.create({ ...question, background: true });
      await engine(n, { outcome, answer: null, failure: outcome === 'failed' ? failure : null });
      const all = await events(id);
      expect([all.length, all.at(-1)]).toMatchObject([3, { type: 'response.failed', response: { status: outcome } }]);
    }
  });

  it('is streamed while it is in progress in the background, and its client may disconnect and return', async () => {
    const waited = await World.open({ limits: { firstHeartbeatMs: 5, heartbeatMs: 5 }, share: world });
    const leaving = new AbortController();
    const first = new SseClient(
      await waited.post('/v1/responses', { ...question, background: true, stream: true }, { signal: leaving.signal }),
    );
    await until('the run', () => world.runs().length === 1);
    await until('heartbeats', () => first.events.filter(({ raw }) => raw === ': keep-alive').length > 1);
    const id = (JSON.parse(first.events[0]!.data!) as { response: { id: string } }).response.id;
    leaving.abort();
    const again = new SseClient(await fetch(`${waited.url}/v1/responses/${id}?stream=true&starting_after=1`));
    const one = new SseClient(await fetch(`${waited.url}/v1/responses/${id}?stream=true`));
    await engine();
    const numbers = (client: SseClient) =>
      client.events.flatMap(({ data }) => (data === null ? [] : [(JSON.parse(data) as { sequence_number: number }).sequence_number]));
    await Promise.all([again.all(), one.all()]);
    expect([numbers(again), numbers(one)]).toEqual([
      [2, 3, 4, 5, 6, 7, 8, 9],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]);
    expect(world.stores.flagged.has(world.run())).toBe(false);
    expect(world.requested()[0]!.data.origin).toBe('runs');
    await waited.close();
  });

  const format = {
    ...({ type: 'json_schema', name: 'place', strict: true } as const),
    schema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'], additionalProperties: false },
  };

  it('matches its schema in the background too: the first read converts it with one call', async () => {
    const { id } = await client.responses.create({ ...question, background: true, text: { format } });
    await engine(0, { answer: 'The town is Rome.' });
    world.models.next(async () => reply({ content: '{"town":"Rom"}' }));
    const both = await Promise.all([client.responses.retrieve(id), client.responses.retrieve(id)]);
    both.push(await client.responses.retrieve(id));
    expect(both.map(({ output_text: text, status, usage: spent }) => [text, status, spent!.input_tokens])).toEqual(
      Array(3).fill(['{"town":"Rom"}', 'completed', 123]),
    );
    expect(world.models.calls).toHaveLength(1);
    const next = await asked({ previous_response_id: id, input: 'And?' });
    expect(next.status).toBe('completed');
    expect(world.requested().at(-1)!.data.conversation.at(-1)).toEqual({ role: 'assistant', content: '{"town":"Rom"}' });
  });

  it('fails in the background when the answer cannot be made to match the schema', async () => {
    const { id } = await client.responses.create({ ...question, background: true, text: { format } });
    await engine(0, { answer: 'I only write prose.' });
    world.models.next(async () => reply({ content: 'Prose again.' }));
    const failed = { status: 'failed', output: [], error: { code: 'ANSWER_NOT_IN_SCHEMA' } };
    for (let n = 0; n < 2; n++) expect(await client.responses.retrieve(id)).toMatchObject(failed);
    expect((await events(id)).at(-1)).toMatchObject({ type: 'response.failed', response: failed });
    expect(world.models.calls).toHaveLength(1);
  });

  it('parks its run and ends its calls when its client leaves the stream, because its SDK may send the request again', async () => {
    const stream = client.responses.stream(question);
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

  it('belongs to its tenant only, on every route', async () => {
    const keyed = await World.open({ keys: twoTenants });
    try {
      const of = (apiKey: string) => new OpenAI({ baseURL: `${keyed.url}/v1`, apiKey, maxRetries: 0 });
      const { id } = await of('sk-a').responses.create({ ...question, background: true });
      expect((await of('sk-a-full').responses.retrieve(id)).id).toBe(id);
      const b = of('sk-b').responses;
      const tries = [
        b.retrieve(id),
        b.retrieve(id, { stream: true }),
        b.delete(id),
        b.cancel(id),
        b.inputItems.list(id),
        b.create({ ...question, previous_response_id: id }),
      ] as const;
      for (const tried of tries) await expect(tried).rejects.toMatchObject({ status: 404, code: 'RESPONSE_NOT_FOUND' });
      expect(keyed.commands()).toEqual([]);
      expect((await of('sk-a').responses.retrieve(id)).status).toBe('queued');
    } finally {
      await keyed.close();
    }
  });

  it.each<[string, object, string, RegExp]>([
    ['no input', { input: [] }, 'input', /at least one item/],
    ['an unknown item', { input: [{ type: 'computer_call', id: 'x' }] }, 'input[0].type', /may be `message`/],
    [
      'too many named items',
      { input: Array.from({ length: 2_001 }, (_, n) => ({ type: 'item_reference', id: `msg_a_${n}` })) },
      'input',
      /At most \d+ items may be named/,
    ],
    ['an empty question', { instructions: 'x', input: [{ role: 'user', content: ' ' }] }, 'input[0].content', /no text/],
    ['no question', { instructions: 'x', input: [{ role: 'developer', content: 'x' }] }, 'input', /role "user"/],
    ['an invalid limit', { max_output_tokens: 0 }, 'max_output_tokens', /above 0/],
    ['a tool that must be called', { tool_choice: 'required' }, 'tool_choice', /none can be required/],
    ['background mode without storage', { background: true, store: false }, 'store', /read later/],
    ['a stored conversation', { conversation: 'c' }, 'conversation', /previous_response_id/],
  ])('refuses %s with a sentence that names its field', async (_, over, param, sentence) => {
    const refused = client.responses.create({ ...question, ...over } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    await expect(refused).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(sentence) });
    expect(world.runs()).toEqual([]);
  });
});

describe('the Responses API at a single model', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } };
  const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }];

  it('stores the answer of the model, streamed or not, and continues from it', async () => {
    world.models.next(async ({ onDelta }) => {
      onDelta?.({ content: 'Hello ' });
      onDelta?.({ content: 'there' });
      return reply();
    });
    const final = await client.responses.stream({ ...question, model: 'm@fake' }).finalResponse();
    expect(final.output_text).toBe('Hello there');
    expect(await client.responses.retrieve(final.id)).toMatchObject({
      status: 'completed',
      output_text: 'Hello there',
      usage: { total_tokens: 5 },
    });
    world.models.next(async () => reply({ content: 'Again' }));
    const next = await client.responses.create({ model: 'm@fake', input: 'More', previous_response_id: final.id });
    expect(next.output_text).toBe('Again');
    expect(world.models.calls[1]!.request.body['messages']).toEqual([
      { role: 'user', content: 'Why is the sky blue?' },
      { role: 'assistant', content: 'Hello there' },
      { role: 'user', content: 'More' },
    ]);
  });

  it('sends tools to it and passes on their calls and their results', async () => {
    world.models.pass = async (_, { onChunk }) => {
      const send = (delta: object, finish_reason: string | null = null): void =>
        onChunk!({ choices: [{ index: 0, delta, finish_reason }] });
      send({ role: 'assistant', tool_calls: [{ index: 0, ...call, function: { name: 'look', arguments: '{"at":' } }] });
      send({ tool_calls: [{ index: 0, function: { arguments: '"sky"}' } }] });
      send({}, 'tool_calls');
      return { ...reply({ finishReason: 'tool_calls' }), body: null };
    };
    const final = await client.responses.stream({ ...question, model: 'm@fake', tools }).finalResponse();
    expect(final.output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}', status: 'completed' },
    ]);
    let body: Readonly<Record<string, unknown>> = {};
    world.models.pass = async (request) => {
      body = request.body;
      return { ...reply(), body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Blue.' }, finish_reason: 'stop' }] } };
    };
    const output = [{ type: 'function_call_output' as const, call_id: 'call_1', output: 'blue' }];
    const again: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.retrieve(final.id, { stream: true })) again.push(event);
    expect(again.slice(2)).toMatchObject([
      { type: 'response.output_item.added', item: { arguments: '' } },
      { type: 'response.function_call_arguments.delta', delta: '{"at":"sky"}' },
      { type: 'response.function_call_arguments.done' },
      { type: 'response.output_item.done', item: { id: final.output[0]!.id, call_id: 'call_1', arguments: '{"at":"sky"}' } },
      { type: 'response.completed', response: { output: [{ id: final.output[0]!.id }] } },
    ]);
    const next = await client.responses.create({ model: 'm@fake', tools, previous_response_id: final.id, input: output });
    expect(next.output_text).toBe('Blue.');
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
      messages: [
        { role: 'user' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
      ],
    });
  });

  it('sends functions of a namespace under one name each, and names both in a call, streamed, whole, stored and continued', async () => {
    const long = 'a-name-that-is-so-long-that-it-does-not-fit-beside-its-namespace';
    const functions = ['search', long].map((name) => ({ type: 'function', name, parameters: { type: 'object' } }));
    const inside = [
      { type: 'namespace', name: 'mcp__files', description: 'Files', tools: [...functions, { type: 'custom', name: 'raw' }] },
    ];
    const all = [...tools, ...inside] as unknown as typeof tools;
    const bodies: Readonly<Record<string, unknown>>[] = [];
    const sentNames = (at: number): readonly string[] =>
      (bodies[at]!['tools'] as readonly { function: { name: string } }[]).map((tool) => tool.function.name);
    const named = (name: string, id: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
    world.models.pass = async ({ body }, { onChunk }) => {
      bodies.push(body);
      const calls = [named('mcp__files__search', 'a'), named(sentNames(bodies.length - 1)[2]!, 'b'), named('look', 'c')];
      const choice = (more: object) => ({ choices: [{ index: 0, finish_reason: 'tool_calls', ...more }] });
      if (onChunk) calls.forEach((one, index) => onChunk(choice({ delta: { role: 'assistant', tool_calls: [{ index, ...one }] } })));
      const whole = choice({ message: { role: 'assistant', content: null, tool_calls: calls } });
      return { ...reply({ finishReason: 'tool_calls' }), body: onChunk ? null : whole };
    };
    const expected = [
      { call_id: 'a', name: 'search', namespace: 'mcp__files' },
      { call_id: 'b', name: long, namespace: 'mcp__files' },
      { call_id: 'c', name: 'look' },
    ];
    const streamed = await client.responses.stream({ ...question, model: 'm@fake', tools: all }).finalResponse();
    const whole = await client.responses.create({ ...question, model: 'm@fake', tools: all });
    for (const { output } of [streamed, whole, await client.responses.retrieve(streamed.id)]) {
      expect(output).toMatchObject(expected);
      expect(output[2]).not.toHaveProperty('namespace');
    }
    expect(sentNames(0)).toEqual(['look', 'mcp__files__search', expect.stringMatching(/^mcp__files__a-name[\w-]{46}$/)]);
    const results = expected.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'found' }));
    await client.responses.create({ model: 'm@fake', tools: all, previous_response_id: whole.id, input: results });
    const history = expected.map((one) => ({ type: 'function_call' as const, arguments: '{}', ...one }));
    await client.responses.create({ model: 'm@fake', tools: all, input: [{ role: 'user', content: 'Look.' }, ...history, ...results] });
    for (const at of [2, 3]) {
      const messages = bodies[at]!['messages'] as readonly { tool_calls?: readonly { function: { name: string } }[] }[];
      expect(messages[1]!.tool_calls!.map((one) => one.function.name)).toEqual([...sentNames(0).slice(1), 'look']);
    }
    const chosen = { type: 'function', name: 'search', namespace: 'mcp__files' } as unknown as 'auto';
    await client.responses.create({ ...question, model: 'm@fake', tools: all, tool_choice: chosen });
    expect(bodies[4]).toMatchObject({ tool_choice: { function: { name: 'mcp__files__search' } } });
  });

  it('sends the history of an agent as every chat template accepts it: one system message, one message for each answer', async () => {
    let body: Readonly<Record<string, unknown>> = {};
    world.models.pass = async (request) => {
      body = request.body;
      return { ...reply(), body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }] } };
    };
    const said = (role: 'developer' | 'user', text: string) => ({ type: 'message' as const, role, content: text });
    const called = (id: string) => ({ type: 'function_call' as const, call_id: id, name: 'look', arguments: '{}' });
    const done = (id: string) => ({ type: 'function_call_output' as const, call_id: id, output: id });
    const input = [
      said('developer', 'You are an agent.'),
      said('developer', 'Be brief.'),
      said('user', 'Look twice.'),
      { type: 'message' as const, role: 'assistant' as const, content: 'I look.' },
      ...[called('a'), called('b'), done('a'), done('b')],
      said('developer', 'Now stop.'),
    ];
    const hosted = [{ type: 'web_search' }, { type: 'namespace', name: 'team', tools: [] }] as unknown as typeof tools;
    await client.responses.create({ model: 'm@fake', input, tools: [...tools, ...hosted], tool_choice: 'auto', store: false });
    const sentCall = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
    expect(body['messages']).toEqual([
      { role: 'system', content: 'You are an agent.\n\nBe brief.' },
      { role: 'user', content: 'Look twice.' },
      { role: 'assistant', content: 'I look.', tool_calls: [sentCall('a'), sentCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'a' },
      { role: 'tool', tool_call_id: 'b', content: 'b' },
      { role: 'system', content: 'Now stop.' },
    ]);
    expect(body).toMatchObject({ tools: [{ function: { name: 'look' } }], tool_choice: 'auto' });
    await client.responses.create({ model: 'm@fake', input: 'Hello', tools: hosted, tool_choice: 'auto', store: false });
    expect(body['tools'] ?? body['tool_choice']).toBeUndefined();
  });

  /** Answers of a model, in order, each as a whole body; returns the bodies it received. */
  function answering(...answers: readonly object[]): Readonly<Record<string, unknown>>[] {
    const bodies: Readonly<Record<string, unknown>>[] = [];
    world.models.pass = async (request) => {
      const { finish_reason = 'stop', usage: spent, ...message } = answers[bodies.length] as { finish_reason?: string; usage?: object };
      bodies.push(request.body);
      return { ...reply(), body: { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], usage: spent } };
    };
    return bodies;
  }

  it('continues from items that the client only names, as SDKs do by default with what is stored', async () => {
    const bodies = answering({ content: 'I look.', tool_calls: [call] }, { content: 'Blue.' }, { content: 'Yes.' });
    const first = await client.responses.create({ ...question, model: 'm@fake', tools });
    const named = (id: string) => ({ type: 'item_reference' as const, id });
    const turn = { role: 'user' as const, content: question.input };
    const result = { type: 'function_call_output' as const, call_id: 'call_1', output: 'blue' };
    const begun = [turn, named(first.output[0]!.id!), named(first.output[1]!.id!), result];
    const second = await client.responses.create({ model: 'm@fake', tools, input: begun });
    const untyped = [{ id: second.output[0]!.id! }] as unknown as (typeof begun)[number][];
    const last = await client.responses.create({
      model: 'm@fake',
      input: [...begun, named('rs_any'), ...untyped, { role: 'user', content: 'Sure?' }],
    });
    expect(last.output_text).toBe('Yes.');
    expect(bodies[2]!['messages']).toEqual([
      { role: 'user', content: question.input },
      { role: 'assistant', content: 'I look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
      { role: 'assistant', content: 'Blue.' },
      { role: 'user', content: 'Sure?' },
    ]);
    const { data } = await client.responses.inputItems.list(last.id, { order: 'asc' });
    expect(data.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call_output',
      'reasoning',
      'message',
      'message',
    ]);
    const [asked] = data;
    answering({ content: 'Again.' });
    await client.responses.create({ model: 'm@fake', input: [named(asked!.id!)] });
  });

  it('names items of several turns of one run', async () => {
    const asking = await World.open({ template: { strategy: 'reasoning' }, share: world });
    try {
      const { responses } = new OpenAI({ baseURL: `${asking.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
      const said = (content: string) => ({ role: 'user' as const, content });
      const named = ({ output }: OpenAI.Responses.Response) => ({ type: 'item_reference' as const, id: output[0]!.id! });
      const first = responses.create({ ...question, input: 'Which company?' });
      await until('the run', () => asking.runs().length === 1);
      asking.write({ kind: 'question.asked', question: 'Clocks or ships?', deadline: Date.now() + 60_000 });
      const begun = [said('Which company?'), named(await first), said('Clocks')];
      const second = responses.create({ ...question, input: begun });
      await until('the answer', () => asking.commands().length === 1);
      const { seq, actor } = asking.commands()[0]!.data;
      asking.write({ kind: 'command.accepted', seq, name: 'answer', actor }, { kind: 'command.applied', seq, name: 'answer', epoch: 0 });
      asking.write(completed());
      const third = responses.create({ ...question, input: [...begun, named(await second), said('Where?')] });
      await until('the second run', () => asking.requested().length === 2);
      asking.stores.write(asking.runs()[1]!, [completed()]);
      await third;
      expect(await responses.retrieve((await first).id)).toMatchObject({ output_text: 'Clocks or ships?' });
      expect(asking.requested()[1]!.data.conversation.map(({ content }) => content)).toEqual([
        ...['Which company?', 'Clocks or ships?', 'Clocks', 'It is blue [1].'],
      ]);
      const headers = { authorization: 'Bearer sk-test' };
      expect((await fetch(`${asking.url}/v1/runs/${asking.runs()[0]!}`, { method: 'DELETE', headers })).status).toBe(200);
      for (const turn of [first, second]) await expect(responses.retrieve((await turn).id)).rejects.toMatchObject({ status: 404 });
    } finally {
      await asking.close();
    }
  });

  it('names items of runs, and refuses those that it does not have, that were not stored or belong to another tenant', async () => {
    const named = (id: string) => [
      { type: 'item_reference' as const, id },
      { role: 'user' as const, content: 'Why?' },
    ];
    const first = await asked();
    await asked({ input: named(first.output[0]!.id!) });
    expect(world.requested()[1]!.data.conversation).toEqual([{ role: 'assistant', content: 'It is blue [1].' }]);
    const unkept = await asked({ store: false });
    const keyed = await World.open({ keys: twoTenants });
    try {
      const of = (apiKey: string) => new OpenAI({ baseURL: `${keyed.url}/v1`, apiKey, maxRetries: 0 }).responses;
      keyed.models.next(async () => reply({ content: 'Hello' }));
      const own = await of('sk-a').create({ model: 'm@fake', input: 'x' });
      const tried = [
        ...[unkept.output[0]!.id!, `${first.output[0]!.id!}_7`, 'msg_none', 'other'].map(
          (id) => () => client.responses.create({ ...question, input: named(id) }),
        ),
        () => of('sk-b').create({ model: 'm@fake', input: named(own.output[0]!.id!) }),
      ];
      for (const one of tried) await expect(one()).rejects.toMatchObject({ status: 404, code: 'RESPONSE_NOT_FOUND', param: 'input[0].id' });
      expect(keyed.models.calls).toHaveLength(1);
    } finally {
      await keyed.close();
    }
  });

  it('passes on what tools returned as images, whether tools may be called at once, and only the tools that may be called', async () => {
    const bodies = answering(...Array.from({ length: 3 }, () => ({ content: 'Blue.' })));
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const output = [
      { type: 'input_text' as const, text: 'a map' },
      { type: 'input_image' as const, image_url: url, detail: 'low' as const },
    ];
    const result = (parts: unknown) => ({ type: 'function_call_output' as const, call_id: 'call_1', output: parts as string });
    const made = { type: 'function_call' as const, call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}' };
    const other = { ...tools[0]!, name: 'smell' };
    const allowed = { type: 'allowed_tools' as const, mode: 'required' as const, tools: [{ type: 'function', name: 'smell' }] };
    const asking = { model: 'm@fake', tools: [...tools, other], input: [{ role: 'user' as const, content: 'x' }, made, result(output)] };
    const whole = await client.responses.create({ ...asking, parallel_tool_calls: false, tool_choice: allowed });
    expect(whole.parallel_tool_calls).toBe(false);
    const { data: kept } = await client.responses.inputItems.list(whole.id);
    expect(kept[0]).toMatchObject({ output: [{ type: 'input_text', text: 'a map' }, { text: '[image]' }] });
    expect(bodies[0]).toMatchObject({ parallel_tool_calls: false, tool_choice: 'required', tools: [{ function: { name: 'smell' } }] });
    expect((bodies[0]!['messages'] as unknown[])[2]).toEqual({
      ...{ role: 'tool', tool_call_id: 'call_1' },
      content: [
        { type: 'text', text: 'a map' },
        { type: 'image_url', image_url: { url, detail: 'low' } },
      ],
    });
    await client.responses.create({ ...asking, tools: [], parallel_tool_calls: true });
    expect(bodies[1]!['parallel_tool_calls']).toBeUndefined();
    // A template reads the text of results.
    await asked({ input: [{ role: 'user', content: 'Which map?' }, made, result(output)] });
    expect(world.requested()[0]!.data.conversation.at(-1)!.content).toContain('a map\n[image]');
  });

  it('says that a filter of the model server ended the answer, and which tokens its cache read', async () => {
    const spent = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } };
    answering({ content: 'It', finish_reason: 'content_filter', usage: spent });
    const whole = await client.responses.create({ ...question, model: 'm@fake' });
    world.models.pass = async (_, { onChunk }) => {
      onChunk!({ choices: [{ index: 0, delta: { content: 'It' }, finish_reason: null }] });
      onChunk!({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }], usage: spent });
      return { ...reply(), body: null };
    };
    const streamed = await client.responses.stream({ ...question, model: 'm@fake' }).finalResponse();
    for (const one of [whole, streamed, await client.responses.retrieve(whole.id), await client.responses.retrieve(streamed.id)])
      expect(one).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
        usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 4 } },
      });
  });
});
