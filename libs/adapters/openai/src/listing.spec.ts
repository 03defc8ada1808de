import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defaultBreaker } from '@conclave/ports';
import { until } from '@conclave/test-support';
import type { ProviderConfig } from './configuration.js';
import { discoverLocalServers, gatewayMark, natureOf, providerFromEnvironment } from './discover.js';
import { openProviders } from './providers.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Routes = Record<string, unknown | ((request: IncomingMessage, response: ServerResponse, body: string) => void)>;
/** An address where nothing listens. */
async function unused(): Promise<string> {
  const { url } = await serve({});
  await closing.pop()!();
  return url;
}
/** A server that answers known paths with JSON and others with 404. Returns its port and the requested paths. */
async function serve(routes: Routes, headers: Record<string, string> = {}): Promise<{ port: number; url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (part: string) => (body += part))
      .on('end', () => {
        asked.push(`${request.method} ${request.url}`);
        const route = routes[request.url ?? ''];
        if (typeof route === 'function')
          return void (route as (a: IncomingMessage, b: ServerResponse, c: string) => void)(request, response, body);
        response.writeHead(route === undefined ? 404 : 200, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(route ?? { error: 'not found' }));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/v1`, asked };
}
const models = (...ids: string[]): object => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'library' })) });
const local = (base_url: string): ProviderConfig => ({ base_url, local: true, paid: false });
const open = (providers: Record<string, ProviderConfig>, rest: object = {}): ReturnType<typeof openProviders> =>
  openProviders({ providers, ...rest });

describe('a list of models that is not declared as JSON', () => {
  it.each([{}, { 'content-type': 'text/plain' }])('is still read as JSON, with the headers %j', async (headers) => {
    const list = (_: IncomingMessage, response: ServerResponse): unknown =>
      response.writeHead(200, headers).end(JSON.stringify(models('alpha')));
    const { url } = await serve({ '/v1/models': list });
    const provider = open({ one: local(url) });
    closing.push(() => provider.close());
    expect((await provider.list()).map(({ ref }) => ref)).toEqual(['alpha@one']);
  });
});

describe('the properties of models that a server reports', () => {
  const facts = async (routes: Routes): Promise<unknown[]> => {
    const { url } = await serve(routes);
    return (await open({ a: local(url) }).list()).map(({ model, parameters, sees, kind }) => ({ model, parameters, sees, kind }));
  };
  const named = (model: string) => ({ model, kind: 'chat', parameters: undefined, sees: undefined });

  it('are their size and whether they read images: Ollama', async () => {
    const shown = (request: IncomingMessage, response: ServerResponse, body: string): void => {
      const { model } = JSON.parse(body) as { model: string };
      const own =
        model === 'eye'
          ? { details: { parameter_size: '4.3B' }, capabilities: ['completion', 'vision'] }
          : { details: { parameter_size: '134.52M' }, capabilities: ['completion'] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...own, model_info: {} }));
    };
    expect(
      await facts({
        '/v1/models': models('eye', 'tiny'),
        '/api/version': { version: '0.12.0' },
        '/api/ps': { models: [] },
        '/api/show': shown,
      }),
    ).toEqual([
      { ...named('eye'), parameters: 4.3, sees: true },
      { ...named('tiny'), parameters: expect.closeTo(0.13452), sees: false },
    ]);
  });

  it('are whether they read images: LM Studio', async () => {
    const listed = {
      data: [
        { id: 'one', type: 'llm' },
        { id: 'two', type: 'vlm' },
      ],
    };
    expect(await facts({ '/v1/models': models('one', 'two'), '/api/v0/models': listed })).toEqual([
      { ...named('one'), sees: false },
      { ...named('two'), sees: true },
    ]);
  });

  it('are their size in the list itself: llama.cpp; or nothing: vLLM', async () => {
    const llama = { data: [{ id: 'file.gguf', owned_by: 'llamacpp', meta: { n_params: 8_030_261_312 } }] };
    expect(await facts({ '/v1/models': llama })).toEqual([{ ...named('file.gguf'), parameters: expect.closeTo(8.03, 2) }]);
    const vllm = { data: [{ id: 'Qwen/Qwen3-8B', owned_by: 'vllm', max_model_len: 32_768 }] };
    expect(await facts({ '/v1/models': vllm })).toEqual([named('Qwen/Qwen3-8B')]);
  });
});

describe('the list of models', () => {
  it('joins all providers, recognises embedding models, and leaves out models that cannot chat', async () => {
    const a = await serve({ '/v1/models': models('qwen3:8b', 'nomic-embed-text', 'whisper-1') });
    const b = await serve({ '/v1/models': { data: [{ id: 'Qwen/Qwen3-8B', max_model_len: 32_768 }] } });
    const opened = open(
      { a: local(a.url), b: { ...local(b.url), local: false, paid: true } },
      { models: { 'qwen3:8b@a': { context: 9_999, price: { input: 1, output: 2 } } } },
    );
    expect(await opened.list()).toEqual([
      {
        ref: 'qwen3:8b@a',
        model: 'qwen3:8b',
        provider: 'a',
        context: 9_999,
        price: { input: 1, output: 2 },
        local: true,
        demo: false,
        kind: 'chat',
      },
      {
        ref: 'nomic-embed-text@a',
        model: 'nomic-embed-text',
        provider: 'a',
        context: null,
        price: null,
        local: true,
        demo: false,
        kind: 'embedding',
      },
      {
        ref: 'Qwen/Qwen3-8B@b',
        model: 'Qwen/Qwen3-8B',
        provider: 'b',
        context: 32_768,
        price: null,
        local: false,
        demo: false,
        kind: 'chat',
      },
    ]);
    expect(await opened.providers()).toMatchObject([
      { name: 'a', reachable: true, local: true, paid: false, note: '1 chat models.', maxConcurrency: 1, breaker: defaultBreaker },
      { name: 'b', reachable: true, local: false, paid: true, note: '1 chat models.', maxConcurrency: 8, breaker: defaultBreaker },
    ]);
    expect((await opened.providers()).map(({ baseUrl }) => baseUrl?.replace(/:\d+/, ':port'))).toEqual(
      Array(2).fill('http://127.0.0.1:port/v1'),
    );
  });

  it('names addresses without the passwords and parameters that people write into them', async () => {
    const opened = open({ a: { base_url: 'http://ann:secret@127.0.0.1:9/v1?key=secret', local: true, paid: false } });
    expect((await opened.providers()).map(({ baseUrl }) => baseUrl)).toEqual(['http://127.0.0.1:9/v1']);
  });

  it('never throws: an unreachable provider is listed with the reason', async () => {
    const refusing = await serve({ '/v1/models': (_: unknown, response: ServerResponse) => void response.writeHead(401).end('{}') });
    const nonsense = await serve({ '/v1/models': 'hello' });
    const silent = await serve({ '/v1/models': () => {} });
    const opened = open(
      { gone: local(await unused()), refusing: local(refusing.url), nonsense: local(nonsense.url), silent: local(silent.url) },
      { timeouts: { list_ms: 1_000 }, models: { 'm@gone': { context: 5 } } },
    );
    expect(await opened.list()).toEqual([]);
    const [gone, refused, odd, mute] = await opened.providers();
    expect(gone).toMatchObject({ reachable: false, note: expect.stringContaining('ECONNREFUSED') });
    expect(refused).toMatchObject({ reachable: false, note: expect.stringContaining('API key') });
    expect(odd).toMatchObject({ reachable: true, note: '0 chat models.' });
    expect(mute).toMatchObject({ reachable: false });
  });

  it('contains the configured models if a server has no list', async () => {
    const server = await serve({});
    const opened = open({ p: local(server.url) }, { models: { 'm@p': { context: 1_000 }, 'x@other': {} } });
    expect((await opened.list()).map((model) => model.ref)).toEqual(['m@p']);
  });

  it('is requested once in a short time, and again later', async () => {
    const server = await serve({ '/v1/models': models('a') });
    const lists = (): number => server.asked.filter((path) => path === 'GET /v1/models').length;
    const lasting = open({ p: local(server.url) });
    await Promise.all([lasting.list(), lasting.list(), lasting.providers()]);
    await lasting.list();
    expect(lists()).toBe(1);
    const passing = open({ p: local(server.url) }, { timeouts: { list_ttl_ms: 0 } });
    await passing.list();
    await passing.list();
    expect(lists()).toBe(3);
  });

  it('is read again soon after a server did not answer', async () => {
    let answers = false;
    const route = (_: unknown, response: ServerResponse): void =>
      void response.writeHead(answers ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify(models('a')));
    const server = await serve({ '/v1/models': route });
    const opened = open({ p: local(server.url) }, { timeouts: { list_failed_ttl_ms: 50 } });
    expect(await opened.list()).toEqual([]);
    answers = true;
    await until('the list', async () => (await opened.list()).length === 1, { timeoutMs: 5_000 });
  });

  it('contains the context that Ollama uses, and says how to raise it', async () => {
    const shows: Record<string, object> = {
      'qwen3:8b': { model_info: { 'qwen3.context_length': 40_960 }, capabilities: ['completion', 'tools'] },
      'long:latest': { model_info: { 'llama.context_length': 131_072 }, parameters: 'num_ctx 65536', capabilities: ['completion'] },
      'odd-vectors': { model_info: {}, capabilities: ['embedding'] },
    };
    const server = await serve({
      '/v1/models': models(...Object.keys(shows)),
      '/api/version': { version: '0.13.0' },
      '/api/ps': { models: [] },
      '/api/show': (_: IncomingMessage, response: ServerResponse, body: string) =>
        void response.end(JSON.stringify(shows[(JSON.parse(body) as { model: string }).model])),
    });
    const opened = open({ o: local(server.url) });
    expect((await opened.list()).map(({ model, context, kind }) => [model, context, kind])).toEqual([
      ['qwen3:8b', 4_096, 'chat'],
      ['long:latest', 65_536, 'chat'],
      ['odd-vectors', 4_096, 'embedding'],
    ]);
    expect((await opened.providers())[0]?.note).toContain(
      'Ollama cuts prompts of qwen3:8b at 4096 tokens without a warning, although the model takes 40960. Start it with OLLAMA_CONTEXT_LENGTH=32768.',
    );
  });

  it('contains the tokens per slot of a llama.cpp server', async () => {
    const server = await serve({
      '/v1/models': { models: [{ name: 'x' }], data: [{ id: 'x.gguf', owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }] },
      '/props': { default_generation_settings: { n_ctx: 8_192 }, total_slots: 1 },
    });
    expect((await open({ l: local(server.url) }).list())[0]).toMatchObject({ model: 'x.gguf', context: 8_192 });
    const behindProxy = await serve({
      '/v1/models': { data: [{ id: 'x.gguf', owned_by: 'llamacpp', meta: { n_ctx: 4_096, n_ctx_train: 40_960 } }] },
    });
    expect((await open({ l: local(behindProxy.url) }).list())[0]).toMatchObject({ context: 4_096 });
  });
});

describe('the search for local servers', () => {
  const nowhere = { ollama: 1, lmstudio: 1, llamacpp: 1, vllm: 1 };

  it('finds servers with a chat model', async () => {
    const ollama = await serve({ '/v1/models': models('qwen3:8b', 'nomic-embed-text') });
    const empty = await serve({ '/v1/models': models('nomic-embed-text') });
    expect(await discoverLocalServers({ ports: { ...nowhere, ollama: ollama.port, lmstudio: empty.port } })).toEqual([
      { name: 'ollama', provider: { base_url: `http://127.0.0.1:${ollama.port}/v1`, local: true, paid: false }, models: ['qwen3:8b'] },
    ]);
  });

  it('notes how many calls a server answers at once', async () => {
    const list = (owned_by: string) => ({ data: [{ id: 'qwen3', owned_by }] });
    const props = (total_slots: number, n_ctx: number) => ({ total_slots, default_generation_settings: { n_ctx } });
    const llama = await serve({ '/v1/models': list('llamacpp'), '/props': props(4, 32_768) });
    const small = await serve({ '/v1/models': list('llamacpp'), '/props': props(4, 16_384) });
    const one = await serve({ '/v1/models': list('llamacpp'), '/props': props(1, 32_768) });
    const silent = await serve({ '/v1/models': list('llamacpp') });
    const vllm = await serve({ '/v1/models': list('vllm') });
    const slots = async (ports: object) =>
      (await discoverLocalServers({ ports: { ...nowhere, ...ports } })).map(({ provider }) => provider.max_concurrency);
    expect(await slots({ llamacpp: llama.port, vllm: vllm.port })).toEqual([4, 8]);
    // The slots may share one context, and each call should have 8,192 tokens of it.
    expect(await slots({ llamacpp: small.port })).toEqual([2]);
    expect(await slots({ llamacpp: one.port, vllm: silent.port })).toEqual([undefined, undefined]);
  });

  it('never mistakes a Conclave gateway, or one of our own ports, for a model server', async () => {
    const gateway = await serve({ '/v1/models': models('conclave') }, { [gatewayMark]: '1' });
    const own = await serve({ '/v1/models': models('m') });
    expect(await discoverLocalServers({ ports: { ...nowhere, llamacpp: gateway.port, vllm: own.port }, ownPorts: [own.port] })).toEqual([]);
    expect(own.asked).toEqual([]);
  });

  it('is bounded, and finds nothing on another server', async () => {
    const silent = await serve({ '/v1/models': () => {} });
    const page = await serve({ '/v1/models': (_: unknown, response: ServerResponse) => void response.end('<html>') });
    const away = await serve({
      '/v1/models': (_: unknown, response: ServerResponse) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    });
    const at = performance.now();
    expect(
      await discoverLocalServers({ ports: { ollama: silent.port, lmstudio: page.port, llamacpp: away.port, vllm: 1 }, timeoutMs: 100 }),
    ).toEqual([]);
    expect(performance.now() - at).toBeLessThan(5_000);
  });
});

