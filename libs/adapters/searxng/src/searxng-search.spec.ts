import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import type { Search, SearchHit } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { openSearxng, type SearxngOptions } from './searxng-search.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  rest: Partial<SearxngOptions> = {},
): Promise<Search> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return openSearxng({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ...rest });
}
const json = (value: unknown, status = 200) => (_request: IncomingMessage, response: ServerResponse): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)); // prettier-ignore
const ask = (search: Search, query = 'q', limit = 5, signal = new AbortController().signal): Promise<readonly SearchHit[]> =>
  search.query({ query, limit, signal });
const failureOf = (search: Search, signal?: AbortSignal): Promise<Failure> =>
  ask(search, 'q', 5, signal).then(() => Promise.reject(new Error('It did not fail.')), (error: unknown) => (error instanceof Failure ? error : Promise.reject(error))); // prettier-ignore

describe('SearXNG', () => {
  it('is asked with the whole query, and gives hits without marks, once per address, no more than asked for', async () => {
    let asked = '';
    const search = await serve((request, response) => {
      asked = request.url!;
      json({
        results: [
          { url: 'https://a.example/1', title: 'The <b>one</b>', content: 'Tea &amp; <em>cake</em>\n here', engine: 'x', score: 1 },
          { url: 'https://a.example/1', title: 'again', content: 'again' },
          { url: 'javascript:alert(1)', title: 'no address', content: 'c' },
          { url: 'https://b.example/2', content: null },
          { title: null },
          'nonsense',
          { url: 'https://c.example/3', title: 'cut', content: 'c' },
        ],
      })(request, response);
    });
    expect(await ask(search, 'tea & "cake" ü?', 3)).toEqual([
      { title: 'The one', url: 'https://a.example/1', snippet: 'Tea & cake here' },
      { title: 'no address', url: null, snippet: 'c' },
      { title: 'b.example', url: 'https://b.example/2', snippet: '' },
    ]);
    const { pathname, searchParams } = new URL(asked, 'http://x');
    expect([pathname, searchParams.get('q'), searchParams.get('format')]).toEqual(['/search', 'tea & "cake" ü?', 'json']);
  });

  it('finds nothing when there is nothing, and fails when its engines did', async () => {
    expect(await ask(await serve(json({ results: [] })))).toEqual([]);
    const failure = await failureOf(await serve(json({ results: [], unresponsive_engines: [['google', 'timeout']] })));
    expect(failure).toMatchObject({ code: 'SEARCH_UNAVAILABLE', detail: expect.stringContaining('engines') });
  });

  it.each([
    [403, 'search.formats'],
    [429, 'limits the rate'],
    [500, 'status 500'],
  ])('says what to do about status %i', async (status, words) => {
    expect(await failureOf(await serve(json({}, status)))).toMatchObject({
      code: 'SEARCH_UNAVAILABLE',
      detail: expect.stringContaining(words),
    });
  });

  it('is unavailable where another program answers, or too much comes', async () => {
    expect((await failureOf(await serve((_request, response) => void response.end('<html>')))).detail).toContain('Check the address');
    expect((await failureOf(await serve(json({ hits: [] })))).detail).toContain('Check the address');
    expect((await failureOf(await serve(json({ results: ['x'.repeat(5_000)] }), { maxBytes: 1_000 }))).detail).toContain(
      'longer than 1000 bytes',
    );
  });

  it('is given up in time, and names the address where nothing listens', async () => {
    expect((await failureOf(await serve(() => {}, { timeoutMs: 50 }))).detail).toContain('within 50 ms');
    const gone = await serve(() => {});
    await closing.pop()!();
    expect((await failureOf(gone)).detail).toContain('ECONNREFUSED');
    expect(await gone.health()).toContain('ECONNREFUSED');
  });

  it('closes the connection of an aborted search', async () => {
    let left = false;
    let asked = false;
    const search = await serve((_request, response) => {
      asked = true;
      response.on('close', () => (left = true));
    });
    const leaving = new AbortController();
    const failure = failureOf(search, leaving.signal);
    await until('the search', () => asked);
    leaving.abort();
    expect((await failure).code).toBe('CALL_CANCELLED');
    await until('the end of the connection', () => left);
    expect((await failureOf(search, AbortSignal.abort())).code).toBe('CALL_CANCELLED');
  });

  it('is healthy while the server answers', async () => {
    expect(await (await serve(json({}))).health()).toBeNull();
    expect(await (await serve(json({}, 503))).health()).toContain('503');
  });
});
