// An alias of several models, with real model servers behind HTTP, in every API that passes a request on.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { openProviders } from '@conclave/adapter-openai';
import { Configuration } from '@conclave/contracts';
import { openCatalogue } from '@conclave/platform';
import type { Models } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { DirectGateway } from './__fixtures__/direct-gateway.js';

type Answer = (response: ServerResponse, body: Record<string, unknown>) => void;

/** A model server that answers every request in the same way, until it is told otherwise. */
class Upstream {
  readonly got: string[] = [];
  private constructor(
    private readonly server: Server,
    public answer: Answer,
  ) {}
  static async open(name: string): Promise<Upstream> {
    const upstream: Upstream = new Upstream(createServer(), says(name));
    upstream.server.on('request', (request, response) => {
      let text = '';
      request.on('data', (part) => (text += String(part)));
      request.on('end', () => {
        if (request.method === 'GET') return response.writeHead(404).end();
        upstream.got.push(request.url!);
        upstream.answer(response, JSON.parse(text) as Record<string, unknown>);
      });
    });
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }
  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const head = { id: 'up', created: 7, model: 'm' };
const says =
  (name: string): Answer =>
  (response, body) => {
    if ('input' in body) {
      const data = [{ index: 0, object: 'embedding', embedding: [name.length, 1] }];
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, usage }));
    }
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: `I am ${name}.` } };
    if (body['stream'] !== true)
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], usage }));
    const events = [
      { choices: [{ index: 0, delta: choice.message, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage },
    ];
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(
        [...events.map((event) => JSON.stringify({ ...head, object: 'chat.completion.chunk', ...event })), '[DONE]']
          .map((data) => `data: ${data}\n\n`)
          .join(''),
      );
  };
const refuses =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'no', type: 'x' } }));
const hangs: Answer = () => undefined;
const breaks: Answer = (response) => void response.destroy();
const streamsThenBreaks: Answer = (response) => {
  const event = { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }] };
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(event)}\n\n`, () => response.destroy());
};

const hi = [{ role: 'user', content: 'Hi' }];
const apis = {
  '/v1/chat/completions': { messages: hi },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/messages': { max_tokens: 50, messages: hi },
  '/v1/responses': { input: 'Hi' },
} as const;

let a: Upstream;
let b: Upstream;
let models: Models;
let world: DirectGateway;
let client: OpenAI;
beforeEach(async () => {
  [a, b] = await Promise.all([Upstream.open('a'), Upstream.open('b')]);
  const gone = await Upstream.open('gone');
  const remote = { local: false, paid: false } as const;
  models = openProviders({
    providers: {
      a: { base_url: a.url, ...remote, timeout_ms: 2_000, breaker: { failures: 2 } },
      b: { base_url: b.url, ...remote },
      gone: { base_url: gone.url, ...remote },
    },
    retry: { base_ms: 1, cap_ms: 5 },
  });
  await gone.close();
  const configuration = Configuration.parse({
    aliases: {
      either: ['m@a', 'm@b'],
      away: ['m@gone', 'm@b'],
      spread: { models: ['m@a', 'm@b'], use: 'balance' },
      mixed: ['m@a', 'other@b'],
    },
  });
  const catalogue = await openCatalogue({ configuration, models, expertPrompts: {}, strategies: [], capabilities: [], canSearch: false });
  world = await DirectGateway.open(models, { catalogue });
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterEach(async () => {
  await world.close();
  await models.close();
  await Promise.all([a.close(), b.close()]);
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(world.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const ask = (model = 'either', over: object = {}) => post('/v1/chat/completions', { model, messages: hi, ...over });
/** The model that answered: header, `model` of the body, text. */
async function answeredBy(response: Response): Promise<readonly unknown[]> {
  const { model, choices } = (await response.json()) as OpenAI.ChatCompletion;
  return [response.status, response.headers.get('x-conclave-model'), model, choices[0]?.message.content];
}

describe.each(Object.entries(apis))('%s with an alias of several models', (path, question) => {
  it('is answered by the first, which is named', async () => {
    const response = await post(path, { model: 'either', ...question });
    expect([response.status, response.headers.get('x-conclave-model')]).toEqual([200, 'm@a']);
    const text = await response.text();
    expect((JSON.parse(text) as { model: string }).model).toBe('m@a');
    expect(text).toContain('I am a.');
    expect(b.got).toEqual([]);
  });

  it('is answered by the next if the first fails, which is tried once', async () => {
    a.answer = refuses(503);
    const response = await post(path, { model: 'either', ...question });
    expect([response.status, response.headers.get('x-conclave-model')]).toEqual([200, 'm@b']);
    const text = await response.text();
    expect((JSON.parse(text) as { model: string }).model).toBe('m@b');
    expect(text).toContain('I am b.');
    expect([a.got.length, b.got.length]).toEqual([1, 1]);
  });

  it('streams from the next, under its name in all events', async () => {
    a.answer = refuses(429);
    const response = await post(path, { model: 'either', ...question, stream: true });
    expect([response.status, response.headers.get('x-conclave-model')]).toEqual([200, 'm@b']);
    const text = await response.text();
    expect(text).toContain('I am b.');
    expect(text).not.toMatch(/"error":\{|event: error/);
    expect(new Set(Array.from(text.matchAll(/"model":"([^"]*)"/g), ([, model]) => model))).toEqual(new Set(['m@b']));
  });
});

describe('fallback', () => {
  it.each<[string, Answer]>([
    ['a rate limit', refuses(429)],
    ['an error of the server', refuses(500)],
    ['a broken connection', breaks],
    ['a timeout', hangs],
  ])('follows %s', async (_, answer) => {
    a.answer = answer;
    expect(await answeredBy(await ask())).toEqual([200, 'm@b', 'm@b', 'I am b.']);
  });

  it('follows a refused connection', async () => {
    expect(await answeredBy(await ask('away'))).toEqual([200, 'm@b', 'm@b', 'I am b.']);
  });

  it('does not follow a refusal of the request itself', async () => {
    a.answer = refuses(400);
    const response = await ask();
    expect([response.status, response.headers.get('x-conclave-model')]).toEqual([400, null]);
    expect(b.got).toEqual([]);
  });

  it('does not ask a server whose breaker is open', async () => {
    a.answer = refuses(500);
    for (let n = 0; n < 4; n += 1) expect((await ask()).headers.get('x-conclave-model')).toBe('m@b');
    expect([a.got.length < 4, b.got.length]).toEqual([true, 4]);
  });

  it('ends with the failure of the last, which is retried like any model', async () => {
    a.answer = refuses(500);
    b.answer = refuses(429);
    const response = await ask();
    expect([response.status, ((await response.json()) as { error: { type: string } }).error.type]).toEqual([429, 'upstream_error']);
    expect([a.got.length, b.got.length > 1]).toEqual([1, true]);
  });

  it('never follows text that the client has received: the stream ends with the error', async () => {
    a.answer = streamsThenBreaks;
    const text = await (await ask('either', { stream: true })).text();
    expect(text).toContain('Half');
    expect(text).toContain('"error"');
    expect(b.got).toEqual([]);
  });

  it('is recorded call by call', async () => {
    a.answer = refuses(500);
    await ask();
    await until('the records', () => world.recorded().length === 2);
    expect(world.recorded().map(({ model, status }) => [model, status])).toEqual([
      ['m@a', 'error'],
      ['m@b', 'ok'],
    ]);
  });
});

describe('balance', () => {
  it('takes turns', async () => {
    for (let n = 0; n < 6; n += 1) await ask('spread');
    expect([a.got.length, b.got.length]).toEqual([3, 3]);
  });

  it('goes to the one with fewer open calls', async () => {
    const open: ServerResponse[] = [];
    a.answer = (response) => void open.push(response);
    const waiting = ask('spread');
    await until('the first call', () => open.length === 1);
    for (let n = 0; n < 4; n += 1) expect((await ask('spread')).headers.get('x-conclave-model')).toBe('m@b');
    says('a')(open[0]!, {});
    expect((await waiting).headers.get('x-conclave-model')).toBe('m@a');
  });

  it('falls back as well', async () => {
    a.answer = refuses(503);
    for (let n = 0; n < 4; n += 1) expect((await answeredBy(await ask('spread')))[1]).toBe('m@b');
  });
});

describe('embeddings with an alias of several models', () => {
  it('come from the next server of the same model', async () => {
    a.answer = refuses(503);
    const { data, response } = await client.embeddings.create({ model: 'either', input: 'x', encoding_format: 'float' }).withResponse();
    expect([data.model, response.headers.get('x-conclave-model'), a.got.length]).toEqual(['m@b', 'm@b', 1]);
  });

  it('are refused if the models differ, because their vectors do', async () => {
    const asked = client.embeddings.create({ model: 'mixed', input: 'x' });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'model' });
  });
});

it('an alias of several models is in the list, with its models', async () => {
  const { data } = (await (await fetch(`${world.url}/v1/models`)).json()) as { data: { id: string; description?: string }[] };
  expect(data.find(({ id }) => id === 'either')?.description).toBe('The first of m@a, m@b that answers.');
  expect((await post('/v1/runs', { model: 'either', messages: hi })).status).toBe(400);
});
