import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { parkedFlag, stopHint } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { completed, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
afterEach(() => world.close());

const body = (stream: boolean) => ({ model: 'conclave', stream, messages: [{ role: 'user', content: 'Why?' }] });

async function connected(options: WorldOptions = {}): Promise<RawClient> {
  world = await World.open(options);
  return RawClient.open(world.url);
}

/** Waits for the flag that workers read and for the ordered command. */
async function cancelledWithin(runId: string, ms = 1_000): Promise<void> {
  await until('the cancel', () => world.stores.flagged.has(runId) && world.commands().length > 0, { timeoutMs: ms });
  expect(world.commands()[0]).toMatchObject({
    id: `${runId}/command/1`,
    runId,
    data: { seq: 1, command: { name: 'cancel', reason: 'the client disconnected' } },
  });
}

describe('a client that disconnects', () => {
  it('cancels its run while the first heartbeat is still far off', async () => {
    const client = await connected();
    client.post('/v1/chat/completions', body(true));
    await until('the role', () => client.received.includes('"role":"assistant"'));
    client.leave();
    await cancelledWithin(world.run());
    expect(world.metric('onCancel')).toEqual([['disconnect']]);
    await until('the closed stream', () => world.metric('onStreamClose').some(([, end]) => end === 'disconnected'));
  });

  it('cancels its run during heartbeats', async () => {
    const client = await connected({ limits: { firstHeartbeatMs: 20, heartbeatMs: 20 } });
    client.post('/v1/chat/completions', body(true));
    await until('heartbeats', () => client.received.split(': keep-alive').length > 3);
    client.leave();
    await cancelledWithin(world.run());
  });

  it('cancels its run in the middle of the text', async () => {
    const client = await connected();
    client.post('/v1/chat/completions', body(true));
    await until('the run', () => world.runs().length === 1);
    world.compose();
    await world.chunk('It is', 0);
    await until('the text', () => client.received.includes('It is'));
    client.leave();
    await cancelledWithin(world.run());
  });

  it('cancels its run while it waits for the whole answer', async () => {
    const client = await connected();
    client.post('/v1/chat/completions', body(false));
    await until('the event', () => world.requested().length === 1);
    client.leave();
    await cancelledWithin(world.run());
  });

  it('cancels its run while the run is still being accepted', async () => {
    const client = await connected();
    const { runs } = world.stores.state;
    const accept = runs.accept;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let asked = false;
    Object.assign(runs, {
      accept: (request: Parameters<typeof accept>[0]) => {
        asked = true;
        return held.then(() => accept(request));
      },
    });
    client.post('/v1/chat/completions', body(true));
    await until('the request', () => asked);
    client.leave();
    await until('the close to be seen', () => world.metric('onRequest').length === 1);
    release();
    await until('the run', () => world.runs().length === 1);
    await cancelledWithin(world.run());
    expect(client.received).toBe('');
  });

  it('leaves a run that others wait for; the last one parks the run when an Idempotency-Key lets it come back', async () => {
    world = await World.open();
    const headers = { 'idempotency-key': 'k' };
    const [one, two] = [await RawClient.open(world.url), await RawClient.open(world.url)];
    one.post('/v1/chat/completions', body(true), headers);
    await until('the first', () => one.received.includes('"role"'));
    two.post('/v1/chat/completions', body(true), headers);
    await until('the second', () => two.received.includes('"role"'));
    expect(world.stores.clients(world.run()).size).toBe(2);
    one.leave();
    await until('one left', () => world.stores.clients(world.run()).size === 1);
    expect(world.stores.flagged.size).toBe(0);
    two.leave();
    await until('the run to be parked', () => world.stores.flagged.has(parkedFlag(world.run())));
    await until('the count', () => world.metric('onParked').length === 1);
    expect([world.stores.flagged.has(world.run()), world.commands(), world.metric('onCancel')]).toEqual([false, [], []]);
  });

  const waysBack: readonly [string, Readonly<Record<string, string>>, boolean][] = [
    ['has an Idempotency-Key', { 'idempotency-key': 'k' }, false],
    ['is a retry', { 'x-stainless-retry-count': '1' }, false],
    ['may be retried by its SDK', { 'x-stainless-retry-count': '0' }, true],
  ];
  it.each(waysBack)(
    'parks its run when the request %s, and ends its calls unless the request shows that the client will come back',
    async (_, headers, stops) => {
      const client = await connected();
      const told: string[] = [];
      await world.stores.state.hints.subscribe('cancel', (id) => void told.push(id));
      client.post('/v1/chat/completions', body(true), headers);
      await until('the role', () => client.received.includes('"role"'));
      client.leave();
      await until('the count', () => world.metric('onParked').length === 1);
      expect([world.stores.flagged.has(parkedFlag(world.run())), world.commands()]).toEqual([true, []]);
      await until('the hint', () => !stops || told.length > 0);
      expect(told).toEqual(stops ? [stopHint(world.run())] : []);
    },
  );

  it('is reported again after an outage of the stores', async () => {
    const client = await connected();
    client.post('/v1/chat/completions', body(true));
    await until('the role', () => client.received.includes('"role"'));
    world.stores.outage = new Failure('STORE_UNAVAILABLE');
    client.leave();
    await until('a failed try', () => world.lines.some(({ message }) => message.startsWith('a client disconnected')));
    world.stores.outage = null;
    await cancelledWithin(world.run(), 3_000);
  });

  it('changes nothing after the answer is complete', async () => {
    const client = await connected();
    client.post('/v1/chat/completions', body(true));
    await until('the run', () => world.requested().length === 1);
    world.write(completed());
    await until('the end', () => client.received.includes('[DONE]'));
    client.leave();
    await until('the closed request', () => world.metric('onRequest').length === 1);
    expect(world.stores.flagged.size).toBe(0);
    expect(world.commands()).toEqual([]);
  });

  it('does not cancel a run that was started through /v1/runs', async () => {
    world = await World.open();
    const { id } = (await (await world.post('/v1/runs', { model: 'conclave', input: 'Why?' })).json()) as { id: string };
    const abort = new AbortController();
    const viewer = new SseClient(await fetch(`${world.url}/v1/runs/${id}/events`, { signal: abort.signal }));
    world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 });
    await until('an event', () => viewer.events.length === 1);
    abort.abort();
    await until('the closed stream', () => world.metric('onStreamClose').length === 1);
    expect(world.stores.flagged.size).toBe(0);
  });
});

