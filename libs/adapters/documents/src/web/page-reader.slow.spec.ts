import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import type { Page, PageReader } from '@conclave/ports';
import { describePageReader } from '@conclave/ports/suites';
import { until } from '@conclave/test-support';
import { tinyPdf } from '../__fixtures__/tiny-pdf.js';
import { openPageReader, type PageReaderOptions } from './page-reader.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(handle: Handle): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections()));
  return { port: (server.address() as AddressInfo).port, close };
}

describePageReader('The reader of web pages', {
  async open(pages) {
    const server = await serving((request, response) => {
      const page = pages[request.url!];
      if (!page) return void response.writeHead(503).end();
      const body = page.paragraphs.map((text) => `<p>${text}</p>`).join('');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<html><head><title>${page.title}</title></head><body><nav>Home | About</nav><main>${body}</main></body></html>`);
    });
    const reader = openPageReader({ allowHosts: [`127.0.0.1:${server.port}`], reading: { processes: 1 } });
    const dispose = async (): Promise<void> => (await reader.close(), server.close());
    return { reader, urlOf: (path) => `http://127.0.0.1:${server.port}${path}`, dispose };
  },
});

let answer: Handle;
let asked: string[] = [];
let port = 0;
let closeServer: () => Promise<void>;
let reader: PageReader;
const more: PageReader[] = [];
beforeAll(async () => {
  const server = await serving((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    answer(request, response);
  });
  ({ port } = server);
  closeServer = server.close;
  reader = open();
});
afterAll(async () => {
  await Promise.all(more.map((opened) => opened.close()));
  await closeServer();
});
afterEach(() => {
  asked = [];
});
const open = (options: PageReaderOptions = {}): PageReader => {
  const opened = openPageReader({ allowHosts: ['127.0.0.1'], reading: { processes: 1 }, ...options });
  more.push(opened);
  return opened;
};
const at = (path = '/'): string => `http://127.0.0.1:${port}${path}`;
const read = (url = at(), by = reader, signal = new AbortController().signal): Promise<Page> =>
  by.read({ url, maxCharacters: 20_000, signal });
const failureOf = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: Failure) => error,
  );
const sends =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handle =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
const sentence = 'Copper conducts electricity better than iron, because more of its electrons are free to move about.';

