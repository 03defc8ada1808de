import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeadLetterList, WebhookEvent } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  allMetrics,
  byAdmin,
  command,
  CommitteeScript,
  expert,
  keptText,
  latch,
  plainTemplate,
  runEnd,
  startRun,
  sumOf,
  System,
} from '@conclave/test-support/system';
import { Webhook } from 'standardwebhooks';
import { follower } from './harness/guide-program.js';
import { type ReceivedRequest, type Served, StoppableServer } from './harness/stoppable-server.js';

// The receiver verifies with the reference implementation of "Standard Webhooks", which shares no code with ours.
const secrets = {
  OPS_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3kTq0m9bVxA=',
  CLIENT_SECRET: 'whsec_Q29uY2xhdmUgdGVzdHMgc2lnbiB3aXRoIHRoaXMgb25lIQ==',
  BOT_TOKEN: '7531:AA-canary_of-the-bot',
} as const;
const attempts = 4;

let system: System;
let receiver: StoppableServer;
/** How the receiver answers at a path; 204 elsewhere. */
const answers = new Map<string, (nth: number) => Served | Promise<Served>>();
const taken: Served = { status: 204, body: '' };

beforeAll(async () => {
  receiver = await StoppableServer.start((asked) => {
    const nth = at(asked.path).length;
    return answers.get(asked.path)?.(nth) ?? taken;
  });
  const hook = (path: string, more: object = {}): object => ({ url: `${receiver.url}${path}`, secret_env: 'OPS_SECRET', ...more });
  system = await System.start({
    gateways: 2,
    env: secrets,
    configuration: {
      templates: {
        answers: { ...plainTemplate, strategy: 'single-pass', complexity: 'trivial', capabilities: [] },
        tree: { ...plainTemplate, strategy: 'decompose', options: { child: 'answers' } },
        goal: { ...plainTemplate, strategy: 'reasoning', options: { default_delivery: ['memory', 'ops'] } },
      },
      webhooks: {
        ops: hook('/ops'),
        flaky: hook('/flaky'),
        silent: hook('/silent'),
        busy: hook('/busy'),
        hanging: hook('/hanging'),
        stalled: hook('/stalled'),
        ours: hook('/ours', { tenants: ['default'] }),
        theirs: hook('/theirs', { tenants: ['another'] }),
        phone: { preset: 'telegram', url: receiver.url, bot_token_env: 'BOT_TOKEN', chat_id: '-100200' },
        channel: { preset: 'discord', url: `${receiver.url}/discord` },
      },
      webhook_delivery: {
        attempts,
        retry_s: 0.1,
        longest_retry_s: 2,
        concurrency: 4,
        waiting: 6,
        timeout_s: 1,
        client_hosts: [receiver.url.replace('http://', '')],
        client_secret_env: 'CLIENT_SECRET',
      },
    },
  });
});
afterAll(async () => {
  await system?.stop();
  await receiver?.stop();
});
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

const at = (path: string): readonly ReceivedRequest[] => receiver.asked.filter((asked) => asked.path === path);
const ofRun = (path: string, id: string): readonly ReceivedRequest[] => at(path).filter(({ body }) => body.includes(id));
/** The event of a delivery. Throws unless its signature is valid. */
const verified = ({ body, headers }: ReceivedRequest, secret: string = secrets.OPS_SECRET): WebhookEvent =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as WebhookEvent;
const idsOf = (deliveries: readonly ReceivedRequest[]) => deliveries.map(({ headers }) => headers['webhook-id']);

const script = (label: string, answer = 'It is told.'): CommitteeScript =>
  new CommitteeScript(system.models, `Who is told? (${label})`)
    .plan([expert('x1', 'Say it.')])
    .expert('Told.')
    .answer([answer]);
const begin = (question: string, rest: object) => startRun(system.url(2), { model: 'conclave-fast', input: question, ...rest });
/** Starts a run with a webhook and waits for its end. */
async function ran(question: string, rest: object) {
  const { status, body } = await begin(question, rest);
  expect([status, body.error]).toEqual([202, undefined]);
  return runEnd(system.url(), body.id);
}
const delivered = (path: string, id: string, n = 1): Promise<readonly ReceivedRequest[]> =>
  until(`${n} deliveries of ${id} to ${path}`, () => ofRun(path, id).length >= n && ofRun(path, id), { timeoutMs: 40_000 });
const counted = async (webhook: string, outcome: string): Promise<number> =>
  sumOf(await allMetrics(system), 'conclave_webhook_deliveries_total', { webhook, outcome });

