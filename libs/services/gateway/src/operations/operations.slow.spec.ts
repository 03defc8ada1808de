import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { twoTenants, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
});
afterEach(() => world.close());

const admin = { 'x-api-key': 'sk-admin' };
const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(world.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('the page at /', () => {
  it('shows its address and one line to try without a key, lists the models only for authorized callers, and runs no script', async () => {
    const stranger = await get('/');
    expect([stranger.status, stranger.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(stranger.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(stranger.text).toContain(`${world.url}/v1</code>`);
    expect(stranger.text).toContain('$CONCLAVE_API_KEY');
    expect(stranger.text).not.toContain('<code>conclave</code>');
    expect(stranger.text).not.toMatch(/<script|src=|href=/);
    const { text } = await get('/', admin);
    expect(text).toContain('<code>conclave</code>');
    const line = /<pre><code>curl (\S+)/.exec(text)![1]!;
    expect(line).toBe(`${world.url}/v1/chat/completions`);
  });
});

describe('health', () => {
  it('is served at /health and at /health/ready', async () => {
    expect(await get('/health')).toMatchObject({ status: 200, text: '{"status":"ready"}' });
    world.stores.red = 'is older than the log.';
    expect(await get('/health')).toMatchObject({ status: 503, text: '{"status":"not_ready"}' });
    expect((await get('/health', admin)).text).toContain('State store: is older than the log.');
  });

  it('is live without a key', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200, text: '{"status":"live"}' });
  });

  it('is ready when no check is red', async () => {
    expect(await get('/health/ready')).toMatchObject({ status: 200, text: '{"status":"ready"}' });
    expect(JSON.parse((await get('/health/ready', admin)).text)).toEqual({ status: 'ready', red: [] });
  });

  it('explains in sentences what is red, only to the admin', async () => {
    world.stores.red = 'is older than the log.';
    world.consumer = 'no fetch for 30 s.';
    const { status, text, headers } = await get('/health/ready', admin);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('5');
    expect(JSON.parse(text)).toEqual({
      status: 'not_ready',
      red: ['State store: is older than the log.', 'Consumer merger: no fetch for 30 s.'],
    });
    for (const key of [undefined, 'sk-a', 'sk-a-auditor', 'sk-a-admin', 'sk-wrong'])
      expect(await get('/health/ready', key ? { 'x-api-key': key } : {})).toMatchObject({ status: 503, text: '{"status":"not_ready"}' });
  });

  it('shows the reasons to every caller when keys are not required, unless other machines may connect', async () => {
    const [local, open] = [await World.open(), await World.open({ access: { open: true } })];
    try {
      for (const one of [local, open]) one.stores.red = 'is older than the log.';
      const reasons = async (one: World) => ((await (await fetch(`${one.url}/health/ready`)).json()) as { red?: string[] }).red;
      expect([await reasons(local), await reasons(open)]).toEqual([['State store: is older than the log.'], undefined]);
    } finally {
      await local.close();
      await open.close();
    }
  });

  it('is red when a store throws an error', async () => {
    world.stores.state.health = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
    expect(JSON.parse((await get('/health/ready', admin)).text).red).toEqual(['State store: The state store does not answer.']);
  });

  it('does not refuse questions while a consumer is stalled', async () => {
    world.consumer = 'no fetch for 30 s.';
    expect((await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': 'sk-a' } })).status).toBe(202);
  });
});

describe('on the public port', () => {
  it('metrics are not served, with any key', async () => {
    for (const key of ['sk-a', 'sk-admin']) expect((await get('/metrics', { 'x-api-key': key })).status).toBe(404);
  });

  it('details of health are served only to the operator', async () => {
    world.stores.red = 'is older than the log.';
    expect(JSON.parse((await get('/v1/admin/health', { 'x-api-key': 'sk-admin' })).text)).toEqual({
      status: 'not_ready',
      red: ['State store: is older than the log.'],
    });
    for (const key of ['sk-a', 'sk-a-auditor', 'sk-a-admin'])
      expect((await get('/v1/admin/health', { 'x-api-key': key })).status).toBe(403);
  });
});

describe('the API documents', () => {
  it('are served as they were generated', async () => {
    const key = { 'x-api-key': 'sk-a' };
    expect(JSON.parse((await get('/openapi.json', key)).text)).toMatchObject({
      openapi: '3.1.0',
      paths: { '/v1/chat/completions': expect.anything() },
    });
    expect(JSON.parse((await get('/asyncapi.json', key)).text)).toEqual({ asyncapi: '3.0.0' });
  });

  it('require a key only where keys are required', async () => {
    for (const path of ['/openapi.json', '/asyncapi.json']) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, { 'x-api-key': 'sk-wrong' })).status).toBe(401);
    }
    const local = await World.open();
    try {
      expect((await fetch(`${local.url}/openapi.json`)).status).toBe(200);
    } finally {
      await local.close();
    }
  });
});

describe('models', () => {
  const key = { authorization: 'Bearer sk-a' };

  it('are listed as OpenAI clients expect', async () => {
    const { status, text } = await get('/v1/models', key);
    expect(status).toBe(200);
    const list = JSON.parse(text) as { object: string; data: { id: string }[] };
    expect(list.object).toBe('list');
    expect(list.data[0]).toEqual({ id: 'conclave', object: 'model', created: 1, owned_by: 'conclave', description: expect.any(String) });
    expect(list.data.map((model) => model.id)).toEqual(['conclave', 'gpt-4o', 'm@fake', 'org/m:8b@fake']);
  });

  it.each(['conclave', 'gpt-4o', 'm@fake', 'm%40fake', 'org/m:8b@fake', 'org%2Fm%3A8b%40fake'])('are found by id: %s', async (id) => {
    const { status, text } = await get(`/v1/models/${id}`, key);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id: decodeURIComponent(id), object: 'model' });
  });

  it('that do not exist are a 404 that lists the valid ids', async () => {
    const { status, text } = await get('/v1/models/nobody', key);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'model_not_found', message: expect.stringContaining('org/m:8b@fake') } });
  });

  it('require a key like everything else', async () => {
    expect((await get('/v1/models')).status).toBe(401);
  });

  it('include only the templates while a provider does not answer', async () => {
    const slow = await World.open({ limits: { modelListMs: 50 }, describeModels: () => new Promise(() => undefined) });
    try {
      const began = performance.now();
      const list = (await (await fetch(`${slow.url}/v1/models`)).json()) as { data: { id: string }[] };
      expect(list.data.map((model) => model.id)).toEqual(['conclave']);
      expect(performance.now() - began).toBeLessThan(2_000);
    } finally {
      await slow.close();
    }
  });
});

describe('every response', () => {
  it.each(['/health/live', '/v1/models', '/v1/nothing', '/openapi.json'])('has a request id and our header: %s', async (path) => {
    const { headers } = await get(path);
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get('x-conclave')).toBe('1');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('is reported once, under its path in the route table', async () => {
    await get('/v1/models/org/m:8b@fake', { 'x-api-key': 'sk-a' });
    await get('/v1/secret-path');
    expect(world.metric('onRequest').map(([request]) => request)).toMatchObject([
      { method: 'GET', route: '/v1/models/{id+}', status: 200 },
      { method: 'other', route: 'other', status: 404 },
    ]);
  });
});