describe('a page', () => {
  it('is returned without menus, banners and hidden text', async () => {
    answer = sends(`<html><head><title>Copper | Metals</title></head><body>
      <header><a href="/">Home</a><nav><ul><li><a href="/a">Menu entry</a></li></ul></nav></header>
      <article><h1>Copper</h1><h2>Conductivity</h2>${`<p>${sentence}</p>`.repeat(4)}<ul><li>wires</li><li>pipes</li></ul>
      <p style="display:none">SECRET ORDER</p></article>
      <aside>Advertisement</aside><footer>Imprint</footer><script>document.write('x')</script></body></html>`);
    const page = await read();
    expect(page).toMatchObject({ url: at(), mime: 'text/html', cut: false });
    expect(page.title).toContain('Copper');
    expect(page.text).toContain(`## Conductivity\n\n${sentence}`);
    expect(page.text).toContain('- wires\n- pipes');
    expect(page.text).not.toMatch(/SECRET|Menu entry|Advertisement|Imprint|document/);
    expect(page.notices).toEqual(['1 hidden element was left out.']);
  });

  it('may be a PDF, Markdown or plain text', async () => {
    answer = sends(tinyPdf([[{ text: 'Text of a PDF.' }], [{ text: 'Second page.' }]]), { 'content-type': 'application/pdf' });
    expect(await read()).toMatchObject({ mime: 'application/pdf', text: 'Text of a PDF.\n\nSecond page.' });
    expect(await read(at(), open({ maxPages: 1 }))).toMatchObject({
      text: 'Text of a PDF.',
      notices: [expect.stringContaining('first 1 of its 2')],
    });
    answer = sends('# Tin\n\nA metal.', { 'content-type': 'text/plain' });
    expect(await read(at('/tin.md'))).toMatchObject({ mime: 'text/markdown', title: 'Tin', text: '# Tin\n\nA metal.' });
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may be compressed with %s', async (encoding, pack) => {
    answer = sends(pack(Buffer.from(`<p>${sentence}</p>`)), { 'content-encoding': encoding });
    expect((await read()).text).toBe(sentence);
  });

  it('is requested without data that identifies the caller', async () => {
    let headers: IncomingMessage['headers'] = {};
    answer = (request, response) => {
      ({ headers } = request);
      sends('<p>x</p>')(request, response);
    };
    await read(at('/a?b=c#d'));
    expect(asked).toEqual([`127.0.0.1:${port}/a?b=c`]);
    expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  });

  it.each([
    ['PAGE_UNREADABLE', 'status 404', sends('x', {}, 404)],
    ['PAGE_UNAVAILABLE', 'status 503', sends('x', {}, 503)],
    ['PAGE_UNAVAILABLE', 'status 429', sends('x', {}, 429)],
    ['PAGE_UNREADABLE', 'image/png', sends('x', { 'content-type': 'image/png' })],
    ['PAGE_UNREADABLE', 'compression', sends('x', { 'content-encoding': 'zstd' })],
    ['PAGE_UNREADABLE', 'empty', sends('')],
    ['PAGE_UNREADABLE', 'no text', sends('<p hidden>x</p>')],
    ['PAGE_UNREADABLE', 'broken', sends('%PDF-1.4 nonsense', { 'content-type': 'application/pdf' })],
    ['PAGE_UNAVAILABLE', 'connection', sends('no gzip', { 'content-encoding': 'gzip' })],
    [
      'PAGE_UNAVAILABLE',
      'ECONNRESET',
      (_request: IncomingMessage, response: ServerResponse): void => void response.socket?.resetAndDestroy(),
    ],
    [
      'PAGE_UNAVAILABLE',
      'connection',
      (_request: IncomingMessage, response: ServerResponse): void => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' });
        response.write('<p>half', () => response.socket?.destroy());
      },
    ],
  ] as const)('fails as %s: %s', async (code, words, handle) => {
    answer = handle;
    expect(await failureOf(read())).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  it('is no larger than allowed, whatever its compression', async () => {
    const small = open({ maxBytes: 50_000 });
    const zeros = Buffer.alloc(5 * 1024 * 1024, 'a');
    for (const handle of [
      sends(zeros.subarray(0, 60_000)),
      sends(gzipSync(zeros), { 'content-encoding': 'gzip' }),
      sends(brotliCompressSync(zeros), { 'content-encoding': 'br' }),
      (_request: IncomingMessage, response: ServerResponse): void => {
        response.writeHead(200, { 'content-type': 'text/html' });
        const pour = (): void => {
          while (!response.destroyed && response.write(zeros.subarray(0, 16_000)));
          if (!response.destroyed) response.once('drain', pour);
        };
        pour();
      },
    ]) {
      answer = handle;
      expect((await failureOf(read(at(), small))).code).toBe('PAGE_TOO_LARGE');
    }
  });

  it('arrives in time or fails, even when it arrives byte by byte', async () => {
    const hasty = open({ timeoutMs: 120 });
    answer = () => undefined;
    expect((await failureOf(read(at(), hasty))).message).toContain('within 120 ms');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const drops = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(drops));
    };
    expect((await failureOf(read(at(), hasty))).message).toContain('within 120 ms');
    const never = open({ timeoutMs: 50, allowHosts: ['slow.example'], resolve: () => new Promise(() => undefined) });
    expect((await failureOf(read('http://slow.example/', never))).code).toBe('PAGE_UNAVAILABLE');
  });

  it('is abandoned at once when the caller cancels or the reader closes', async () => {
    let left = false;
    answer = (_request, response) => void response.on('close', () => (left = true));
    const leaving = new AbortController();
    const failure = failureOf(read(at(), reader, leaving.signal));
    await until('the request', () => asked.length === 1);
    leaving.abort();
    expect((await failure).code).toBe('CALL_CANCELLED');
    await until('the end of the connection', () => left);
    const other = open();
    const waiting = failureOf(read(at(), other));
    await until('the second request', () => asked.length === 2);
    await other.close();
    expect((await waiting).code).toBe('SHUTTING_DOWN');
  });

  it('is read without a parser when it would overload the parser', async () => {
    answer = sends(`<title>Deep</title>${'<div>'.repeat(50_000)}${sentence}`);
    expect(await read()).toMatchObject({ title: 'Deep', text: sentence, notices: [expect.stringContaining('too deeply nested')] });
  });
});

