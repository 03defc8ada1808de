import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { batchesOf } from './batches.js';
import { ChromaVectors, type ChromaOptions } from './chroma-vectors.js';
import { metadataFrom, storedMetadata, storedName } from './stored-form.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void, rest: Partial<ChromaOptions> = {}) {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const vectors = new ChromaVectors({ url, ...rest });
  closing.push(
    () => vectors.close(),
    () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  );
  return { vectors, url };
}
const reply =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);
const scope = { tenant: 'acme', collection: 'facts' };

describe('a server that is not well', () => {
  it.each([
    [401, '{"error":"AuthError"}', 'credentials'],
    [403, '', 'credentials'],
    [429, '{}', 'status 429'],
    [500, 'oops', 'status 500'],
    [302, '', 'redirects'],
    [404, 'Not Found', 'version 2'],
    [200, '<html></html>', 'version 2'],
    [200, '{"some":"thing"}', 'unknown format'],
  ])('fails with VECTORS_UNAVAILABLE and a remedy: status %i, %s', async (status, body, words) => {
    const { vectors } = await serve(reply(status, body, { location: 'http://127.0.0.1:9/' }));
    await expect(vectors.count(scope)).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE', detail: expect.stringContaining(words) });
  });

  it('is awaited no longer than the limit', async () => {
    const { vectors } = await serve(() => undefined, { timeoutMs: 60 });
    await expect(vectors.count(scope)).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE', detail: expect.stringContaining('60 ms') });
  });

  it('is abandoned as soon as the caller cancels', async () => {
    const leaving = new AbortController();
    const { vectors } = await serve(() => leaving.abort(new Error('enough')));
    const asking = vectors.query(scope, { vector: Float32Array.of(1), limit: 1, signal: leaving.signal });
    await expect(asking).rejects.toThrow('enough');
  });

  it('is rejected if it contains a foreign collection under our name', async () => {
    const foreign = {
      id: 'x',
      metadata: { tenant: 'zeta', name: 'facts', dimension: 3 },
      configuration_json: { hnsw: { space: 'cosine' } },
    };
    const { vectors } = await serve(reply(200, JSON.stringify(foreign)));
    await expect(vectors.count(scope)).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
    const otherSpace = { ...foreign, metadata: { ...foreign.metadata, tenant: 'acme' }, configuration_json: { hnsw: { space: 'l2' } } };
    const { vectors: far } = await serve(reply(200, JSON.stringify(otherSpace)));
    await expect(far.create(scope, 3)).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
  });

  it('quotes no stored text in its refusals', async () => {
    const { vectors } = await serve(reply(400, '{"error":"InvalidArgumentError","message":"bad text: the secret"}'));
    await expect(vectors.list('acme')).rejects.toThrow('(InvalidArgumentError)');
    await expect(vectors.list('acme')).rejects.not.toThrow('secret');
  });
});

describe('credentials', () => {
  it.each<[NonNullable<ChromaOptions['credentials']>, string, string]>([
    [{ token: 't0' }, 'authorization', 'Bearer t0'],
    [{ token: 't0', header: 'x-chroma-token' }, 'x-chroma-token', 't0'],
    [{ user: 'u', password: 'p:ä' }, 'authorization', `Basic ${Buffer.from('u:p:ä').toString('base64')}`],
  ])('are sent in the form the server requires: %j', async (credentials, header, value) => {
    let sent: unknown;
    const { vectors } = await serve(
      (request, response) => {
        sent = request.headers[header];
        response.end('[]');
      },
      { credentials },
    );
    expect(await vectors.list('acme')).toEqual([]);
    expect(sent).toBe(value);
  });

  it('never follow a redirect', async () => {
    let asked = 0;
    const { url } = await serve(() => (asked += 1));
    const { vectors } = await serve(reply(307, '', { location: `${url}/api/v2` }), { credentials: { token: 't0' } });
    await expect(vectors.list('acme')).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE' });
    expect(asked).toBe(0);
  });

  it('are not part of the address', () => {
    for (const url of ['nonsense', 'ftp://x', 'http://u:p@x', 'http://x?y=1'])
      expect(() => new ChromaVectors({ url })).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID' }));
  });
});

describe('the stored form', () => {
  it('keeps values and their types, and removes earlier ones', () => {
    const metadata = { a: 1, b: '1', c: true, $and: 0.5 };
    const stored = storedMetadata(metadata, { 'v:gone': '1', 'k:gone': true, 'v:a': '7' })!;
    expect(stored['v:gone']).toBeNull();
    expect(metadataFrom(stored)).toEqual(metadata);
    expect(storedMetadata({}, null)).toBeNull();
  });

  it('assigns every collection a unique name that Chroma accepts', () => {
    const parts = ['', 'a', 'b', 'a/b', 'Ä', 'x'.repeat(512), '😀', '..', '-'];
    const names = parts.flatMap((namespace) =>
      parts.flatMap((tenant) => parts.map((collection) => storedName(namespace, { tenant, collection }))),
    );
    expect(new Set(names).size).toBe(parts.length ** 3);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{1,126}[a-z0-9]$/);
  });

  it('is sent in batches of bounded number and size, without loss', () => {
    const record = (n: number, length: number) => ({ id: `r${n}`, vector: Float32Array.of(1), text: 'x'.repeat(length), metadata: {} });
    const small = Array.from({ length: 12_000 }, (_, n) => record(n, 1));
    expect([...batchesOf(small, 1)].map((batch) => batch.length)).toEqual([5_461, 5_461, 1_078]);
    const large = Array.from({ length: 20 }, (_, n) => record(n, 1_000_000));
    const batches = [...batchesOf(large, 1)];
    expect(batches.flat()).toEqual(large);
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(7);
    expect([...batchesOf([], 3)]).toEqual([]);
  });
});