describe('the environment', () => {
  it('names a provider only when its variable is set', () => {
    expect(providerFromEnvironment(undefined, undefined)).toBeNull();
    expect(providerFromEnvironment('', '')).toBeNull();
  });
  it('never chooses a paid model because of a key alone', () => {
    expect(providerFromEnvironment(undefined, 'k')).toEqual({
      provider: { base_url: 'https://api.openai.com/v1', api_key: 'k', local: false, paid: true },
      mayBeChosen: false,
    });
  });
  it('may choose the server of an address, and reports whether it is paid', () => {
    expect(providerFromEnvironment('http://127.0.0.1:9/v1', 'k')).toEqual({
      provider: { base_url: 'http://127.0.0.1:9/v1', api_key: 'k', local: true, paid: false },
      mayBeChosen: true,
    });
    expect(providerFromEnvironment('https://models.example.com/v1', 'k')?.provider.paid).toBe(true);
  });
  it.each([
    ['http://localhost:1/v1', true],
    ['http://[::1]:1/v1', true],
    ['http://192.168.1.4/v1', true],
    ['http://ollama:11434/v1', true],
    ['http://172.20.0.2/v1', true],
    ['http://172.40.0.2/v1', false],
    ['https://api.openai.com/v1', false],
  ])('counts %s as local: %s', (url, expected) => expect(natureOf(url, false).local).toBe(expected));
});