describe('an address inside the network', () => {
  const redirect =
    (...locations: readonly string[]): Handle =>
    (request, response) => {
      const hop = Number(request.url!.slice(1) || 0);
      const location = locations[hop];
      if (location === undefined) return sends(`<p>${sentence}</p>`)(request, response);
      response.writeHead(302, { location, 'content-type': 'text/html' }).end();
    };

  it('is reached only for an allowed host', async () => {
    answer = sends('<p>inside</p>');
    for (const allowHosts of [[], ['127.0.0.2'], ['localhost'], [`127.0.0.1:${port + 1}`]])
      expect((await failureOf(read(at(), open({ allowHosts })))).code).toBe('PAGE_REFUSED');
    expect(asked).toEqual([]);
    expect((await read(at(), open({ allowHosts: [`127.0.0.1:${port}`] }))).text).toBe('inside');
  });

  it('is refused behind a host name, when connecting', async () => {
    let resolved = 0;
    const rebinding = (addresses: readonly string[]): PageReader =>
      open({
        allowHosts: [],
        resolve: async () => {
          resolved += 1;
          return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        },
      });
    for (const addresses of [
      ['127.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['169.254.169.254'],
      ['0.0.0.0'],
      ['::1'],
    ]) {
      expect((await failureOf(read('http://rebind.example:8080/', rebinding(addresses)))).code).toBe('PAGE_REFUSED');
    }
    // Once per connection: the name is not resolved again between the check and the use.
    expect(resolved).toBe(6);
    expect((await failureOf(read('http://localhost:8080/', open({ allowHosts: [] })))).code).toBe('PAGE_REFUSED');
    expect(asked).toEqual([]);
  });

  it('is the one that was checked, whatever the name resolves to later', async () => {
    answer = sends('<p>wiki</p>');
    const told = ['127.0.0.1', '169.254.169.254'];
    const wiki = open({ allowHosts: ['wiki.intern'], resolve: async () => [{ address: told.shift()!, family: 4 }] });
    expect((await read(`http://wiki.intern:${port}/`, wiki)).text).toBe('wiki');
    expect(asked).toEqual([`wiki.intern:${port}/`]);
    expect((await failureOf(read(`http://wiki.intern:${port}/`, wiki))).code).toBe('PAGE_REFUSED');
  });

  it('is refused when a redirect leads there', async () => {
    for (const location of [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      'http://2130706433/',
      'http://u:p@127.0.0.1/',
      'http://example.org:22/',
    ]) {
      answer = redirect(location);
      expect([location, (await failureOf(read())).code]).toEqual([location, 'PAGE_REFUSED']);
    }
    answer = redirect('/1', `http://127.0.0.1:${port}/2`, '//127.0.0.1:1/');
    const narrow = open({ allowHosts: [`127.0.0.1:${port}`] });
    expect((await failureOf(read(at('/0'), narrow))).code).toBe('PAGE_REFUSED');
    answer = redirect('/1', '/2?x=y');
    expect((await read(at('/0'), narrow)).url).toBe(at('/2?x=y'));
  });

  it('is not reached by an endless chain of redirects', async () => {
    answer = (request, response) => void response.writeHead(302, { location: request.url! }).end();
    expect((await failureOf(read())).message).toContain('more than 5 times');
    expect(asked).toHaveLength(6);
  });
});
