import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import { openRemoteFiles } from './remote-files.js';

let server: Server;
let port = 0;
let hits = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1;
    if (request.url === '/away') return void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    if (request.url === '/slow') return void response.writeHead(200).write('a');
    response.end(Buffer.alloc(request.url === '/big' ? 5_000 : 10, 7));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const names: Readonly<Record<string, string>> = {
  'pictures.example': '127.0.0.1',
  '10.0.0.5.nip.io': '10.0.0.5',
  'metadata.example': '169.254.169.254',
  'mapped.example': '::ffff:10.0.0.1',
  'nat64.example': '64:ff9b::a00:5',
  'local.example': 'fd00::1',
};
const resolve = async (host: string) => [{ address: names[host]!, family: names[host]!.includes(':') ? 6 : 4 }];
const read = (url: string, { allowHosts = [], timeoutMs = 2_000 }: { allowHosts?: string[]; timeoutMs?: number } = {}) =>
  openRemoteFiles({ resolve, allowHosts, timeoutMs }).read({ url, maxBytes: 1_000, signal: new AbortController().signal });
const codeOf = (pending: Promise<unknown>): Promise<string> =>
  pending.then(
    () => 'read',
    (error: unknown) => (error as Failure).code,
  );

describe('a file at an address', () => {
  it('is read, bounded in size and time', async () => {
    const allowHosts = [`pictures.example:${port}`];
    expect(Buffer.from(await read(`http://pictures.example:${port}/x`, { allowHosts })).equals(Buffer.alloc(10, 7))).toBe(true);
    expect(await codeOf(read(`http://pictures.example:${port}/big`, { allowHosts }))).toBe('PAGE_TOO_LARGE');
    expect(await codeOf(read(`http://pictures.example:${port}/slow`, { allowHosts, timeoutMs: 50 }))).toBe('PAGE_UNAVAILABLE');
    expect(await codeOf(read(`http://pictures.example:${port}/away`, { allowHosts }))).toBe('PAGE_REFUSED');
  });

  it.each([
    'http://pictures.example/x',
    'http://10.0.0.5.nip.io/x',
    'http://metadata.example/latest',
    'http://mapped.example/x',
    'http://nat64.example/x',
    'http://local.example/x',
    'http://127.0.0.1/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'http://0177.0.0.1/x',
    'http://[::ffff:10.0.0.1]/x',
    'http://[64:ff9b::a00:5]/x',
    'http://[::1]/x',
    'file:///etc/passwd',
    'ftp://pictures.example/x',
    'http://u:p@pictures.example/x',
    'http://pictures.example:22/x',
  ])('is refused outside the public web: %s', async (url) => {
    const before = hits;
    expect(await codeOf(read(url))).toBe('PAGE_REFUSED');
    expect(hits).toBe(before);
  });
});
