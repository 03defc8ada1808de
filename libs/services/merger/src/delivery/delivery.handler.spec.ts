import { describe, expect, it } from '@jest/globals';
import { Failure, makeEvent, noUsage, RunCompleted, type Event } from '@conclave/contracts';
import type { DeliveryContext } from '@conclave/platform';
import { MemoryStores, type Posting } from '@conclave/ports';
import { deliveriesKey } from '@conclave/strategies';
import { DeliveryHandler } from './delivery.handler.js';

const runId = 'run_00000001';
const tenant = 'acme';
const context = { signal: new AbortController().signal } as DeliveryContext;

const completed = (over: Partial<RunCompleted['data']> = {}): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${runId}/completed`, runId, source: 'merger', time: 1 },
    RunCompleted.schema.parse({
      ...{ outcome: 'completed', rule: 'D3', reason: 'Done.', reasonCode: 'sufficient', question: 'Who?', answer: 'Ada.', cutShort: false },
      ...{ sources: [], insight: null, history: [], rounds: 1, usage: { ...noUsage, calls: 4 }, failure: null },
      ...{ caller: { tenant, actor: 'key_a' }, template: { id: 'goal', version: 'v', strategy: 'reasoning' } },
      ...{ startedAt: Date.now() - 5, completedAt: Date.now(), deliver: ['ops'], ...over },
    }),
  );

function world(post: (posting: Posting) => Promise<{ attempts: number }> = async () => ({ attempts: 1 }), stores = new MemoryStores(), process = 'p1') {
  const sent: Posting[] = [];
  const counted: unknown[] = [];
  const state = { caches: stores.caches, once: stores.once, now: async () => Date.now() };
  const webhooks = {
    post: (posting: Posting) => {
      sent.push(posting);
      return post(posting);
    },
    close: async () => undefined,
  };
  const quiet = { info: () => undefined, warn: () => undefined };
  const metrics = { count: (...values: unknown[]) => void counted.push(values) };
  const handler = new DeliveryHandler(state, webhooks, quiet, metrics, { id: process });
  const take = async (event: RunCompleted) => (await handler.onCompleted(event, context)) as readonly Event[];
  return { take, sent, stores, counted };
}

describe('the delivery of a result', () => {
  it('sends it to each webhook of the run, and records how each ended', async () => {
    const { take, sent, stores, counted } = world(async ({ webhook }) => {
      if (webhook === 'team') throw new Failure('WEBHOOK_UNAVAILABLE', 'It answers with status 503.');
      return { attempts: 2 };
    });
    const events = await take(completed({ deliver: ['ops', 'team', 'ops'] }));
    expect(events.map(({ id, type, data }) => [id, type, data])).toMatchObject([
      [`${runId}/delivery/ops`, 'DeliveryRecorded', { webhook: 'ops', status: 'delivered', attempts: 2, failure: null }],
      [`${runId}/delivery/team`, 'DeliveryRecorded', { status: 'failed', failure: { code: 'WEBHOOK_UNAVAILABLE' } }],
    ]);
    expect(sent[0]).toMatchObject({ id: `${runId}/completed/ops`, result: { run: runId, question: 'Who?', answer: 'Ada.', calls: 4 } });
    expect((await stores.caches.read(tenant, deliveriesKey(runId)))?.value).toMatchObject([{ webhook: 'ops' }, { webhook: 'team' }]);
    expect(counted).toEqual([
      ['deliveries_total', { webhook: 'ops', status: 'delivered' }],
      ['deliveries_total', { webhook: 'team', status: 'failed' }],
    ]);
  });

  it('sends nothing for a run that names no webhook', async () => {
    const { take, sent } = world();
    const { deliver: _, ...rest } = completed().data;
    expect([await take({ ...completed(), data: rest }), sent]).toEqual([[], []]);
  });

  it('gives the same events when the event comes again, and sends nothing a second time', async () => {
    const { take, sent } = world();
    const event = completed();
    const first = await take(event);
    expect([await take(event), sent.length]).toEqual([first, 1]);
  });

  it('does not send again what a process began that died: nobody knows whether it arrived', async () => {
    const stores = new MemoryStores();
    let begun = (): void => undefined;
    const sending = new Promise<void>((resolve) => (begun = resolve));
    const dying = world(() => (begun(), new Promise(() => undefined)), stores);
    void dying.take(completed());
    await sending;
    const heir = world(undefined, stores, 'p2');
    expect(await heir.take(completed())).toMatchObject([{ data: { status: 'unknown' } }]);
    expect([dying.sent.length, heir.sent.length]).toEqual([1, 0]);
  });

  it('does not send what ended long ago: a new consumer group reads the log from its beginning', async () => {
    const { take, sent } = world();
    expect(await take(completed({ completedAt: Date.now() - 25 * 3_600_000 }))).toMatchObject([{ data: { status: 'late' } }]);
    expect(sent).toEqual([]);
  });

  it('comes again where our own store fails', async () => {
    const stores = new MemoryStores();
    const { take } = world(undefined, Object.assign(stores, { once: { claim: () => Promise.reject(new Failure('STORE_UNAVAILABLE')) } }));
    await expect(take(completed())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