describe('the end of a run', () => {
  it('is delivered to the webhook that the request names, signed, once', async () => {
    const run = await ran(script('named').question, { webhook: 'ops' });
    const [first] = await delivered('/ops', run.id);
    expect(verified(first!)).toMatchObject({
      type: 'run.completed',
      timestamp: new Date(run.completedAt!).toISOString(),
      data: { id: run.id, outcome: 'completed', answer: 'It is told.', question: run.question, reason: run.reason, failure: null },
    });
    expect(() => verified({ ...first!, body: first!.body.replace('told', 'sold') })).toThrow('No matching signature');
    expect(idsOf([first!])).toEqual([`${run.id}_ops`]);
    await until('the count', async () => (await counted('ops', 'delivered')) >= 1);
    expect(ofRun('/ops', run.id)).toHaveLength(1);
  });

  it('is delivered for a chat that names a webhook, and for the default delivery of a template', async () => {
    const s = script('chat');
    const chat = await fetch(`${system.url()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'conclave-fast',
        messages: [{ role: 'user', content: s.question }],
        conclave: { webhook: 'ours' },
      }),
    });
    const id = chat.headers.get('x-run-id')!;
    expect(chat.status).toBe(200);
    expect(verified((await delivered('/ours', id))[0]!).data.id).toBe(id);
    // The shortest possible run of `reasoning`: its plan says that the goal is out of reach.
    const reasoned = new CommitteeScript(system.models, 'Who is told? (default)').phase('reasoner', { steps: [] }, { times: Infinity });
    reasoned.composer({ text: 'Nobody.' }, Infinity);
    const run = await ran(reasoned.question, { model: 'goal' });
    expect(verified((await delivered('/ops', run.id))[0]!).data).toMatchObject({ outcome: run.outcome, answer: run.answer });
  });

  it('is delivered for the run itself, not for its child runs', async () => {
    const [one, two] = ['How deep is the port of Varn?', 'How dear is the dye luran?'];
    const s = new CommitteeScript(system.models, 'Who is told? (children)')
      .topics({
        topics: [
          { topic: 'depth', query: one, collections: [] },
          { topic: 'price', query: two, collections: [] },
        ],
      })
      .answer(['7 metres; 14 crowns.']);
    for (const query of [one, two]) new CommitteeScript(system.models, query!).expert('7 metres; 14 crowns.', { confidence: 0.9 });
    const run = await ran(s.question, { model: 'tree', webhook: 'ops' });
    expect(run.rounds[0]!.tasks.filter(({ capability, status }) => capability === 'run' && status === 'ok')).toHaveLength(2);
    await delivered('/ops', run.id);
    // Every run that ended earlier was handled before the webhook of this run was called.
    expect(at('/ops').filter(({ body }) => body.includes(`${run.id}~`))).toEqual([]);
    expect(ofRun('/ops', run.id)).toHaveLength(1);
  });

  it('is delivered when the run was cancelled or has failed, with its outcome', async () => {
    const gate = latch();
    const s = new CommitteeScript(system.models, 'Who is told? (cancelled)').plan([expert('x1', 'Wait.')], { when: gate.opened });
    const { body } = await begin(s.question, { webhook: 'ops' });
    await command(system.url(), body.id, { command: 'cancel' });
    await runEnd(system.url(), body.id);
    gate.open();
    const [told] = await delivered('/ops', body.id);
    expect(verified(told!)).toMatchObject({ type: 'run.cancelled', data: { outcome: 'cancelled', answer: null } });

    const broken = new CommitteeScript(system.models, 'Who is told? (failed)');
    broken.planner({ status: 400, body: 'no' } as never, { times: Infinity });
    broken.expertReply({ status: 400, body: 'no' } as never, undefined, Infinity);
    broken.composer({ status: 400, body: 'no' } as never, Infinity);
    const failed = await ran(broken.question, { webhook: 'ops' });
    expect(failed.outcome).toBe('failed');
    expect(verified((await delivered('/ops', failed.id))[0]!)).toMatchObject({
      type: 'run.failed',
      data: { outcome: 'failed', answer: null, failure: failed.failure },
    });
  });
});

describe('a receiver', () => {
  it('that fails twice is called again under the same id until it accepts', async () => {
    answers.set('/flaky', (nth) => (nth <= 2 ? { status: 503, body: 'later' } : taken));
    const run = await ran(script('flaky').question, { webhook: 'flaky' });
    const deliveries = await delivered('/flaky', run.id, 3);
    expect(new Set(idsOf(deliveries))).toEqual(new Set([`${run.id}_flaky`]));
    for (const delivery of deliveries) expect(verified(delivery).data.id).toBe(run.id);
    await until('the counts', async () => (await counted('flaky', 'delivered')) === 1);
    expect([await counted('flaky', 'failed'), ofRun('/flaky', run.id).length, run.outcome]).toEqual([2, 3, 'completed']);
  });

  it('that asks to be called later is called then, but no later than the longest wait', async () => {
    const calledAt: number[] = [];
    answers.set('/busy', (nth) => {
      calledAt.push(performance.now());
      return nth === 1
        ? { status: 429, headers: { 'retry-after': '1' }, body: '' }
        : nth === 2
          ? { status: 503, headers: { 'retry-after': '3600' }, body: '' }
          : taken;
    });
    const run = await ran(script('busy').question, { webhook: 'busy' });
    await delivered('/busy', run.id, 3);
    const [first, second] = [calledAt[1]! - calledAt[0]!, calledAt[2]! - calledAt[1]!];
    // Without being asked, it would be called again within 0.1 to 0.2 s.
    expect(first).toBeGreaterThanOrEqual(990);
    expect(second).toBeGreaterThanOrEqual(1_990);
  });

  it('that does not answer does not delay other receivers; a limited number of runs waits for it', async () => {
    answers.set('/hanging', () => 'held');
    const { question } = new CommitteeScript(system.models, 'Who is told? (hanging)').expertReply(
      { text: 'It is told.\nFINDING: It is told.\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none' },
      undefined,
      Infinity,
    );
    const ask = { model: 'answers' } as const;
    for (let n = 0; n < 80; n++) expect((await begin(question, { ...ask, webhook: 'hanging' })).status).toBe(202);
    const other = await ran(question, { ...ask, webhook: 'ops' });
    await delivered('/ops', other.id);
    expect(at('/hanging').length).toBeLessThan(40);
    const letters = async () => {
      const response = await fetch(`${system.url()}/v1/admin/dead-letters?group=webhooks&limit=100`, { headers: byAdmin });
      return ((await response.json()) as DeadLetterList).data.filter(({ error }) => error?.includes('ended runs wait for it already'));
    };
    await until('the dead letters', async () => (await letters()).length >= 60, { timeoutMs: 30_000 });
    answers.delete('/hanging');
    await until('the delivery of one that waited', async () => (await counted('hanging', 'delivered')) > 0, { timeoutMs: 30_000 });
  }, 90_000);

  it('that never answers does not affect the completed run; its delivery becomes a dead letter with a reason, and can be re-driven', async () => {
    answers.set('/silent', () => 'held');
    const run = await ran(script('silent').question, { webhook: 'silent' });
    const letters = async () => {
      const response = await fetch(`${system.url()}/v1/admin/dead-letters`, { headers: byAdmin });
      return ((await response.json()) as DeadLetterList).data.filter(({ runId }) => runId === run.id);
    };
    const [letter] = await until('the dead letter', async () => (await letters()).length > 0 && letters(), { timeoutMs: 40_000 });
    expect(letter).toMatchObject({ group: 'webhooks', reason: 'failed', attempts, type: 'RunCompleted' });
    expect(letter!.error).toContain('did not answer within 1000 ms');
    expect(ofRun('/silent', run.id)).toHaveLength(attempts);
    expect(await runEnd(system.url(), run.id)).toMatchObject({ outcome: 'completed', answer: 'It is told.' });
    await until('the count', async () => (await counted('silent', 'dead')) === 1);

    answers.delete('/silent');
    const again = await fetch(`${system.url()}/v1/admin/dead-letters/${letter!.id}/redrive`, {
      method: 'POST',
      headers: { ...byAdmin, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(again.status).toBeLessThan(300);
    const deliveries = await delivered('/silent', run.id, attempts + 1);
    expect(new Set(idsOf(deliveries))).toEqual(new Set([`${run.id}_silent`]));
    await until('the count', async () => (await counted('silent', 'delivered')) === 1);
  });

  it('that is being called when the process is killed is called by the next process, under the same id', async () => {
    answers.set('/stalled', (nth) => (nth === 1 ? 'held' : taken));
    const run = await ran(script('killed').question, { webhook: 'stalled' });
    await delivered('/stalled', run.id, 1);
    const { signal } = await system.process('merger').kill('SIGKILL');
    expect(signal).toBe('SIGKILL');
    const deliveries = await delivered('/stalled', run.id, 2);
    expect(new Set(idsOf(deliveries))).toEqual(new Set([`${run.id}_stalled`]));
    expect(verified(deliveries.at(-1)!).data).toMatchObject({ outcome: 'completed', answer: 'It is told.' });
    expect(await runEnd(system.url(), run.id)).toMatchObject({ outcome: 'completed' });
  }, 60_000);

  it('of a chat service gets the message that its documentation describes', async () => {
    const run = await ran(script('telegram', 'A'.repeat(5_000)).question, { webhook: 'phone' });
    const [sent] = await delivered(`/bot${secrets.BOT_TOKEN}/sendMessage`, run.id);
    const { chat_id: chat, text } = JSON.parse(sent!.body) as { chat_id: string; text: string };
    expect([chat, text.length, text.startsWith(run.question)]).toEqual(['-100200', 4_096, true]);
    const other = await ran(script('discord').question, { webhook: 'channel' });
    const [posted] = await delivered('/discord', other.id);
    expect(JSON.parse(posted!.body)).toEqual({
      content: `${other.question}\n\nIt is told.\n\n${other.id}`,
      allowed_mentions: { parse: [] },
    });
  });
});

describe('a client', () => {
  it('may send an address whose host the operator allows, and no other', async () => {
    const run = await ran(script('address').question, { webhook: { url: `${receiver.url}/mine?of=me` } });
    const [told] = await delivered('/mine?of=me', run.id);
    expect(verified(told!, secrets.CLIENT_SECRET).data.id).toBe(run.id);
    expect(() => verified(told!)).toThrow('No matching signature');
    for (const url of ['http://127.0.0.1:1/', 'https://example.org/hook', 'http://169.254.169.254/', 'file:///etc/passwd', 'nonsense']) {
      const { status, body } = await begin('Who is told?', { webhook: { url } });
      expect([url, status, body.error?.code, body.error?.param]).toEqual([url, 400, 'WEBHOOK_REFUSED', 'webhook.url']);
    }
  });

  it('may not name a webhook that does not exist or belongs to other tenants', async () => {
    for (const webhook of ['theirs', 'nobody', 'constructor']) {
      const { status, body } = await begin('Who is told?', { webhook });
      expect([webhook, status, body.error?.code, body.error?.param]).toEqual([webhook, 400, 'WEBHOOK_UNKNOWN', 'webhook']);
    }
    const run = await ran(script('ours').question, { webhook: 'ours' });
    expect(await delivered('/ours', run.id)).toHaveLength(1);
    expect(at('/theirs')).toEqual([]);
  });
});

describe('the receiver from the guide', () => {
  it('accepts a delivery, drops a repeat, and refuses a changed body, time or id', async () => {
    const run = await ran(script('guide').question, { webhook: 'ops' });
    const [told] = await delivered('/ops', run.id);
    const guide = await follower('docs/guides/webhooks.md', 'receiver.mjs', { WEBHOOK_SECRET: secrets.OPS_SECRET });
    try {
      const send = async (body: string, changed: Record<string, string> = {}): Promise<number> => {
        const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = told!.headers as Record<string, string>;
        const headers = { 'webhook-id': id!, 'webhook-timestamp': time!, 'webhook-signature': signature!, ...changed };
        return (await fetch(guide.url, { method: 'POST', headers, body })).status;
      };
      expect(await send(told!.body.replace('told', 'sold'))).toBe(400);
      expect(await send(told!.body, { 'webhook-id': 'another' })).toBe(400);
      expect(await send(told!.body, { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 600) })).toBe(400);
      expect(await send(told!.body, { 'webhook-signature': 'v1,' })).toBe(400);
      expect(guide.output()).not.toContain(run.id);
      expect([await send(told!.body), await send(told!.body)]).toEqual([204, 204]);
      await until('its line', () => guide.output().includes(run.id));
      expect(guide.output().split(run.id)).toHaveLength(2);
    } finally {
      await guide.stop();
    }
  });
});

it('no log, record, view or metric contains the secret of a webhook', async () => {
  const metrics = await Promise.all(system.metricUrls().map(async (url) => (await fetch(`${url}/metrics`, { headers: byAdmin })).text()));
  const seen = { output: system.output(), metrics: metrics.join('\n'), records: await keptText(system) };
  expect(seen.records).toContain('Who is told?');
  for (const [name, secret] of Object.entries(secrets))
    for (const [place, text] of Object.entries(seen)) expect([name, place, text.includes(secret)]).toEqual([name, place, false]);
});
