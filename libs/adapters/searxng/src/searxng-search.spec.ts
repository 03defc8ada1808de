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
const json =
  (value: unknown, status = 200) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const ask = (search: Search, query = 'q', limit = 5, signal = new AbortController().signal): Promise<readonly SearchHit[]> =>
  search.query({ query, limit, signal });
const failureOf = (search: Search, signal?: AbortSignal): Promise<Failure> =>
  ask(search, 'q', 5, signal).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: unknown) => (error instanceof Failure ? error : Promise.reject(error)),
  );

describe('SearXNG', () => {
  it('receives the whole query, and returns hits without HTML, once per address, no more than requested', async () => {
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

  it.each([
    ['&Auml;rger &amp;lt; <em class="a>b">k&uuml;hl</em>', 'Ärger &lt; kühl'],
    ['if a<b then c &lt; d, List<String', 'if a<b then c < d, List<String'],
    ['5 < 6 and 7 > 6 <!-- no --> &nosuch; &#8217;', '5 < 6 and 7 > 6 &nosuch; ’'],
    [`cut${' <i>'.repeat(400_000)}`, 'cut'],
  ])('reads the HTML of %.30s', async (content, snippet) => {
    const search = await serve(json({ results: [{ url: 'https://a.example/1', title: 't', content }] }));
    expect(await ask(search)).toEqual([{ title: 't', url: 'https://a.example/1', snippet }]);
  });

  it('returns each page once and in a form that a person can open, however engines spell it', async () => {
    const found = await ask(
      await serve(
        json({
          results: [
            { url: 'https://www.a.example/x/?utm_source=s#part', title: 'A', content: '' },
            { url: 'http://a.example/x', title: 'A again', content: 'The text of A&#8217;s page &#x2014; &hellip;' },
            { url: 'https://a.example/x?page=2', title: 'Page two', content: 'other' },
            { url: ' https://b.example/ä ö ', title: 'B\u202E\u200B', content: 'hid\u{E0041}den' },
            { url: 'JavaScript:alert(1)//https://x', title: 'script', content: 's' },
            { url: 'data:text/html,<script>', title: 'data', content: 'd' },
            { url: 'https://user:secret@c.example/', title: 'user', content: 'u' },
            { url: `https://d.example/${'x'.repeat(3_000)}`, title: 'long', content: 'l' },
            { url: 'https://', title: 'none', content: 'n' },
            { url: 7, title: 8, content: 'numbers' },
          ],
        }),
      ),
      'q',
      20,
    );
    expect(found).toEqual([
      { title: 'A', url: 'https://www.a.example/x/?utm_source=s#part', snippet: 'The text of A’s page — …' },
      { title: 'Page two', url: 'https://a.example/x?page=2', snippet: 'other' },
      { title: 'B', url: 'https://b.example/%C3%A4%20%C3%B6', snippet: 'hidden' },
      ...['script', 'data', 'user', 'long', 'none'].map((title) => ({ title, url: null, snippet: title[0] })),
      { title: '', url: null, snippet: 'numbers' },
    ]);
  });

  it('receives the credentials of its address, which are shown nowhere', async () => {
    let given: string | undefined = '';
    const search = await serve((request, response) => {
      given = request.headers.authorization;
      json({ results: [] })(request, response);
    });
    const address = new URL(search.description.replace('web search of ', ''));
    const guarded = openSearxng({ url: `http://me:p%40ss@${address.host}/` });
    expect(await ask(guarded, 'x'.repeat(5_000))).toEqual([]);
    expect([given, guarded.description]).toEqual([
      `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
      `web search of http://${address.host}`,
    ]);
  });

  it('reports how long to wait before the next search', async () => {
    const limited = (header: string) => serve((_request, response) => void response.writeHead(429, { 'retry-after': header }).end());
    expect((await failureOf(await limited('7'))).options.retryAfterMs).toBe(7_000);
    const { retryAfterMs = 0 } = (await failureOf(await limited(new Date(Date.now() + 60_000).toUTCString()))).options;
    expect([retryAfterMs > 50_000, retryAfterMs <= 60_000]).toEqual([true, true]);
    expect((await failureOf(await limited('soon'))).options.retryAfterMs).toBeUndefined();
  });

  it('is abandoned when it sends its headers and then nothing', async () => {
    const search = await serve(
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"res'),
      {
        timeoutMs: 60,
      },
    );
    expect((await failureOf(search)).detail).toContain('within 60 ms');
  });

  it('returns an empty list if nothing is found, and fails if its engines failed', async () => {
    expect(await ask(await serve(json({ results: [] })))).toEqual([]);
    const failure = await failureOf(await serve(json({ results: [], unresponsive_engines: [['google', 'timeout']] })));
    expect(failure).toMatchObject({ code: 'SEARCH_UNAVAILABLE', detail: expect.stringContaining('engines') });
  });

  it.each([
    [403, 'search.formats'],
    [429, 'limits the rate'],
    [302, 'redirects to another address'],
    [500, 'status 500'],
  ])('says what to do about status %i', async (status, words) => {
    expect(await failureOf(await serve(json({}, status)))).toMatchObject({
      code: 'SEARCH_UNAVAILABLE',
      detail: expect.stringContaining(words),
    });
  });

  it('is unavailable if another program answers, or if too much arrives', async () => {
    expect((await failureOf(await serve((_request, response) => void response.end('<html>')))).detail).toContain('Check the address');
    expect((await failureOf(await serve(json({ hits: [] })))).detail).toContain('Check the address');
    expect((await failureOf(await serve(json({ results: ['x'.repeat(5_000)] }), { maxBytes: 1_000 }))).detail).toContain(
      'longer than 1000 bytes',
    );
  });

  it('is abandoned in time, and names the address if nothing listens there', async () => {
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
