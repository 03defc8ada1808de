import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunResult, Webhooks } from '@conclave/ports';
import { openWebhooks, type ConfiguredWebhook } from './open-webhooks.js';
import { webhookRequest } from './webhook-request.js';

const result: RunResult = {
  run: 'run_00000001',
  template: 'goal',
  outcome: 'completed',
  reason: 'All steps are done.',
  question: 'Who founded it?',
  answer: 'Ada Quill [1].',
  sources: [{ kind: 'corpus', title: 'Clocks', url: null }],
  rounds: 2,
  calls: 6,
  completedAt: Date.parse('2026-03-10T12:00:00Z'),
};
const secret = 'whsec_c2VjcmV0IG9mIHRoZSBzcGVj';

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
let server: Server;
let port = 0;
let seen: Seen[] = [];
let answers: ((response: ServerResponse) => void)[] = [];
let webhooks: Webhooks;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      seen.push({ url: request.url!, headers: request.headers, body });
      (answers.shift() ?? ((to) => to.writeHead(204).end()))(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});
beforeEach(() => {
  seen = [];
  answers = [];
});
afterEach(() => webhooks?.close());

const bounds = { allowPrivate: true, timeoutMs: 300, attempts: 3 };
const signed = (over: Partial<ConfiguredWebhook> = {}): ConfiguredWebhook =>
  ({ preset: 'signed', url: `http://127.0.0.1:${port}/hook`, secret, ...bounds, ...over }) as ConfiguredWebhook;
function post(webhook: ConfiguredWebhook, name = 'ops', signal = new AbortController().signal) {
  webhooks = openWebhooks({ webhooks: { ops: webhook }, againAfterMs: 10, resolve: async () => [{ address: '10.0.0.1', family: 4 }] });
  return webhooks.post({ webhook: name, id: 'run_00000001/completed/ops', result, signal });
}
const status = (code: number, headers = {}) => (response: ServerResponse) => void response.writeHead(code, headers).end();
const never = () => undefined;

describe('a signed webhook', () => {
  it('gets the result with an id and a signature that its secret proves', async () => {
    expect(await post(signed())).toEqual({ attempts: 1 });
    const [{ headers, body }] = seen as [Seen];
    expect(JSON.parse(body)).toEqual({ type: 'run.completed', timestamp: '2026-03-10T12:00:00.000Z', data: result });
    const id = headers['webhook-id'] as string;
    const at = headers['webhook-timestamp'] as string;
    expect([id, Math.abs(Number(at) * 1_000 - Date.now()) < 60_000]).toEqual(['run_00000001/completed/ops', true]);
    // As Standard Webhooks define it, of a secret in base64.
    const proof = createHmac('sha256', Buffer.from('secret of the spec')).update(`${id}.${at}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${proof}`);
    expect(JSON.stringify(seen)).not.toContain(secret.slice(6));
  });

  it('is tried again with the same id after an error that passes, and after silence', async () => {
    answers = [status(503), never];
    expect(await post(signed())).toEqual({ attempts: 3 });
    expect(seen.map(({ headers }) => headers['webhook-id'])).toEqual(Array(3).fill('run_00000001/completed/ops'));
  });

  it('fails after the last attempt, and at once where it refuses', async () => {
    answers = [status(500), status(500), status(500)];
    await expect(post(signed())).rejects.toMatchObject({ code: 'WEBHOOK_UNAVAILABLE', message: expect.stringContaining('500') });
    expect(seen.length).toBe(3);
    answers = [status(401)];
    await expect(post(signed())).rejects.toMatchObject({ code: 'WEBHOOK_REFUSED' });
    expect(seen.length).toBe(4);
  });

  it('follows no redirect', async () => {
    answers = [status(302, { location: `http://127.0.0.1:${port}/other` })];
    await expect(post(signed())).rejects.toMatchObject({ code: 'WEBHOOK_REFUSED' });
    expect(seen.map(({ url }) => url)).toEqual(['/hook']);
  });

  it('ends with its caller', async () => {
    answers = [never];
    const over = new AbortController();
    const posted = post(signed({ timeoutMs: 60_000 }), 'ops', over.signal);
    setTimeout(() => over.abort(), 50);
    await expect(posted).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  });
});

describe('the address of a webhook', () => {
  it.each([
    ['a private host', { url: 'https://127.0.0.1/hook', allowPrivate: false }],
    ['a name that leads to a private host', { url: 'https://hook.example/', allowPrivate: false }],
    ['a public host without TLS', { url: 'http://hook.example/', allowPrivate: false }],
    ['a machine service, even where private hosts are allowed', { url: 'http://169.254.169.254/latest', allowPrivate: true }],
  ])('is refused without a request: %s', async (_what, over) => {
    await expect(post(signed(over))).rejects.toMatchObject({ code: 'WEBHOOK_REFUSED' });
    expect(seen).toEqual([]);
  });

  it('is unknown for a name that is not configured', async () => {
    await expect(post(signed(), 'toString')).rejects.toMatchObject({ code: 'WEBHOOK_UNKNOWN' });
  });
});

describe('the presets', () => {
  const long = { ...result, answer: '🙂'.repeat(5_000) };
  it('send Telegram a message of at most 3,000 characters to the chat', () => {
    const { url, body } = webhookRequest({ preset: 'telegram', token: '1:abc', chat: '42' }, 'id', long, 0);
    const { chat_id, text } = JSON.parse(body) as { chat_id: string; text: string };
    expect([url, chat_id, [...text].length]).toEqual(['https://api.telegram.org/bot1:abc/sendMessage', '42', 3_000]);
    expect(text.startsWith('Who founded it?\n\n🙂')).toBe(true);
  });

  it('send Discord a message of at most 1,800 characters that rings nobody', () => {
    const { body } = webhookRequest({ preset: 'discord', url: 'https://discord.example/x' }, 'id', { ...long, answer: null }, 0);
    const { content, allowed_mentions } = JSON.parse(body) as { content: string; allowed_mentions: unknown };
    expect([content, allowed_mentions]).toEqual(['Who founded it?\n\nNo answer (completed): All steps are done.', { parse: [] }]);
    const whole = JSON.parse(webhookRequest({ preset: 'discord', url: 'https://discord.example/x' }, 'id', long, 0).body) as { content: string };
    expect([...whole.content].length).toBe(1_800);
  });

  it('are not tried again after silence: they know no id and might show it twice', async () => {
    answers = [never];
    const discord: ConfiguredWebhook = { preset: 'discord', url: `http://127.0.0.1:${port}/d`, ...bounds };
    await expect(post(discord)).rejects.toMatchObject({ code: 'WEBHOOK_UNAVAILABLE' });
    expect(seen.length).toBe(1);
  });
});