describe('a gateway that shuts down', () => {
  it('ends its streams with an error in the stream, cancels nothing, and keeps its clients registered: their runs are parked', async () => {
    world = await World.open({ limits: { shutdownGraceMs: 20_000 } });
    const client = new SseClient(await world.chat());
    await until('the role', () => client.chunks.length > 0);
    const began = performance.now();
    await world.app.close();
    await client.all();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(client.error).toBeNull();
    expect(client.failure?.code).toBe('SHUTTING_DOWN');
    expect(world.stores.flagged.size).toBe(0);
    expect(world.commands()).toEqual([]);
    expect(world.stores.clients(world.run()).size).toBe(1);
  });

  it('answers clients that wait for a whole answer, so that their retry attaches to another gateway', async () => {
    world = await World.open();
    const pending = world.chat({ stream: false });
    await until('the run', () => world.stores.clients(world.runs()[0] ?? '').size === 1);
    await world.app.close();
    const response = await pending;
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(response.headers.get('x-should-retry')).toBeNull();
    expect(response.headers.get('x-run-id')).toBe(world.run());

    const other = await World.open({ share: world });
    try {
      const again = other.chat({ stream: false }, { headers: { 'x-stainless-retry-count': '1' } });
      await until('the client', () => world.stores.clients(world.run()).size === 2);
      world.write(completed());
      expect(await (await again).json()).toMatchObject({ choices: [{ message: { content: 'It is blue [1].' } }] });
      expect(world.runs()).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  it('disconnects a client that does not read its last bytes, within a bounded time', async () => {
    world = await World.open({ limits: { shutdownGraceMs: 200 } });
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', body(true));
    await until('the role', () => client.received.includes('"role"'));
    client.socket.pause();
    world.write(...Array.from({ length: 400 }, () => ({ kind: 'replanning', iteration: 1, max: 3, gap: 'x'.repeat(60_000) }) as const));
    const began = performance.now();
    await world.app.close();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(world.stores.flagged.size).toBe(0);
    client.leave();
  });
});
