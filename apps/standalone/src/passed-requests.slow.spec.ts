import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { openProviders } from '@conclave/adapter-openai';
import type { CallRecorded } from '@conclave/contracts';
import type { Models } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { DirectGateway } from './__fixtures__/direct-gateway.js';

type Body = Record<string, unknown>;

let upstream: Server;
let models: Models;
let world: DirectGateway;
let client: OpenAI;
/** Bodies received by the model server, and its reply to the next request. */
const got: Body[] = [];
let answer: (request: IncomingMessage, response: ServerResponse, body: Body) => void;

beforeEach(async () => {
  got.length = 0;
  upstream = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      // A server that lists no models.
      if (request.method === 'GET') return response.writeHead(404).end();
      const body = JSON.parse(text) as Body;
      got.push(body);
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  models = openProviders({
    providers: { fake: { base_url, api_key: 'operators-key-1234', local: false, paid: false } },
    retry: { base_ms: 1, cap_ms: 5 },
  });
  world = await DirectGateway.open(models);
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(async () => {
  await world.close();
  await models.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

const json = (status: number, body: unknown) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const events =
  (...chunks: readonly (Body | string)[]) =>
  (_: unknown, response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end([...chunks, '[DONE]'].map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join(''));
const chunk = (delta: Body, rest: Body = {}, index = 0): Body => ({
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'm-2026',
  system_fingerprint: 'fp',
  choices: [{ index, delta, logprobs: null, finish_reason: null, ...rest }],
});
const completion = (choices: readonly Body[], usage: Body = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }): Body => ({
  id: 'up-1',
  object: 'chat.completion',
  created: 7,
  model: 'm-2026',
  choices,
  usage,
});
const usageDetails = {
  prompt_tokens: 30,
  completion_tokens: 20,
  total_tokens: 50,
  prompt_tokens_details: { cached_tokens: 16 },
  completion_tokens_details: { reasoning_tokens: 12 },
};

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'weather',
      description: 'Weather of a town.',
      parameters: { type: 'object', properties: { town: { type: 'string' } } },
      strict: true,
    },
  },
];
const asked = { model: 'm@fake', messages: [{ role: 'user' as const, content: 'Why?' }] };
const recorded = (): readonly CallRecorded['data'][] => world.recorded();

describe('a request to model@provider', () => {
  it('is passed on unchanged: every parameter, known or not, tools and the history of their calls', async () => {
    answer = json(200, completion([{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }]));
    const body = {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"town":"Rom"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'rain' },
        { role: 'function', name: 'old', content: '42' },
        { role: 'assistant', content: '<think>hm</think>It rains.', reasoning_content: 'hm' },
      ],
      tools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
      logprobs: true,
      top_logprobs: 3,
      frequency_penalty: 0.5,
      presence_penalty: -1,
      logit_bias: { 50: -100 },
      n: 2,
      reasoning_effort: 'high',
      verbosity: 'low',
      user: 'u',
      metadata: { a: 'b' },
      modalities: ['text'],
      service_tier: 'flex',
      max_tokens: -1,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      temperature: 7,
      top_k: 40,
      seed: null,
      chat_template_kwargs: { enable_thinking: false },
    };
    const ours = {
      conclave: { cache: false },
      api_key: 'sk-evil',
      api_base: 'http://10.0.0.1',
      base_url: 'http://10.0.0.1',
      extra_headers: { a: 'b' },
    };
    const response = await world.post({ model: 'm@fake', ...body, ...ours });
    expect(response.status).toBe(200);
    await response.text();
    expect(got).toEqual([{ model: 'm', stream: false, ...body }]);
  });

  it('supports a streamed tool round trip of the OpenAI client', async () => {
    const call = (fields: Body): Body => chunk({ tool_calls: [{ index: 0, ...fields }] });
    answer = (_, response, body) =>
      (body['messages'] as Body[]).some(({ role }) => role === 'tool')
        ? events(
            chunk({ role: 'assistant', content: 'Rain' }),
            chunk({ content: ' in Rom.' }),
            chunk({}, { finish_reason: 'stop' }),
          )(_, response)
        : events(
            chunk({ role: 'assistant', content: null }),
            call({ id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
            call({ function: { arguments: '{"town":' } }),
            call({ function: { arguments: '"Rom"}' } }),
            chunk({}, { finish_reason: 'tool_calls' }),
          )(_, response);
    const towns: string[] = [];
    const runner = client.chat.completions.runTools({
      ...asked,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'x',
            parameters: { type: 'object', properties: { town: { type: 'string' } } },
            parse: JSON.parse,
            function: ({ town }: { town: string }) => (towns.push(town), 'rain'),
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Rain in Rom.');
    expect(towns).toEqual(['Rom']);
    expect((got[1]!['messages'] as Body[]).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"town":"Rom"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    ]);
  });

  it('receives each chunk that has the form of OpenAI as it was sent, except id and model', async () => {
    const logprobs = { content: [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }], refusal: null };
    const sent = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'hm' }),
      chunk({ reasoning: 'so' }),
      chunk({ content: 'a' }, { logprobs }),
      chunk({ role: 'assistant', content: 'b' }, {}, 1),
      chunk({ refusal: 'no' }, {}, 1),
      chunk({}, { finish_reason: 'stop' }),
      chunk({}, { finish_reason: 'length' }, 1),
      { ...chunk({}), choices: [], usage: usageDetails },
    ];
    answer = events(...sent);
    const stream = await client.chat.completions.create({
      ...asked,
      n: 2,
      logprobs: true,
      stream: true,
      stream_options: { include_usage: true },
    });
    const seen: unknown[] = [];
    for await (const one of stream) seen.push(one);
    const id = (seen[0] as Body)['id'];
    expect(id).toMatch(/^chatcmpl-/);
    expect(seen).toEqual(sent.map((one) => ({ ...one, id, model: 'm@fake' })));
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]).toMatchObject({
      status: 'ok',
      reportedModel: 'm-2026',
      usage: { prompt: 30, completion: 20, reasoning: 12, estimated: false },
    });
  });

  it('is counted when the client requests no usage, and then returns none', async () => {
    answer = events({ ...chunk({ role: 'assistant', content: 'a' }), usage: null }, chunk({}, { finish_reason: 'stop' }), {
      ...chunk({}),
      choices: [],
      usage: usageDetails,
    });
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    const seen: OpenAI.ChatCompletionChunk[] = [];
    for await (const one of stream) seen.push(one);
    expect(got[0]!['stream_options']).toEqual({ include_usage: true });
    expect(seen).toHaveLength(2);
    expect(seen.some((one) => 'usage' in one)).toBe(false);
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]!.usage).toMatchObject({ prompt: 30, completion: 20 });
  });

  it('receives a whole reply as it was sent: several choices, logprobs, tool calls, usage details', async () => {
    const choices = [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        logprobs: { content: [] },
        finish_reason: 'tool_calls',
      },
      { index: 1, message: { role: 'assistant', content: 'b', annotations: [] }, logprobs: null, finish_reason: 'stop' },
    ];
    answer = json(200, { ...completion(choices, usageDetails), service_tier: 'flex', citations: ['x'] });
    const reply = await client.chat.completions.create({ ...asked, n: 2, tools });
    expect(reply).toMatchObject({ choices, usage: usageDetails, service_tier: 'flex', citations: ['x'], model: 'm@fake', created: 7 });
    expect(reply.id).toMatch(/^chatcmpl-/);
  });

  it('is parsed by the OpenAI client', async () => {
    answer = json(
      200,
      completion([{ index: 0, message: { role: 'assistant', content: '{"town":"Rom"}', refusal: null }, finish_reason: 'stop' }]),
    );
    const parsed = await client.chat.completions.parse({
      ...asked,
      response_format: zodResponseFormat(z.object({ town: z.string() }), 'place'),
    });
    expect(parsed.choices[0]!.message.parsed).toEqual({ town: 'Rom' });
    expect(got[0]!['response_format']).toMatchObject({ type: 'json_schema', json_schema: { name: 'place', strict: true } });
  });

  it('receives a stream from a server that answers with one reply', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } };
    answer = json(
      200,
      completion([{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }]),
    );
    const final = await client.chat.completions.stream({ ...asked, tools }).finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ message: { tool_calls: [call] }, finish_reason: 'tool_calls' });
  });

  it.each([true, false])('receives the error of the server, and no parameter is dropped to avoid it (stream: %s)', async (stream) => {
    const error = {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'unsupported_parameter',
    };
    answer = json(400, { error });
    for (let n = 1; n <= 3; n += 1) {
      const refused = await client.chat.completions.create({ ...asked, temperature: 0.2, stream }).catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ status: 400, error, code: 'unsupported_parameter', param: 'temperature' });
      expect((refused as InstanceType<typeof OpenAI.APIError>).headers?.get('x-should-retry')).toBe('false');
      expect(got).toHaveLength(n);
    }
    expect(got[2]!['temperature']).toBe(0.2);
  });

  it.each([
    ['a wrong key of ours', 401, { error: { message: 'Incorrect API key provided: operators-key-1234', code: 'invalid_api_key' } }, 502],
    ['a refusal that shows our key', 422, { detail: 'headers: authorization Bearer operators-key-1234' }, 422],
  ])('never sees %s', async (_name, status, body, shown) => {
    answer = json(status, body);
    const response = await world.post({ ...asked, stream: true });
    expect(response.status).toBe(shown);
    expect(await response.text()).not.toContain('1234');
  });

  it('is repeated after 429 and 5xx, before its first byte only', async () => {
    answer = (_, response) =>
      got.length === 1
        ? json(503, { error: 'loading' })(_, response)
        : got.length === 2
          ? json(429, { error: 'slow' })(_, response)
          : void response
              .writeHead(200, { 'content-type': 'text/event-stream' })
              .write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: '' }))}\n\n`, () => response.destroy());
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    await expect(async () => {
      for await (const _ of stream);
    }).rejects.toThrow(/broke off|stream/i);
    expect(got).toHaveLength(3);
  });

  it('drops its call when the client leaves', async () => {
    let closed = false;
    answer = (_, response) => {
      response.once('close', () => (closed = true));
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: 'a' }))}\n\n`);
    };
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    for await (const _ of stream) break;
    await until('the end of the call', () => closed, { timeoutMs: 1_000 });
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]!.status).toBe('cancelled');
  });

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: ['x'] }, 'messages[0]'],
    [{ stream: 'yes' }, 'stream'],
    [{ messages: [{ role: 'user', content: 'x' }], deep: nested(70) }, null],
  ])('is refused by the gateway when it cannot be passed on: %#', async (over, param) => {
    const response = await world.post({ ...asked, ...over });
    expect([response.status, ((await response.json()) as { error: Body }).error['param']]).toEqual([400, param]);
    expect(got).toEqual([]);
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}
