import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import { openWebhookSender, type WebhookSenderOptions } from './webhook-sender.js';

let server: Server;
let port = 0;
let retryAfter: string | null = null;
let seen: { readonly request: IncomingMessage; readonly body: string }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      seen.push({ request, body });
      const [, status] = /^\/(\d{3})/.exec(request.url ?? '') ?? [];
      if (request.url === '/held') return;
      if (request.url === '/endless') return void response.writeHead(200).write('a');
      response
        .writeHead(Number(status ?? 204), {
          location: `http://127.0.0.1:${port}/elsewhere`,
          ...(retryAfter ? { 'retry-after': retryAfter } : {}),
        })
        .end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  seen = [];
  retryAfter = null;
});
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const names: Readonly<Record<string, string>> = {
  'hooks.example': '127.0.0.1',
  'inside.example': '10.0.0.5',
  'metadata.example': '169.254.169.254',
  'public.example': '93.184.216.34',
};
const resolve = async (host: string) => [{ address: names[host]!, family: 4 }];
const post = (url: string, options: WebhookSenderOptions = {}, by: 'operator' | 'client' = 'operator') =>
  openWebhookSender({ resolve, timeoutMs: 2_000, ...options }).post({
    ...{ url, by, body: '{"a":"é"}', headers: { 'webhook-id': 'x' } },
    signal: new AbortController().signal,
  });
const failureOf = (pending: Promise<unknown>): Promise<Pick<Failure, 'code' | 'message'>> =>
  pending.then(
    () => ({ code: 'INTERNAL', message: 'It was delivered.' }),
    ({ code, message }: Failure) => ({ code, message }),
  );
const operatorHosts = () => [`hooks.example:${port}`];

describe('a delivery', () => {
  it('is one POST with its body and headers', async () => {
    await post(`http://hooks.example:${port}/a?b=c`, { operatorHosts: operatorHosts() });
    expect(seen.map(({ request, body }) => [request.method, request.url, body])).toEqual([['POST', '/a?b=c', '{"a":"é"}']]);
    expect(seen[0]!.request.headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'content-length': '10', 'webhook-id': 'x', host: `hooks.example:${port}` },
    });
  });

  it.each([200, 201, 204])('is accepted with status %d, whatever follows it', async (status) => {
    await post(`http://hooks.example:${port}/${status}`, { operatorHosts: operatorHosts() });
    await post(`http://hooks.example:${port}/endless`, { operatorHosts: operatorHosts() });
  });

  it.each([400, 404, 410, 429, 500, 503])('fails with status %d', async (status) => {
    const { code, message } = await failureOf(post(`http://hooks.example:${port}/${status}/k3y`, { operatorHosts: operatorHosts() }));
    expect([code, message]).toEqual(['WEBHOOK_FAILED', expect.stringContaining(`hooks.example:${port} answers with status ${status}.`)]);
    expect(message).not.toContain('k3y');
  });

  it.each([
    ['7', 7_000],
    [new Date(Date.now() + 90_000).toUTCString(), 90_000],
    ['soon', undefined],
  ])('fails with the wait that the receiver asks for with `Retry-After: %s`', async (asked, wait) => {
    retryAfter = asked;
    for (const status of [429, 503]) {
      const failed = post(`http://hooks.example:${port}/${status}`, { operatorHosts: operatorHosts() });
      const { options } = await failed.then(
        () => Promise.reject(new Error('It was delivered.')),
        (failure: Failure) => failure,
      );
      if (wait === undefined) expect(options.retryAfterMs).toBeUndefined();
      else expect(Math.abs(options.retryAfterMs! - wait)).toBeLessThan(5_000);
    }
  });

  it.each([301, 302, 307, 308])('follows no redirect (%d): nobody else receives what was signed', async (status) => {
    expect(await failureOf(post(`http://hooks.example:${port}/${status}`, { operatorHosts: operatorHosts() }))).toMatchObject({
      code: 'WEBHOOK_FAILED',
      message: expect.stringContaining('redirect'),
    });
    expect(seen).toHaveLength(1);
  });

  it('ends at its time-out, when its caller cancels, and if nothing listens, and reveals no more than the host', async () => {
    const options = { operatorHosts: operatorHosts(), timeoutMs: 50 };
    expect(await failureOf(post(`http://hooks.example:${port}/held`, options))).toMatchObject({
      code: 'WEBHOOK_FAILED',
      message: expect.stringContaining('did not answer within 50 ms'),
    });
    const refused = await failureOf(post('http://hooks.example:1/s3cret', { operatorHosts: ['hooks.example'] }));
    expect([refused.code, refused.message]).toEqual(['WEBHOOK_FAILED', expect.stringContaining('cannot be reached (ECONNREFUSED)')]);
    expect(refused.message).not.toContain('s3cret');
    const abort = new AbortController();
    const pending = openWebhookSender({ resolve, ...options, timeoutMs: 10_000 }).post({
      ...{ url: `http://hooks.example:${port}/held`, by: 'operator', body: '', headers: {}, signal: abort.signal },
    });
    abort.abort();
    expect(await failureOf(pending)).toMatchObject({ code: 'CALL_CANCELLED' });
  });
});

