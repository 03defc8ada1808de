import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBeside } from './provider-client.js';
import { smallRequest } from './small-request.js';

const opened: Server[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(opened.splice(0).map((server) => new Promise((done) => server.close(done).closeAllConnections())));
});

/** Address of a server on loopback. */
async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  opened.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const soon = (ms = 5_000): AbortSignal => AbortSignal.timeout(ms);
const provider = (base_url: string) => ({ base_url, api_key: 'sk-secret', local: true, paid: false });

describe('a small request', () => {
  it('sends method, headers and body, and returns status, headers and the whole text', async () => {
    const at = await serving((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        response.writeHead(201, { 'content-type': 'text/plain', 'x-seen': `${request.method} ${request.headers['x-a']}` });
        response.write('Grüße: ');
        response.end(Buffer.concat(parts));
      });
    });
    const reply = await smallRequest(new URL(at), { method: 'POST', headers: { 'x-a': 'b' }, body: 'größer', signal: soon() });
    expect(reply).toMatchObject({ ok: true, status: 201, text: 'Grüße: größer', headers: { 'x-seen': 'POST b' } });
  });

  it('throws the reason of its signal while the server is silent, before and after the headers', async () => {
    const silent = await serving(() => {});
    await expect(smallRequest(new URL(silent), { signal: soon(50) })).rejects.toMatchObject({ name: 'TimeoutError' });
    const half = await serving((_request, response) => void response.writeHead(200).write('half'));
    await expect(smallRequest(new URL(half), { signal: soon(50) })).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('throws the code of the connection when nothing listens', async () => {
    const at = await serving(() => {});
    await new Promise((done) => opened.pop()!.close(done));
    await expect(smallRequest(new URL(at), { signal: soon() })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('throws when the server breaks off in the middle of its reply', async () => {
    const at = await serving((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    });
    await expect(smallRequest(new URL(at), { signal: soon() })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('a list of models', () => {
  it('is read without `fetch`, which costs a start 90 ms of processor time', async () => {
    const fetched = jest.spyOn(globalThis, 'fetch');
    const at = await serving((_request, response) => response.setHeader('content-type', 'application/json').end('{"data":[{"id":"m"}]}'));
    await expect(readBeside(provider(`${at}/v1`), 'models', soon())).resolves.toEqual({ data: [{ id: 'm' }] });
    expect(fetched).not.toHaveBeenCalled();
  });

  it('follows no redirect, so that the key reaches no other server', async () => {
    const keys: unknown[] = [];
    const other = await serving((request, response) => {
      keys.push(request.headers.authorization);
      response.end('{}');
    });
    const at = await serving((_request, response) => response.writeHead(302, { location: other }).end());
    await expect(readBeside(provider(`${at}/v1`), 'models', soon())).rejects.toMatchObject({ status: 302 });
    expect(keys).toEqual([]);
  });

  it('reports the message and the wait of a refusal', async () => {
    const at = await serving((_request, response) =>
      response.writeHead(429, { 'retry-after': '7', 'content-type': 'text/plain' }).end('Too many lists.'),
    );
    const error: unknown = await readBeside(provider(`${at}/v1`), 'models', soon()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 429, said: { message: 'Too many lists.' }, headers: { 'retry-after': '7' } });
  });
});
