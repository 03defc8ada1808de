import { request as httpRequest, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { MemoryTool } from '@conclave/ports';
import { describeToolServers, sampleTools } from '@conclave/ports/suites';
import { until } from '@conclave/test-support';
import { closeOpened, open } from './__fixtures__/opened.js';
import { LocalAddress, sampleAddress, type SampleForm } from './__fixtures__/sample-address.js';

const addresses: LocalAddress[] = [];
afterEach(async () => {
  await closeOpened();
  for (const address of addresses.splice(0)) await address.stop();
});
async function serve(listener: RequestListener): Promise<LocalAddress> {
  const address = await new LocalAddress(listener).start();
  addresses.push(address);
  return address;
}
async function sample(form: SampleForm, tools: Record<string, MemoryTool> = { ...sampleTools() }) {
  const server = sampleAddress(() => tools, form);
  addresses.push(await server.address.start());
  return { ...server, url: server.address.url, tools };
}
const none = { type: 'object', properties: {} };

for (const form of ['streamable', 'sse'] as const)
  describeToolServers(`addresses (${form})`, {
    async open() {
      const { url } = await sample(form);
      return { tools: open({ sample: { url }, away: { url: 'http://127.0.0.1:9/mcp' } }).tools, dispose: closeOpened };
    },
  });

describe('an address', () => {
  it('may answer with plain JSON', async () => {
    const { url } = await sample('json');
    const { call, failure } = open({ one: { url } });
    const replies = await Promise.all(['a', 'b'].map((text) => call('one.echo', { text })));
    expect(replies.map(({ content }) => content)).toEqual(['a', 'b']);
    expect((await failure('one.wait', {}, { timeoutMs: 50 })).code).toBe('CALL_TIMEOUT');
  });
});

describe.each(['streamable', 'sse'] as const)('an address (%s)', (form) => {
  it('receives the headers whose values are in the environment', async () => {
    const { url, headers } = await sample(form);
    const server = { url, headers_env: { authorization: 'OWN_TOKEN', 'x-team': 'TEAM' } };
    const { call, log } = open({ one: server }, { environment: { OWN_TOKEN: 'Bearer abc-123-secret', TEAM: 'blue' } });
    await call('one.echo', { text: 'tea' });
    expect(headers()).toMatchObject({ authorization: 'Bearer abc-123-secret', 'x-team': 'blue' });
    expect(JSON.stringify(log)).not.toContain('abc-123');
  });

  it('that redirects to another origin is not followed, so that its keys reach no other server', async () => {
    const { url, headers } = await sample(form);
    const away = await serve((_request, response) => void response.writeHead(307, { location: url }).end());
    const server = { url: away.url, headers_env: { 'x-api-key': 'OWN_KEY' } };
    const { failure } = open({ one: server }, { environment: { OWN_KEY: 'secret' } });
    const failed = await failure('one.echo', { text: 'tea' });
    expect(failed).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', detail: expect.stringContaining('redirects to another address') });
    expect(headers() ?? {}).not.toHaveProperty('x-api-key');
  });

  it('may redirect within its origin', async () => {
    const { url, headers } = await sample(form);
    const relay: RequestListener = (request, response) => {
      if (!request.url!.includes('/in/')) return void response.writeHead(307, { location: `/in${request.url!}` }).end();
      const onward = httpRequest(url.replace('/mcp', request.url!.replace('/in', '')), {
        method: request.method,
        headers: request.headers,
      });
      onward.on('response', (answer) => void answer.pipe(response.writeHead(answer.statusCode!, answer.headers)));
      onward.on('error', (error) => response.destroy(error));
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    };
    const server = { url: (await serve(relay)).url, headers_env: { 'x-api-key': 'OWN_KEY' } };
    const { call } = open({ one: server }, { environment: { OWN_KEY: 'secret' } });
    expect((await call('one.echo', { text: 'tea' })).content).toBe('tea');
    expect(headers()).toHaveProperty('x-api-key', 'secret');
  });

  it('is not called without a required header', async () => {
    const { url } = await sample(form);
    const { failure, tools } = open({ one: { url, headers_env: { authorization: 'OWN_TOKEN' } } }, { environment: {} });
    expect((await failure('one.echo', { text: 'x' })).detail).toContain('OWN_TOKEN is not set');
    expect(tools.status()[0]!.error).toContain('OWN_TOKEN');
  });

  it('gets a new session after it lost one, and the call is made', async () => {
    const { url, forget } = await sample(form);
    const { call } = open({ one: { url } });
    expect((await call('one.echo', { text: 'before' })).content).toBe('before');
    forget();
    expect((await call('one.refuse')).content).toBe('There is no such account.');
  });

  it('offers a new tool once it says that its list changed', async () => {
    const { url, tools: own, toolsChanged } = await sample(form);
    const { tools, call } = open({ one: { url } }, { bounds: { listEveryMs: 0 } });
    await call('one.echo', { text: 'on' });
    own.grown = { description: 'New.', inputSchema: none, run: async () => 'here' };
    await until('the new tool', async () => {
      await toolsChanged();
      return (await tools.offers()).some(({ name }) => name === 'one.grown');
    });
    expect((await call('one.grown')).content).toBe('here');
  });

  it('is asked for its list again when the list is old', async () => {
    const { url, tools: own } = await sample(form);
    const { tools } = open({ one: { url } }, { bounds: { listAgeMs: 0, listEveryMs: 0 } });
    await tools.offers();
    own.grown = { description: 'New.', inputSchema: none, run: async () => 'here' };
    expect(await until('the new tool', async () => (await tools.offers()).some(({ name }) => name === 'one.grown'))).toBe(true);
  });

  it.each(form === 'sse' ? [form] : [form, 'json' as const])(
    'fails a call soon when its connections are cut, and answers the next one (%s)',
    async (answering) => {
      let asked = 0;
      const server = await sample(answering, {
        ...sampleTools(),
        stuck: { description: '', inputSchema: none, run: () => ((asked += 1), new Promise(() => {})) },
      });
      const { call, failure } = open({ one: { url: server.url } });
      await call('one.echo', { text: 'on' });
      const from = performance.now();
      const failing = failure('one.stuck');
      await until('the call', () => asked === 1);
      await server.address.stop();
      const failed = await failing;
      expect(failed).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', detail: expect.stringContaining('may have run') });
      expect(performance.now() - from).toBeLessThan(5_000);
      expect(failed.options.unsent).toBeUndefined();
      // Nothing listens: nothing was sent.
      expect(await failure('one.echo', { text: 'x' })).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', options: { unsent: true } });
      await server.address.start();
      const reply = await until('its return', () => call('one.echo', { text: 'again' }));
      expect(reply.content).toBe('again');
      expect(asked).toBe(1);
    },
  );

  it('is called once more after an incomplete answer when the tool may be repeated', async () => {
    let asked = 0;
    const server = await sample(form, {
      look: {
        description: '',
        inputSchema: none,
        repeatable: true,
        run: async () => {
          asked += 1;
          return asked === 1 ? new Promise(() => {}) : 'found';
        },
      },
    });
    const { call, tools } = open({ one: { url: server.url } });
    await tools.offers();
    const calling = call('one.look');
    await until('the call', () => asked === 1);
    await server.address.stop();
    await server.address.start();
    expect((await calling).content).toBe('found');
  });

  it('receives the cancellation of a call, and its connection is closed', async () => {
    let left = false;
    let asked = 0;
    const server = await sample(form, {
      stuck: {
        description: '',
        inputSchema: none,
        run: (_args, signal) => ((asked += 1), signal.addEventListener('abort', () => (left = true)), new Promise(() => {})),
      },
    });
    const { failure } = open({ one: { url: server.url } });
    const leaving = new AbortController();
    const failing = failure('one.stuck', {}, { signal: leaving.signal });
    await until('the call', () => asked === 1);
    leaving.abort();
    expect((await failing).code).toBe('CALL_CANCELLED');
    expect(await until('the news', () => left)).toBe(true);
  });
});

/** A server that ignores the protocol. `reply` writes the result of a call as raw body bytes. */
const rude =
  (
    reply: RequestListener,
    list: object = { tools: [{ name: 'tool', inputSchema: none, annotations: { readOnlyHint: true } }] },
  ): RequestListener =>
  (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: { protocolVersion: string } };
      const answer = (result: object): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize')
        return answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'rude', version: '1' } });
      if (method === 'tools/list') return answer(list);
      if (method === 'ping') return answer({});
      if (id === undefined) return void response.writeHead(202).end();
      return reply(request, response);
    });
  };