describe('the address of a client', () => {
  const check = (url: string, clientHosts: readonly string[]): string => {
    try {
      openWebhookSender({ clientHosts, operatorHosts: ['ours.example'] }).check(url);
      return 'allowed';
    } catch (error) {
      return (error as Failure).code;
    }
  };

  it.each([
    ['https://hooks.example/x', ['hooks.example'], 'allowed'],
    ['http://hooks.example:9000/x', ['hooks.example:9000'], 'allowed'],
    ['http://10.0.0.9:9000/x', ['10.0.0.9:9000'], 'allowed'],
    ['https://anything.example/x', ['*'], 'allowed'],
    ['https://hooks.example/x', [], 'WEBHOOK_REFUSED'],
    ['https://ours.example/x', [], 'WEBHOOK_REFUSED'],
    ['https://sub.hooks.example/x', ['hooks.example'], 'WEBHOOK_REFUSED'],
    ['https://hooks.example:8443/x', ['hooks.example:443'], 'WEBHOOK_REFUSED'],
    ['http://anything.example/x', ['*'], 'WEBHOOK_REFUSED'],
    ['https://user:pass@hooks.example/x', ['hooks.example'], 'WEBHOOK_REFUSED'],
    ['https://127.0.0.1/x', ['*'], 'WEBHOOK_REFUSED'],
    ['https://2130706433/x', ['*'], 'WEBHOOK_REFUSED'],
    ['https://[::1]/x', ['*'], 'WEBHOOK_REFUSED'],
    ['https://169.254.169.254/latest', ['*', '169.254.169.254'], 'WEBHOOK_REFUSED'],
    ['file:///etc/passwd', ['*'], 'WEBHOOK_REFUSED'],
    [`https://hooks.example/${'x'.repeat(2_100)}`, ['hooks.example'], 'WEBHOOK_REFUSED'],
  ])('%s with the hosts %j: %s', (url, hosts, result) => {
    expect(check(url, hosts)).toBe(result);
  });

  it('is checked again when its name is resolved: no allow-list of the public web leads inside', async () => {
    const options = { clientHosts: ['*'] };
    for (const name of ['inside.example', 'metadata.example', 'hooks.example'])
      expect([name, (await failureOf(post(`https://${name}/`, options, 'client'))).code]).toEqual([name, 'WEBHOOK_REFUSED']);
    expect((await failureOf(post('http://metadata.example/', { operatorHosts: ['metadata.example'] }))).code).toBe('WEBHOOK_REFUSED');
    expect(seen).toEqual([]);
    await post(`http://hooks.example:${port}/`, { clientHosts: [`hooks.example:${port}`] }, 'client');
    expect(seen).toHaveLength(1);
  });

  it('of a wrong entry in the list is refused at the start', () => {
    expect(() => openWebhookSender({ clientHosts: ['https://x/y'] })).toThrow('webhook_delivery.client_hosts');
  });
});
