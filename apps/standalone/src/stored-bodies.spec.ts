import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { until } from '@conclave/test-support';
import { up, type RunningServer } from './commands/up.js';

jest.setTimeout(60_000);

const sink = { write: () => true };
const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const text = '# Tides\n\nThe tide of Brest is high at noon.\n';
let home: string;
let running: RunningServer | null = null;
/** Objects by path, and how requests were signed. */
const objects = new Map<string, Buffer>();
const signed: string[] = [];
let bucket: Server;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'conclave-bodies-'));
  objects.clear();
  signed.length = 0;
  bucket = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      signed.push(String(request.headers.authorization));
      if (request.method === 'PUT') objects.set(request.url!, Buffer.concat(parts));
      const found = objects.get(request.url!);
      response.writeHead(found ? 200 : 404).end(request.method === 'GET' ? found : undefined);
    });
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await running?.close();
  running = null;
  bucket.closeAllConnections();
  await new Promise((resolve) => bucket.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

async function start(blobs: object | null, upload = 5_000): Promise<void> {
  const configuration = {
    ...(blobs ? { stores: { blobs } } : {}),
    gateway: { max_tenant_upload_bytes: upload },
    mcp: { precision: { enabled: false } },
  };
  writeFileSync(join(home, 'conclave.yaml'), JSON.stringify(configuration));
  const places = { CONCLAVE_HOME: join(home, 'data'), CONCLAVE_CONFIG: join(home, 'conclave.yaml') };
  const variables = { ...places, PORT: '0', LOG_LEVEL: 'silent', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' };
  const loaded = loadConfiguration(variables, home, { categories: Object.keys(expertPrompts) });
  running = await up({ loaded, out: sink, terminal: sink, localServers });
}
const post = (path: string, body: object) =>
  fetch(`${running!.listening.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
/** Uploads a document and returns its state once it was read. */
async function uploaded(name: string): Promise<string> {
  await post('/collections', { name: 'harbours', description: 'Tides.' });
  const response = await post('/collections/harbours/documents', { name, mime: 'text/markdown', text });
  expect(response.status).toBe(202);
  const { id } = (await response.json()) as { id: string };
  return until(
    'the document to be read',
    async () => {
      const document = await (await fetch(`${running!.listening.url}/v1/collections/harbours/documents/${id}`)).json();
      const { status } = document as { status: string };
      return ['ready', 'failed'].includes(status) && status;
    },
    { timeoutMs: 30_000 },
  );
}
const filesIn = (folder: string): readonly string[] =>
  (readdirSync(folder, { recursive: true, withFileTypes: true }) as { isFile(): boolean; parentPath: string; name: string }[])
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));

describe('uploaded documents', () => {
  it('are kept in the folder of `stores.blobs`, relative to the file, and read from there, within the quota of the tenant', async () => {
    await start({ folder: './bodies' }, 1_024);
    expect(await uploaded('tides.md')).toBe('ready');
    expect(filesIn(join(home, 'bodies'))).toEqual([text]);
    const over = await post('/collections/harbours/documents', { name: 'more.md', mime: 'text/markdown', text: text.repeat(30) });
    expect([over.status, filesIn(join(home, 'bodies')).length]).toEqual([413, 1]);
  });

  it('are kept in a bucket, and read from there', async () => {
    const { port } = bucket.address() as AddressInfo;
    await start({ s3: { url: `http://127.0.0.1:${port}`, bucket: 'our-bodies', region: 'eu-west-1' } });
    expect(await uploaded('tides.md')).toBe('ready');
    expect([...objects].map(([path, body]) => [path.replace(/[0-9a-f]{64}$/, '<hash>'), String(body)])).toEqual([
      ['/our-bodies/conclave/<hash>', text],
    ]);
    for (const one of signed) expect(one).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/s3\/aws4_request/);
  });

  it('need one place', async () => {
    for (const blobs of [{}, { folder: './bodies', s3: { url: 'http://127.0.0.1:9', bucket: 'bodies' } }])
      await expect(start(blobs)).rejects.toThrow('either `folder` or `s3`');
  });
});