describe('a hostile address', () => {
  const endless: (head: string, type: string) => RequestListener = (head, type) => (_request, response) => {
    response.writeHead(200, { 'content-type': type }).write(head);
    const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), () => more()));
    more();
  };

  it.each([
    ['a JSON body', endless('{"jsonrpc":"2.0","x":"', 'application/json')],
    ['an event', endless('data: {"jsonrpc":"2.0","x":"', 'text/event-stream')],
    ['an event with an id', endless('id: 1\ndata: {"jsonrpc":"2.0","x":"', 'text/event-stream; charset=utf-8')],
  ])('that sends %s without end is not read to its end', async (_name, reply) => {
    const { url } = await serve(rude(reply));
    const { failure } = open({ one: { url } });
    const before = process.memoryUsage().rss;
    expect((await failure('one.tool', {}, { timeoutMs: 10_000 })).code).toBe('TOOL_RESULT_TOO_LARGE');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each<[string, RequestListener, string]>([
    [
      'no result',
      (_q, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":2,"result":7}'),
      'TOOL_FAILED',
    ],
    ['no JSON', (_q, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'), 'TOOL_FAILED'],
    ['a page', (_q, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 'TOOL_SERVER_UNAVAILABLE'],
    ['status 500', (_q, response) => void response.writeHead(500).end('x'.repeat(1_000)), 'TOOL_SERVER_UNAVAILABLE'],
    [
      'an empty stream',
      (_q, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      'TOOL_SERVER_UNAVAILABLE',
    ],
    [
      'a stream of comments',
      (_q, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': on\n\n'),
      'CALL_TIMEOUT',
    ],
    ['nothing', () => undefined, 'CALL_TIMEOUT'],
    ['a way elsewhere', (_q, response) => void response.writeHead(307, { location: 'http://192.0.2.1/' }).end(), 'TOOL_SERVER_UNAVAILABLE'],
  ])('that answers with %s fails the call', async (_name, reply, code) => {
    const { url } = await serve(rude(reply));
    const { failure, tools } = open({ one: { url } });
    await tools.offers();
    expect((await failure('one.tool', {}, { timeoutMs: code === 'CALL_TIMEOUT' ? 100 : 10_000 })).code).toBe(code);
  });

  it.each<[string, RequestListener, string]>([
    ['is no tool server', (_q, response) => void response.end('<html>'), 'Check its address'],
    ['wants another key', (_q, response) => void response.writeHead(401).end(), 'headers_env'],
    [
      'wants OAuth',
      (_q, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://one.example/a"' }).end(),
      'OAuth, which is not supported',
    ],
    ['has nothing at this path', (_q, response) => void response.writeHead(404).end(), 'status 404'],
    ['says nothing', () => undefined, 'not ready within'],
    ['lists no tools', rude(() => undefined, { tools: 7 }), 'protocol'],
  ])('is reported as one that %s, without a wait', async (_name, listener, words) => {
    const { url } = await serve(listener);
    // Only silence may take all of the time that a connection has: a busy machine needs more than that to read an answer.
    const { tools, failure } = open(
      { one: { url } },
      { bounds: { connectMs: words === 'not ready within' ? 300 : 20_000, offersMs: 100 } },
    );
    expect(await tools.offers()).toEqual([]);
    expect((await failure('one.tool')).message).toContain(words);
    expect(tools.status()[0]!.error).toContain(words);
  });

  it('is awaited once when it is unavailable, not by every caller', async () => {
    const { url } = await serve(() => undefined);
    const { tools } = open({ one: { url } }, { bounds: { connectMs: 1_500, offersMs: 10_000 } });
    await tools.offers();
    for (let times = 0; times < 3; times += 1) {
      const from = performance.now();
      expect(await tools.offers()).toEqual([]);
      expect(performance.now() - from).toBeLessThan(1_000);
    }
  });
});
