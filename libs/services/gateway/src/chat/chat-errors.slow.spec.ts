import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
}

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Returns the refusal after checking that it has exactly the four fields that clients know. */
async function refused(pending: Response | Promise<Response>): Promise<Refusal> {
  const response = await pending;
  const body = (await response.json()) as { error: Refusal['error'] };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(body.error.message).toMatch(/\.$/);
  return { status: response.status, headers: response.headers, error: body.error };
}

describe('a request that is refused', () => {
  it.each([
    ['malformed JSON', '{"model": "conclave", ', {}, 400, 'REQUEST_NOT_JSON'],
    ['an empty body', '', {}, 400, 'REQUEST_NOT_JSON'],
    ['JSON that is not an object', '[]', {}, 400, 'REQUEST_NOT_JSON'],
    ['another content type', 'model=conclave', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'MEDIA_TYPE_UNSUPPORTED'],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }, 415, 'MEDIA_TYPE_UNSUPPORTED'],
    ['no messages', '{"model":"conclave","messages":[]}', {}, 400, 'REQUEST_INVALID'],
    ['wrong types', '{"model":"conclave","messages":[{"role":"user","content":7}]}', {}, 400, 'REQUEST_INVALID'],
    [
      'a template whose model servers are down',
      '{"model":"asleep","messages":[{"role":"user","content":"x"}]}',
      {},
      502,
      'PROVIDER_UNREACHABLE',
    ],
    ['an unknown model', '{"model":"nobody","messages":[{"role":"user","content":"x"}]}', {}, 404, 'model_not_found'],
  ])('gets the error shape of OpenAI for %s', async (_, body, headers, status, code) => {
    const refusal = await refused(world.post('/v1/chat/completions', body, { headers }));
    expect(refusal).toMatchObject({ status, error: { code } });
    expect(refusal.headers.get('x-request-id')).toMatch(/^req_/);
    expect(refusal.headers.get('x-conclave')).toBe('1');
    expect(world.runs()).toEqual([]);
  });

  it('never repeats the content of the request', async () => {
    const { error } = await refused(world.post('/v1/chat/completions', '{"messages": "my secret" oops'));
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('lists the valid ids when the model is unknown', async () => {
    const { error } = await refused(world.chat({ model: 'gpt-5' }));
    expect(error).toMatchObject({ param: 'model', message: expect.stringContaining('conclave, gpt-4o, m@fake') });
  });

  it('may be 5 MB long', async () => {
    const refusal = await refused(world.chat({ messages: [{ role: 'user', content: 'x'.repeat(5 * 1024 * 1024) }] }));
    expect(refusal).toMatchObject({ status: 413, error: { code: 'REQUEST_TOO_LARGE', message: expect.stringContaining('1048576') } });
  });

  it('may have an endless body: it is answered before the body is read to its end', async () => {
    await world.close();
    world = await World.open({ limits: { maxBodyBytes: 1_000, maxAttachmentBytes: 0 } });
    const client = await RawClient.open(world.url);
    client.socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(20_000)}`,
    );
    await until('the answer', () => client.received.includes('REQUEST_TOO_LARGE'));
    expect(client.received).toMatch(/^HTTP\/1\.1 413/);
    expect(client.received).toContain('connection: close');
    client.leave();
  });

  it.each([
    ['GET', '/v1/unheard', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v1/unheard', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/v1/chat/completions', 405, 'METHOD_NOT_ALLOWED'],
    ['DELETE', '/v1/runs', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/v1/runs/%E0%A4%A', 400, 'REQUEST_INVALID'],
  ])('gets JSON for %s %s', async (method, path, status, code) => {
    expect(await refused(fetch(world.url + path, { method }))).toMatchObject({ status, error: { code } });
  });

  it('gets a JSON error even when it is not HTTP', async () => {
    const client = await RawClient.open(world.url);
    client.socket.write('HELLO\r\n\r\n');
    await until('the answer', () => client.closed);
    expect(client.received).toContain('HTTP/1.1 400');
    expect(JSON.parse(client.received.split('\r\n\r\n')[1]!)).toMatchObject({ error: { code: 'REQUEST_INVALID' } });
  });

  it('keeps the request id of the client', async () => {
    const response = await world.chat({ model: 'nobody' }, { headers: { 'x-request-id': 'abc-1' } });
    expect(response.headers.get('x-request-id')).toBe('abc-1');
    await response.text();
  });

  it('tells SDKs not to retry when a retry cannot help', async () => {
    const { headers } = await refused(world.chat({ n: 2 }));
    expect(headers.get('x-should-retry')).toBe('false');
  });
});

describe('an overloaded gateway', () => {
  it('refuses before it accepts anything, with a wait that clients respect', async () => {
    await world.close();
    world = await World.open({ limits: { openRuns: 2, retryAfterS: 300 } });
    const clients = [new SseClient(await world.chat()), new SseClient(await world.chat())];
    const refusal = await refused(world.chat());
    expect(refusal).toMatchObject({ status: 429, error: { type: 'rate_limit_error', code: 'OVERLOADED' } });
    expect(Number(refusal.headers.get('retry-after'))).toBe(60);
    expect(refusal.headers.get('x-should-retry')).toBeNull();
    expect(world.runs()).toHaveLength(2);
    expect(world.requested()).toHaveLength(2);
    for (const runId of world.runs()) world.stores.write(runId, [completed()]);
    await Promise.all(clients.map((client) => client.all()));
    const next = new SseClient(await world.chat());
    world.stores.write(world.runs()[2]!, [completed()]);
    await next.all();
    expect(next.content).toBe('It is blue [1].');
  });
});

describe('a run that a busy model server ended', () => {
  it.each([
    [12_300, '13'],
    [600_000, '60'],
    [undefined, '5'],
  ])('says how long to wait, if that is known: %j ms', async (retryAfterMs, seconds) => {
    const answered = world.chat({ stream: false });
    await until('the run', () => world.runs().length === 1);
    const failure = { code: 'PROVIDER_RATE_LIMITED', message: 'It is busy.', retriable: true, retryAfterMs };
    world.stores.write(world.run(), [completed({ outcome: 'failed', answer: null, failure })]);
    const { status, headers } = await answered;
    expect([status, headers.get('retry-after')]).toEqual([429, seconds]);
  });
});

describe('an outage', () => {
  it('of the store returns a 503 before anything is accepted', async () => {
    world.stores.red = 'does not answer.';
    const refusal = await refused(world.chat());
    expect(refusal).toMatchObject({
      status: 503,
      error: { code: 'NOT_READY', message: expect.stringContaining('State store: does not answer.') },
    });
    expect(Number(refusal.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(world.runs()).toEqual([]);
  });

  it('of the store during acceptance returns a 503', async () => {
    world.stores.outage = new Failure('STORE_UNAVAILABLE');
    expect(await refused(world.chat())).toMatchObject({ status: 503, error: { code: 'STORE_UNAVAILABLE' } });
  });

  it('of a log that hangs does not delay the head of the stream', async () => {
    await world.close();
    world = await World.open({ limits: { publishMs: 30 } });
    world.log.publish = () => new Promise(() => undefined);
    const client = new SseClient(await world.chat());
    await until('the role', () => client.chunks.length === 1);
    world.write(completed());
    await client.all();
  });

  it('of the log after acceptance leaves the run to the sweep, and the client gets its stream', async () => {
    world.publishFails = true;
    const client = new SseClient(await world.chat());
    await until('the role', () => client.chunks.length === 1);
    expect(world.requested()).toEqual([]);
    expect(world.stores.headers.get(world.run())).toMatchObject({ type: 'PlanRequested', id: world.run() });
    world.write(completed());
    await client.all();
    expect(client.content).toBe('It is blue [1].');
  });
});

describe('a retry', () => {
  const finishAll = async (...clients: SseClient[]): Promise<void> => {
    for (const runId of world.runs()) if (!world.stores.stored.get(runId)?.terminal) world.stores.write(runId, [completed()]);
    await Promise.all(clients.map((client) => client.all()));
  };

  it('by an SDK attaches to the run it repeats and gets the stream from its beginning', async () => {
    const one = new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '0' } }));
    world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 });
    await until('progress', () => one.reasoning !== '');
    const two = new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '1' } }));
    await finishAll(one, two);
    expect(world.runs()).toHaveLength(1);
    expect(two.reasoning).toBe(one.reasoning);
    expect(two.chunks[0]).toEqual(one.chunks[0]);
  });

  it('with an Idempotency-Key attaches, even when both requests arrive at the same moment', async () => {
    const headers = { 'idempotency-key': 'once' };
    const clients = (await Promise.all([1, 2, 3].map(() => world.chat({}, { headers })))).map((response) => new SseClient(response));
    expect(world.runs()).toHaveLength(1);
    await finishAll(...clients);
    expect(clients.every((client) => client.content === 'It is blue [1].')).toBe(true);
  });

  it('of a finished run gets its answer without another run', async () => {
    const one = new SseClient(await world.chat());
    await finishAll(one);
    const two = new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '1' } }));
    await two.all();
    expect(two.content).toBe(one.content);
    expect(world.runs()).toHaveLength(1);
  });

  it('of a finished run whose stream has expired gets the stored answer', async () => {
    await finishAll(new SseClient(await world.chat()));
    world.stores.streams.delete(world.run());
    const client = new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '1' } }));
    await client.all();
    expect(client.content).toBe('It is blue [1].');
  });

  it('after a long time starts a new run, unless it has an Idempotency-Key', async () => {
    const old = () => {
      for (const header of world.stores.headers.values()) header.data.requestedAt -= 3_600_000;
    };
    await finishAll(new SseClient(await world.chat()));
    old();
    await finishAll(new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '1' } })));
    expect(world.runs()).toHaveLength(2);
    await finishAll(new SseClient(await world.chat({}, { headers: { 'idempotency-key': 'k' } })));
    old();
    await finishAll(new SseClient(await world.chat({}, { headers: { 'idempotency-key': 'k' } })));
    expect(world.runs()).toHaveLength(3);
  });

  it('is accepted however often its run was cancelled', async () => {
    for (let n = 0; n < 12; n++) {
      const client = new SseClient(await world.chat({}, { headers: { 'x-stainless-retry-count': '1' } }));
      world.stores.write(world.runs().at(-1)!, [completed({ outcome: 'cancelled', answer: null })]);
      await client.all();
      expect(client.failure?.code).toBe('RUN_CANCELLED');
    }
    expect(world.runs()).toHaveLength(12);
  });

  it.each(['cancelled', 'failed'] as const)('of a %s run starts a new one', async (outcome) => {
    const headers = { 'idempotency-key': 'again' };
    const one = new SseClient(await world.chat({}, { headers }));
    world.write(completed({ outcome, answer: null }));
    await one.all();
    const two = new SseClient(await world.chat({}, { headers }));
    expect(world.runs()).toHaveLength(2);
    const three = new SseClient(await world.chat({}, { headers }));
    expect(world.runs()).toHaveLength(2);
    await finishAll(two, three);
  });

  it.each([
    ['no header marks it as a retry', {}, {}],
    ['it is the first try', {}, { 'x-stainless-retry-count': '0' }],
    ['the body differs', { temperature: 0.1 }, { 'x-stainless-retry-count': '1' }],
    ['the key differs', {}, { 'x-stainless-retry-count': '1', authorization: 'Bearer other' }],
  ])('starts a run of its own when %s', async (_, over, headers) => {
    const clients = [new SseClient(await world.chat()), new SseClient(await world.chat(over, { headers }))];
    expect(world.runs()).toHaveLength(2);
    await finishAll(...clients);
  });
});

describe('limits of the request', () => {
  it('that leave no model call are its own mistake, and the answer says which to raise', async () => {
    const asked = world.chat({ stream: false }, { headers: { 'x-conclave-tokens': '1' } });
    await until('the run', () => world.requested().length > 0);
    const failure = { code: 'ALLOWANCE_EXHAUSTED', message: 'No token or money is left for this.', retriable: false };
    world.write(completed({ outcome: 'failed', answer: null, failure }));
    const response = await asked;
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { type: 'invalid_request_error', message: expect.stringContaining('Raise those in the request') } },
    ]);
  });
});

describe('keys', () => {
  beforeEach(async () => {
    await world.close();
    world = await World.open({ keys: twoTenants });
  });

  it.each<Record<string, string>>([{}, { authorization: 'Bearer wrong' }, { 'x-api-key': "' OR 1=1 --" }, { authorization: 'Basic abc' }])(
    'that are unknown get one generic 401: %j',
    async (headers) => {
      const refusal = await refused(world.chat({}, { headers }));
      expect(refusal).toMatchObject({ status: 401, error: { code: 'invalid_api_key', message: 'The API key is missing or unknown.' } });
    },
  );

  it('are checked before the body is read', async () => {
    expect((await refused(world.post('/v1/chat/completions', '{'))).status).toBe(401);
  });

  it.each<Record<string, string>>([{ authorization: 'Bearer sk-a' }, { 'x-api-key': 'sk-a' }])(
    'work equally in either header: %j',
    async (headers) => {
      const client = new SseClient(await world.chat({}, { headers }));
      expect(world.requested()[0]!.data.caller).toEqual({ tenant: 'a', actor: 'key_a' });
      world.write(completed());
      await client.all();
    },
  );
});
