import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { ask, bare, closing, codeOf, open, watch } from './__fixtures__/servers.js';

const list = JSON.stringify({
  object: 'list',
  data: [
    { id: 'm', object: 'model' },
    { id: 'offered', object: 'model' },
  ],
});
const whole = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] });
interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

/** A model server that records what it receives. */
async function recording(): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const url = await bare((request: IncomingMessage, response: ServerResponse) => {
    seen.push({ path: request.url!, headers: request.headers });
    response.setHeader('content-type', 'application/json').end(request.method === 'GET' ? list : whole);
  });
  return { url, seen };
}

describe('configured headers', () => {
  it('go with the list of models and with each call, beside the key', async () => {
    const { url, seen } = await recording();
    const models = open(url, {
      api_key: 'sk-1',
      headers: { 'http-referer': 'https://example.org', 'x-title': 'Conclave', 'user-agent': 'ours' },
    });
    await models.list();
    await models.call(ask(), watch());
    expect(seen).toHaveLength(2);
    for (const { headers } of seen)
      expect(headers).toMatchObject({
        authorization: 'Bearer sk-1',
        'http-referer': 'https://example.org',
        'x-title': 'Conclave',
        'user-agent': 'ours',
      });
  });

  it('are absent without configuration, whatever the environment says', async () => {
    const { url, seen } = await recording();
    process.env['OPENAI_ORG_ID'] = 'org-other';
    try {
      await open(url).call(ask(), watch());
    } finally {
      delete process.env['OPENAI_ORG_ID'];
    }
    expect(Object.keys(seen[0]!.headers)).not.toEqual(expect.arrayContaining(['openai-organization']));
    expect(seen[0]!.headers.authorization).toBeUndefined();
  });
});

describe("Azure's older form", () => {
  it('has the deployment and the version in the address, and the key as api-key', async () => {
    const { url, seen } = await recording();
    const azure = open(url.replace(/\/v1$/, '/openai'), { api_key: 'azure-key', azure_api_version: '2024-10-21' });
    expect((await azure.call(ask('hello', { model: 'my-gpt@p' }), watch())).content).toBe('hi');
    expect(seen[0]!.path).toBe('/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21');
    expect(seen[0]!.headers).toMatchObject({ 'api-key': 'azure-key' });
    expect(seen[0]!.headers.authorization).toBeUndefined();
  });

  it('knows the configured deployments alone, because Azure lists what could be deployed', async () => {
    const { url, seen } = await recording();
    const models = { 'my-gpt@p': { context: 128_000 } };
    const azure = open(url.replace(/\/v1$/, '/openai'), { api_key: 'azure-key', azure_api_version: '2024-10-21' }, { models });
    expect((await azure.list()).map(({ ref }) => ref)).toEqual(['my-gpt@p']);
    expect(seen[0]!.path).toBe('/openai/models?api-version=2024-10-21');
    expect(seen[0]!.headers).toMatchObject({ 'api-key': 'azure-key' });
  });
});

describe('a proxy', () => {
  const names = ['HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  /** A proxy that leads every host to the server at `target`; records the hosts that it was asked for. */
  async function proxyTo(target: string): Promise<{ readonly url: string; readonly hosts: string[] }> {
    const hosts: string[] = [];
    const proxy = createServer().on('connect', (request: IncomingMessage, client, head) => {
      hosts.push(request.url!);
      const server = connect(Number(new URL(target).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        server.write(head);
        server.pipe(client).pipe(server);
      });
      server.on('error', () => client.destroy());
      client.on('error', () => server.destroy());
      closing.push(async () => void client.destroy());
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    closing.push(() => new Promise((done) => proxy.close(done)));
    return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, hosts };
  }

  it('from the environment leads to model servers elsewhere, for lists and calls', async () => {
    const { url, seen } = await recording();
    const proxy = await proxyTo(url);
    process.env['HTTP_PROXY'] = proxy.url;
    const models = open('http://models.example:8000/v1');
    expect((await models.list()).map(({ ref }) => ref)).toEqual(['m@p', 'offered@p']);
    expect((await models.call(ask(), watch())).content).toBe('hi');
    expect(new Set(proxy.hosts)).toEqual(new Set(['models.example:8000']));
    expect(seen.map(({ path }) => path)).toEqual(['/v1/models', '/v1/chat/completions']);
  });

  it('is not used for this machine, nor for a host in NO_PROXY', async () => {
    const { url } = await recording();
    const proxy = await proxyTo(url);
    process.env['HTTP_PROXY'] = proxy.url;
    process.env['NO_PROXY'] = 'models.invalid';
    expect((await open(url).call(ask(), watch())).content).toBe('hi');
    expect(await codeOf(open('http://models.invalid:8000/v1').call(ask(), watch()))).toBe('PROVIDER_UNREACHABLE');
    expect(proxy.hosts).toEqual([]);
  });
});
