import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DeliveryTarget, Failure } from '@conclave/contracts';
import type { DeliveryContext } from '@conclave/platform';
import { MemoryStores, type StateStore, type WebhookPost } from '@conclave/ports';
import { ended } from './__fixtures__/ended.js';
import { type Webhook, WebhooksHandler } from './webhooks.handler.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const webhooks: Readonly<Record<string, Webhook>> = {
  ops: { preset: 'json', url: 'https://ops.example/', secret },
  news: { preset: 'discord', url: 'https://news.example/' },
};
const limits = { atOnce: 4, waiting: 2, longestWaitMs: 1_000 };
const lines: unknown[] = [];
const context = (attempt = 1): DeliveryContext =>
  ({
    attempt,
    signal: new AbortController().signal,
    logger: { info: (message: string, fields: object) => void lines.push({ message, ...fields }) },
  }) as unknown as DeliveryContext;
const to = (...deliver: DeliveryTarget[]) => ended({ deliver });

let state: StateStore;
let posts: WebhookPost[];
let counts: string[];
/** Receivers that fail, by address. */
let failing: Map<string, Failure>;
let handler: WebhooksHandler;
beforeEach(() => {
  state = new MemoryStores().connect('merger').state;
  posts = [];
  counts = [];
  lines.length = 0;
  failing = new Map();
  const sender = {
    check: () => undefined,
    post: async (post: WebhookPost) => {
      posts.push(post);
      const failure = failing.get(post.url);
      if (failure) throw failure;
    },
  };
  handler = new WebhooksHandler(
    state,
    sender,
    { webhooks, clientSecret: secret, maxBytes: 100_000, withQuestion: true, limits },
    { count: (name, labels) => void counts.push([name, ...Object.values(labels ?? {})].join(' ')) },
    { error: (message, fields) => void lines.push({ message, ...fields }) },
  );
});

describe('the end of a run', () => {
  it('is delivered to nobody unless the run names a receiver', async () => {
    expect(await handler.onCompleted(ended(), context())).toEqual([]);
    expect(posts).toEqual([]);
  });

  it('is delivered to nobody once the run was deleted, not even to a receiver that it waits for', async () => {
    failing.set('https://news.example/', new Failure('WEBHOOK_FAILED', 'news.example answers with status 500.'));
    const event = to({ webhook: 'news' });
    await expect(handler.onCompleted(event, context())).rejects.toThrow('status 500');
    failing.clear();
    const { runId } = event;
    expect(await state.runs.erase({ runId, tenant: event.data.caller.tenant, requestedAt: 1 })).toBe('erased');
    expect(await handler.onCompleted(event, context(2))).toEqual([]);
    expect(posts).toHaveLength(1);
  });

  it('is delivered once to each receiver, even when the log delivers it twice or one receiver fails', async () => {
    failing.set('https://news.example/', new Failure('WEBHOOK_FAILED', 'news.example answers with status 500.'));
    const event = to({ webhook: 'ops' }, { webhook: 'news' });
    await expect(handler.onCompleted(event, context())).rejects.toThrow('status 500');
    await expect(handler.onCompleted(event, context(2))).rejects.toThrow('status 500');
    failing.clear();
    expect(await handler.onCompleted(event, context(3))).toEqual([]);
    expect(await handler.onCompleted(event, context())).toEqual([]);
    const told = posts.map(({ url, by }) => [url, by]);
    expect(told.filter(([url]) => url === 'https://ops.example/')).toEqual([['https://ops.example/', 'operator']]);
    expect(told).toHaveLength(4);
    expect(counts.sort()).toEqual([
      ...['webhook_deliveries_total news delivered', 'webhook_deliveries_total news failed', 'webhook_deliveries_total news failed'],
      'webhook_deliveries_total ops delivered',
    ]);
  });

  it('is durable before any receiver outside gets it', async () => {
    let durable = false;
    const watched = { caches: state.caches, runs: state.runs, now: () => state.now(), durable: async () => void (durable = true) };
    const before: boolean[] = [];
    const sender = { check: () => undefined, post: async () => void before.push(durable) };
    const options = { webhooks, maxBytes: 100_000, withQuestion: true, limits };
    await new WebhooksHandler(watched, sender, options, { count: () => undefined }, { error: () => undefined }).onCompleted(
      to({ webhook: 'ops' }),
      context(),
    );
    expect(before).toEqual([true]);
  });

  it('is signed under an id that is the same in every attempt, also for an address from a client', async () => {
    const event = to({ url: 'https://client.example/hook' });
    failing.set('https://client.example/hook', new Failure('WEBHOOK_FAILED'));
    await expect(handler.onCompleted(event, context())).rejects.toThrow();
    await expect(handler.onCompleted(event, context(2))).rejects.toThrow();
    expect(posts.map(({ by, headers }) => [by, headers['webhook-id']])).toEqual([
      ['client', 'run_00000001_address'],
      ['client', 'run_00000001_address'],
    ]);
    expect(posts[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    expect(posts[0]!.headers['webhook-id']).not.toContain('.');
  });

  it('fails finally for a receiver with too many waiting runs, unless another receiver of the run is tried again', async () => {
    failing.set('https://news.example/', new Failure('WEBHOOK_FAILED', 'news.example answers with status 500.'));
    const event = (n: number, ...more: DeliveryTarget[]) => ended({ deliver: [{ webhook: 'news' }, ...more] }, `run_0000000${n}`);
    for (const n of [1, 2]) await expect(handler.onCompleted(event(n), context())).rejects.toMatchObject({ options: {} });
    const refused = { message: expect.stringContaining('2 ended runs wait for it already'), options: { final: true } };
    await expect(handler.onCompleted(event(3), context())).rejects.toMatchObject(refused);
    // Another receiver of this run is still called, and if it fails, it is tried again.
    await expect(handler.onCompleted(event(4, { webhook: 'ops' }), context())).rejects.toMatchObject(refused);
    failing.set('https://ops.example/', new Failure('WEBHOOK_FAILED', 'ops.example answers with status 500.'));
    await expect(handler.onCompleted(event(5, { webhook: 'ops' }), context())).rejects.toThrow('ops.example answers');
    expect(posts.map(({ url }) => url).filter((url) => url === 'https://ops.example/')).toHaveLength(2);
    await handler.onDead({ event: event(1), reason: 'failed' });
    await expect(handler.onCompleted(event(6), context())).rejects.toThrow('status 500');
  });

  it('fails with a sentence for a webhook that this process does not know', async () => {
    for (const webhook of ['gone', 'constructor'])
      await expect(handler.onCompleted(to({ webhook }), context())).rejects.toThrow(`There is no webhook \`${webhook}\``);
    expect(posts).toEqual([]);
  });

  it('that could not be delivered to a receiver is counted and reported, once for each receiver', async () => {
    failing.set('https://news.example/', new Failure('WEBHOOK_FAILED'));
    const event = to({ webhook: 'ops' }, { webhook: 'news' });
    await expect(handler.onCompleted(event, context())).rejects.toThrow();
    counts.length = 0;
    lines.length = 0;
    expect(await handler.onDead({ event, reason: 'failed' })).toEqual([]);
    expect(counts).toEqual(['webhook_deliveries_total news dead']);
    expect(lines).toEqual([{ message: expect.stringContaining('dead letter'), run: 'run_00000001', webhook: 'news', why: 'failed' }]);
  });
});
