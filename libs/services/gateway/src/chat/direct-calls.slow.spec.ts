import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure, noUsage, type CallRecorded } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { reply, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const direct = (over: Record<string, unknown> = {}) => world.chat({ model: 'm@fake', ...over });
const recorded = () => world.events<CallRecorded>('audit');
/** The ledger's entry for a call: what the caller is charged. */
async function ledger({ runId, data }: CallRecorded) {
  const { usage } = world.stores.state;
  const ofCall = await usage.ofRun(runId);
  expect(await usage.ofAccount({ ...data.caller!, period: 'day', at: data.startedAt })).toEqual(ofCall);
  return ofCall;
}
/** An upstream that never answers; rejects when the call is aborted. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Failure('CALL_CANCELLED')), { once: true }));

describe('a model of a provider', () => {
  it('is called directly, with the body of the request unchanged and without a run', async () => {
    world.models.next(() => Promise.resolve(reply({ reasoning: 'thought' })));
    const body = {
      stream: false,
      temperature: 0.2,
      max_tokens: 9,
      stop: 'END',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '<think>x</think>Yes?' },
        { role: 'user', content: 'Why?' },
      ],
    };
    const response = await direct(body);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-run-id')).toBeNull();
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: 'm@fake',
      choices: [{ message: { role: 'assistant', content: 'Hello there', reasoning_content: 'thought' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
    const { timeoutMs, ...asked } = world.models.calls[0]!.request as { timeoutMs: number };
    expect(asked).toEqual({ model: 'm@fake', body: { model: 'm@fake', ...body } });
    expect(timeoutMs).toBeLessThanOrEqual(900_000);
    expect(timeoutMs).toBeGreaterThan(890_000);
    expect(world.runs()).toEqual([]);
    expect(world.requested()).toEqual([]);
  });

  it('gets every member of the body except those named like a credential', async () => {
    world.models.next(() => Promise.resolve(reply()));
    const theirs = [
      'api_key',
      'apiKey',
      'Authorization',
      'aws_secret_access_key',
      'aws_access_key_id',
      'azure_ad_token',
      'vertex_credentials',
    ];
    const its = { max_tokens: 9, prompt_cache_key: 'k', stop_token_ids: [1], logit_bias: {}, safety_identifier: 's', top_k: 4, odd: true };
    const body = { stream: false, messages: [{ role: 'user', content: 'Hi' }], ...its };
    expect((await direct({ ...body, ...Object.fromEntries(theirs.map((name) => [name, 'canary'])) })).status).toBe(200);
    expect(world.models.calls[0]!.request).toMatchObject({ body: { model: 'm@fake', ...body } });
    expect(JSON.stringify(world.models.calls[0]!.request)).not.toContain('canary');
  });

  it('creates no run, so a request with a webhook is refused before the model is called', async () => {
    const said = async (response: Response) => [response.status, ((await response.json()) as { error: { param: string } }).error.param];
    expect(await said(await direct({ stream: false, conclave: { webhook: 'ops' } }))).toEqual([400, 'conclave.webhook']);
    const body = { model: 'm@fake', messages: [{ role: 'user', content: 'Why?' }] };
    const response = await world.post('/v1/chat/completions', body, { headers: { 'x-conclave-webhook': 'ops' } });
    expect(await said(response)).toEqual([400, 'conclave.webhook']);
    expect(world.models.calls).toEqual([]);
  });

  it('streams its tokens as they arrive', async () => {
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    world.models.next(async ({ onDelta }) => {
      onDelta!({ reasoning: 'hm' });
      onDelta!({ content: 'Hel' });
      await held;
      onDelta!({ content: 'lo' });
      return reply({ content: 'Hello', finishReason: 'length' });
    });
    const client = new SseClient(await direct({ stream_options: { include_usage: true } }));
    await until('the first token', () => client.content === 'Hel');
    expect(client.reasoning).toBe('hm');
    go();
    const events = await client.all();
    expect(client.content).toBe('Hello');
    expect(events.at(-1)!.data).toBe('[DONE]');
    expect(client.chunks.filter((chunk) => chunk.choices[0]?.delta.role)).toHaveLength(1);
    expect(client.chunks.at(-2)!.choices[0]).toMatchObject({ delta: {}, finish_reason: 'length' });
    expect(client.chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 5 } });
  });

  it('streams a whole reply when its adapter sent no tokens', async () => {
    world.models.next(() => Promise.resolve(reply()));
    const client = new SseClient(await direct());
    await client.all();
    expect(client.content).toBe('Hello there');
  });

  it('opens the stream after a moment without a token and keeps it alive', async () => {
    await world.close();
    world = await World.open({ limits: { directHeadMs: 20, firstHeartbeatMs: 20, heartbeatMs: 20 } });
    let go = (): void => undefined;
    world.models.next(() => new Promise((resolve) => (go = () => resolve(reply()))));
    const client = new SseClient(await direct());
    await until('a heartbeat', () => client.events.some((event) => event.comment));
    go();
    await client.all();
    expect(client.content).toBe('Hello there');
  });

  it('that refuses immediately is an ordinary HTTP error', async () => {
    world.models.next(() => Promise.reject(new Failure('PROVIDER_RATE_LIMITED', undefined, { retryAfterMs: 7_000 })));
    const response = await direct();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'upstream_error' } });
  });

  it('to a model that its server does not have is the mistake of the client that named it', async () => {
    world.models.next(() => Promise.reject(new Failure('PROVIDER_MODEL_UNKNOWN', 'Provider fake, status 404.')));
    const response = await direct({ stream: false });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', message: expect.stringContaining('Provider fake') } });
  });

  it('that breaks in the middle of a reply is an error in the stream', async () => {
    world.models.next(async ({ onDelta }) => {
      onDelta!({ content: 'Hel' });
      throw new Failure('PROVIDER_STREAM_BROKEN');
    });
    const client = new SseClient(await direct());
    await client.all();
    expect(client.content).toBe('Hel');
    expect(client.failure?.code).toBe('PROVIDER_STREAM_BROKEN');
  });

  it('that may have cost money tells SDKs not to retry', async () => {
    world.models.next(() => Promise.reject(new Failure('CALL_TIMEOUT')));
    const response = await direct({ stream: false });
    expect(response.status).toBe(504);
    expect(response.headers.get('x-should-retry')).toBe('false');
    await response.text();
  });

  it.each([true, false])('is stopped within a second when its client disconnects (stream: %s)', async (stream) => {
    world.models.next(({ signal }) => untilAborted(signal));
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', { model: 'm@fake', stream, messages: [{ role: 'user', content: 'Why?' }] });
    await until('the call', () => world.models.calls.length === 1);
    client.leave();
    await until('the abort', () => world.models.calls[0]!.signal.aborted, { timeoutMs: 1_000 });
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]!.data).toMatchObject({ status: 'cancelled', usage: { calls: 1 } });
    expect(await ledger(recorded()[0]!)).toMatchObject({ calls: 1 });
  });

  it('that failed is recorded and charged with the usage that its adapter had counted', async () => {
    const usage = { ...noUsage, calls: 2, prompt: 30, completion: 4, cost: 0.5, estimated: true };
    world.models.next(() => Promise.reject(new Failure('PROVIDER_STREAM_BROKEN', 'cut', { context: { usage } })));
    await (await direct({ stream: false })).text();
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]!.data).toMatchObject({ status: 'error', usage, caller: { tenant: expect.any(String) } });
    expect(await ledger(recorded()[0]!)).toEqual(usage);
  });

  it('leaves an audit record of each call, without its text', async () => {
    world.models.next(() => Promise.resolve(reply()));
    await (await direct({ stream: false })).text();
    await until('the record', () => recorded().length === 1);
    const [record] = recorded();
    expect(record!.data).toMatchObject({
      purpose: 'direct',
      model: 'm@fake',
      status: 'ok',
      usage: { prompt: 3, completion: 2 },
      request: null,
      reply: null,
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(JSON.stringify(record)).not.toContain('sky');
  });

  it('is refused when too many calls are open', async () => {
    await world.close();
    world = await World.open({ limits: { directCalls: 1 } });
    let go = (): void => undefined;
    world.models.next(() => new Promise((resolve) => (go = () => resolve(reply()))));
    const first = direct({ stream: false });
    await until('the first call', () => world.models.calls.length === 1);
    const second = await direct({ stream: false });
    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('5');
    await second.text();
    go();
    expect((await first).status).toBe(200);
  });

  it('ends with an error when the gateway shuts down', async () => {
    world.models.next(({ signal, onDelta }) => {
      onDelta!({ content: 'Hel' });
      return untilAborted(signal);
    });
    const client = new SseClient(await direct());
    await until('the token', () => client.content === 'Hel');
    await world.app.close();
    await client.all();
    expect(client.failure?.code).toBe('SHUTTING_DOWN');
  });

  describe('of a provider with limits', () => {
    const provider = (over: object) => ({ name: 'fake', reachable: true, local: true, paid: false, note: '', maxConcurrency: 8, ...over });
    const breaker = { failures: 2, window: 20, share: 0.5, openMs: 60_000 };

    it('is not called again after its provider failed too often', async () => {
      world.models.known.push(provider({ breaker }));
      for (let n = 0; n < 2; n += 1) {
        world.models.next(() => Promise.reject(new Failure('PROVIDER_UNREACHABLE')));
        await (await direct({ stream: false })).text();
      }
      const refused = await direct({ stream: false });
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
      expect(await refused.json()).toMatchObject({ error: { code: 'PROVIDER_UNWELL' } });
      expect(world.models.calls).toHaveLength(2);
    });

    it('waits for a slot and is not called when its client disconnects first', async () => {
      world.models.known.push(provider({ maxConcurrency: 1 }));
      let go = (): void => undefined;
      world.models.next(() => new Promise((resolve) => (go = () => resolve(reply()))));
      world.models.next(() => Promise.resolve(reply()));
      const first = direct({ stream: false });
      await until('the first call', () => world.models.calls.length === 1);
      const client = await RawClient.open(world.url);
      client.post('/v1/chat/completions', { model: 'm@fake', stream: false, messages: [{ role: 'user', content: 'Why?' }] });
      const third = direct({ stream: false });
      client.leave();
      await until('the record of the second', () => recorded().length === 1);
      expect(recorded()[0]!.data).toMatchObject({ status: 'cancelled' });
      expect(world.models.calls).toHaveLength(1);
      go();
      expect((await first).status).toBe(200);
      expect((await third).status).toBe(200);
      expect(world.models.calls).toHaveLength(2);
    });
  });
});
