import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { closeOpened, open } from './__fixtures__/opened.js';
import { rudeStream, type RudeStreamOptions } from './__fixtures__/rude-stream.js';
import { LocalAddress } from './__fixtures__/sample-address.js';

const addresses: LocalAddress[] = [];
afterEach(async () => {
  await closeOpened();
  for (const address of addresses.splice(0)) await address.stop();
});
async function serve(options: RudeStreamOptions = {}) {
  const server = await rudeStream(options);
  addresses.push(server.address);
  return server;
}
const accepted = (response: ServerResponse): unknown => response.writeHead(202).end();

describe('an address of the transport HTTP with SSE', () => {
  it.each<[string, RequestListener]>([
    ['status 400', (_request, response) => void response.writeHead(400).end()],
    ['status 404', (_request, response) => void response.writeHead(404).end()],
    ['status 405', (_request, response) => void response.writeHead(405).end()],
    ['status 500', (_request, response) => void response.writeHead(500).end('Request method POST is not supported')],
    ['JSON', (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"code":500}')],
    ['a page', (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    [
      'a stream',
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write('id: 1\nevent: endpoint\ndata: /messages?session=2\n\n'),
    ],
  ])('is recognised if it answers streamable HTTP with %s', async (_name, refuse) => {
    const { url, requests } = await serve({ refuse });
    const { call } = open({ one: { url } });
    expect((await call('one.tool')).content).toBe('by stream 1');
    expect(requests.slice(0, 3).map(([method, path]) => `${method} ${path}`)).toEqual([
      'POST /mcp',
      'GET /mcp',
      'POST /messages?session=1',
    ]);
  });

  it.each<[string, string]>([
    ['ends', ''],
    ['has no endpoint', 'data: {}\n\n'],
  ])('is not seen in a stream that %s: what is reported is the answer to streamable HTTP', async (_name, stream) => {
    const listener: RequestListener = ({ method }, response) =>
      void (method === 'GET'
        ? response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
        : response.writeHead(400).end());
    const address = await new LocalAddress(listener).start();
    addresses.push(address);
    expect((await open({ one: { url: address.url } }).failure('one.tool')).message).toContain('It answers with status 400');
  });

  it('is not asked for a stream if it refuses the key', async () => {
    const { url, requests } = await serve({ refuse: (_request, response) => void response.writeHead(401).end() });
    expect((await open({ one: { url } }).failure('one.tool')).message).toContain('headers_env');
    expect(requests.map(([method]) => method)).toEqual(['POST']);
  });

  it('gets the configured headers with every request', async () => {
    const { url, requests } = await serve();
    const { call } = open({ one: { url, headers_env: { 'x-api-key': 'OWN_KEY' } } }, { environment: { OWN_KEY: 'secret' } });
    await call('one.tool');
    expect(new Set(requests.map(([, , key]) => key))).toEqual(new Set(['secret']));
  });

  it.each([
    ['relative, with a query', 'messages/a%2Fb/?session=1&more=x%20y', '/in/messages/a%2Fb/?session=1&more=x%20y'],
    ['only a query', '?session=1', '/in/sse?session=1'],
    ['behind a proxy that adds a prefix', '/messages?session=1', '/in/messages?session=1'],
  ])('may name an endpoint that is %s', async (_name, endpoint, takesAt) => {
    const { url } = await serve({ endpoint, takesAt });
    const { call } = open({ one: { url: url.replace('/mcp', '/in/sse') } });
    expect((await call('one.tool')).content).toBe('by stream 1');
  });

  it('that takes messages nowhere is reported with the path that its stream names', async () => {
    const { url } = await serve({ takesAt: '/elsewhere' });
    expect((await open({ one: { url } }).failure('one.tool')).message).toContain('/messages, which its stream names');
  });

  it('may redirect messages within its origin', async () => {
    const { url } = await serve({
      takesAt: '/messages/?session=1',
      post: ({ url: path }, response) => {
        if (path !== '/messages?session=1') return false;
        response.writeHead(307, { location: '/messages/?session=1' }).end();
        return true;
      },
    });
    expect((await open({ one: { url } }).call('one.tool')).content).toBe('by stream 1');
  });

  it.each(['endpoint', 'redirect'])(
    'that sends messages to another origin by its %s is refused, so that its keys stay there',
    async (way) => {
      const other = await serve();
      const { url } = await serve(
        way === 'endpoint'
          ? { endpoint: `${new URL(other.url).origin}/messages?session=1` }
          : {
              post: ({ url: path }, response) => {
                if (path === '/mcp') return false;
                response.writeHead(307, { location: `${new URL(other.url).origin}/messages?session=1` }).end();
                return true;
              },
            },
      );
      const { failure } = open({ one: { url, headers_env: { 'x-api-key': 'OWN_KEY' } } }, { environment: { OWN_KEY: 'secret' } });
      const failed = await failure('one.tool');
      expect(failed).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE' });
      expect(failed.message).toContain(way === 'endpoint' ? new URL(other.url).origin : 'redirects to another address');
      expect(other.requests).toEqual([]);
    },
  );

  it('whose POST is not answered still answers over its stream', async () => {
    const { url } = await serve({
      call: (stream, id) => stream.answer(id, { content: [{ type: 'text', text: 'done' }] }),
    });
    expect((await open({ one: { url } }).call('one.tool')).content).toBe('done');
  });

  it('loses its stream when it is closed', async () => {
    const { url, ended } = await serve();
    const { tools } = open({ one: { url } });
    await tools.offers();
    expect(ended()).toBe(0);
    await closeOpened();
    await until('the end of the stream', () => ended() === 1);
  });
});

describe('a stream that ends', () => {
  it.each(['end', 'destroy'] as const)('while nothing is asked (%s) is no failure, and the next request opens another one', async (way) => {
    const { url, streams, ended } = await serve();
    const { tools, call, log } = open({ one: { url } });
    const offers = await tools.offers();
    streams[0]!.response[way]();
    await until('the end of the stream', () => ended() === 1 && log.some(({ message }) => message.includes('had nothing to do')));
    expect(tools.status()).toEqual([{ name: 'one', ok: true, error: null, tools: 2 }]);
    expect(await tools.offers()).toEqual(offers);
    expect((await call('one.tool')).content).toBe('by stream 2');
    expect(log.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('while nothing is asked is a failure once nothing answers any more', async () => {
    const { url, address } = await serve();
    const { tools, failure, log } = open({ one: { url } });
    await tools.offers();
    await address.stop();
    await until('the end of the stream', () => log.some(({ message }) => message.includes('had nothing to do')));
    expect((await failure('one.tool')).code).toBe('TOOL_SERVER_UNAVAILABLE');
    expect(tools.status()[0]).toMatchObject({ ok: false, tools: 0, error: expect.stringContaining('Check that it runs') });
  });

  it('right behind the list of tools leaves the tools offered, and a call gets another one', async () => {
    const { url } = await serve({ listed: ({ response, number }) => void (number === 1 && response.end()) });
    const { tools, call, log } = open({ one: { url } });
    expect((await tools.offers()).map(({ name }) => name)).toEqual(['one.look', 'one.tool']);
    await until('the end of the stream', () => log.some(({ message }) => message.includes('had nothing to do')));
    expect(tools.status()).toEqual([{ name: 'one', ok: true, error: null, tools: 2 }]);
    expect((await call('one.tool')).content).toBe('by stream 2');
  });

  it.each(['end', 'destroy'] as const)('during a call (%s) fails it, unless it may be repeated', async (way) => {
    const { url } = await serve({
      call(stream, id, response) {
        accepted(response);
        if (stream.number % 2 === 1) return void stream.response[way]();
        stream.answer(id, { content: [{ type: 'text', text: `by stream ${stream.number}` }] });
      },
    });
    expect((await open({ one: { url } }).call('one.look')).content).toBe('by stream 2');
    const next = await serve({ call: (stream, _id, response) => void (accepted(response), stream.response[way]()) });
    const { failure, tools } = open({ one: { url: next.url } });
    expect(await failure('one.tool')).toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      detail: expect.stringMatching(/Its stream .*may have run/),
    });
    expect(tools.status()[0]).toMatchObject({ ok: false, error: expect.stringContaining('Its stream') });
  });
});

describe('a hostile stream', () => {
  const long = 'x'.repeat(20_000);
  const bounds = { messageBytes: 10_000 };

  it('loses only the call whose answer is too long', async () => {
    let calls = 0;
    const { url, streams } = await serve({
      call(stream, id, response) {
        accepted(response);
        calls += 1;
        stream.answer(id, { content: [{ type: 'text', text: calls === 2 ? long : 'done' }] });
      },
    });
    const { call, failure } = open({ one: { url } }, { bounds });
    await call('one.tool');
    const [lost, ...others] = await Promise.all([failure('one.tool'), call('one.tool'), call('one.tool')]);
    expect([lost.code, ...others.map(({ content }) => content), streams.length]).toEqual(['TOOL_RESULT_TOO_LARGE', 'done', 'done', 1]);
  });

  it('is left if it is not known which call a message that is too long answers', async () => {
    const { url, streams } = await serve({
      call(stream, id, response) {
        accepted(response);
        if (stream.number > 1) return stream.answer(id, { content: [{ type: 'text', text: 'done' }] });
        stream.response.write(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${long}"}}\n\n`);
      },
    });
    const { call, failure } = open({ one: { url } }, { bounds });
    expect((await failure('one.tool')).code).toBe('TOOL_RESULT_TOO_LARGE');
    expect((await call('one.tool')).content).toBe('done');
    expect(streams).toHaveLength(2);
  });

  it('is not read to the end of an event without end', async () => {
    const { url } = await serve({
      call({ response: stream }, _id, response) {
        accepted(response);
        stream.write('data: {"jsonrpc":"2.0","x":"');
        const more = (): void => void (stream.destroyed || stream.write('x'.repeat(65_536), () => more()));
        more();
      },
    });
    const { failure } = open({ one: { url } });
    const before = process.memoryUsage().rss;
    expect((await failure('one.tool')).code).toBe('TOOL_RESULT_TOO_LARGE');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each<[string, string, string]>([
    ['events that are no messages', 'event: news\ndata: {}\n\n', 'does not follow the protocol'],
    ['text that is no message', 'data: <html>\n\n', 'does not follow the protocol'],
    ['notifications', 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n', 'unrequested messages'],
  ])('of very many %s is left', async (_name, event, words) => {
    const { url } = await serve({
      call({ response: stream }, _id, response) {
        accepted(response);
        stream.write(event.repeat(5_000));
      },
    });
    expect(await open({ one: { url } }).failure('one.tool')).toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      detail: expect.stringContaining(words),
    });
  });

  it.each<[string, (response: ServerResponse) => unknown, string]>([
    ['nothing', () => undefined, 'CALL_TIMEOUT'],
    ['status 500', (response) => response.writeHead(500).end('x'.repeat(1_000)), 'TOOL_SERVER_UNAVAILABLE'],
    ['status 202 and no event', accepted, 'CALL_TIMEOUT'],
  ])('that answers a call with %s fails the call', async (_name, answer, code) => {
    const { url } = await serve({ call: (_stream, _id, response) => void answer(response) });
    const { failure, tools } = open({ one: { url } });
    await tools.offers();
    expect((await failure('one.tool', {}, { timeoutMs: code === 'CALL_TIMEOUT' ? 100 : 10_000 })).code).toBe(code);
    expect(tools.status()[0]!.ok).toBe(true);
  });
});
