import { callStep, KeyLimits, noUsage, taskId } from '@conclave/contracts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { completed, keysOf, reply, World, type WorldOptions } from '../__fixtures__/world.js';
import type { ApiKeys, KeyOwner } from '../options.js';

const none = KeyLimits.parse({});

/** Keys of tenant `a`, by their value. */
const keysWith = (limits: Partial<KeyLimits>, more: Partial<KeyOwner> = {}): ApiKeys => ({
  identifyHash: async () => null,
  identify: async (key) =>
    key === null
      ? null
      : {
          ...{ keyId: `static:${key}`, name: key, tenant: 'a', actor: `key_${key}`, role: 'user' },
          ...(key === 'free' ? {} : { limits: { ...none, ...limits } }),
          ...more,
        },
});

describe('limits of an API key', () => {
  const worlds: World[] = [];
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((world) => world.close()));
  });
  const open = async (limits: Partial<KeyLimits>, options: WorldOptions = {}, owner: Partial<KeyOwner> = {}): Promise<World> => {
    const world = await World.open({ keys: keysWith(limits, owner), ...options, limits: { pollMs: 20, ...options.limits } });
    worlds.push(world);
    return world;
  };
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const run = (world: World, key = 'sk') => world.post('/v1/runs', { model: 'conclave', input: 'Why is the sky blue?' }, as(key));
  const direct = (world: World, key = 'sk', over: object = {}) => {
    world.models.next(async () => reply({ usage: { ...noUsage, calls: 1, prompt: 30, completion: 20, cost: 0.5 } }));
    return world.chat({ model: 'm@fake', stream: false, ...over }, as(key));
  };
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

  /** The calls of an ended run, as the workers count them and the engine records them. */
  async function end(world: World, runId: string, tokens: number, ...late: number[]): Promise<void> {
    for (const [n, prompt] of [tokens, ...late].entries())
      await world.stores.state.usage.add({
        ...{ runId, step: callStep(taskId(runId, 0, `t${n}`), 0), attempt: 1, at: Date.now() },
        ...{ usage: { ...noUsage, calls: 1, prompt, cost: prompt / 1000 }, caller: { tenant: 'a', actor: 'key_sk' } },
      });
    world.stores.write(runId, [completed()]);
  }
  const until = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
    const began = performance.now();
    while (!(await holds())) {
      if (performance.now() - began > 20_000) throw new Error(`Waited in vain until ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it('are shown in every response, and a refusal says how long to wait', async () => {
    const world = await open({ requests_per_minute: 2, tokens_per_minute: 100_000 });
    const first = await direct(world);
    expect(first.status).toBe(200);
    const headers = Object.fromEntries([...first.headers].filter(([name]) => name.startsWith('x-ratelimit')));
    expect(headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': expect.stringMatching(/^1m[01]s$|^\d+s$/) as never,
      'x-ratelimit-limit-tokens': '100000',
    });
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeLessThan(96_000);
    expect((await run(world)).status).toBe(202);
    const refused = await run(world);
    expect([refused.status, refused.headers.get('x-should-retry'), refused.headers.get('x-ratelimit-remaining-requests')]).toEqual([
      ...[429, null, '0'],
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(await codeOf(refused)).toBe('rate_limit_exceeded');
  });

  it.each([
    ['/v1/chat/completions', { model: 'conclave', messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/chat/completions', { model: 'm@fake', messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/chat/completions', { model: 'conclave', stream: true, messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/completions', { model: 'm@fake', prompt: 'Why?' }],
    ['/v1/messages', { model: 'conclave', max_tokens: 50, messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/responses', { model: 'conclave', input: 'Why?' }],
    ['/v1/responses', { model: 'conclave', input: 'Why?', background: true }],
    ['/v1/embeddings', { model: 'e@fake', input: 'Why?' }],
    ['/v1/runs', { model: 'conclave', input: 'Why?' }],
  ])('apply in %s to %j', async (path, body) => {
    const world = await open({ requests_per_minute: 1 });
    expect((await direct(world)).status).toBe(200);
    const refused = await world.post(path, body, as('sk'));
    expect([refused.status, refused.headers.get('x-ratelimit-limit-requests')]).toEqual([429, '1']);
    expect([world.runs(), world.models.calls.length, world.models.embedded.length]).toEqual([[], 1, 0]);
  });

  it('refuse with a single request to the store and change nothing', async () => {
    const world = await open({ requests_per_minute: 1 });
    await direct(world);
    const asked: string[] = [];
    const { state } = world.stores;
    for (const part of ['runs', 'caches', 'usage', 'allowances', 'settings'] as const)
      Object.assign(state, { [part]: heard(state[part], (name) => asked.push(`${part}.${name}`)) });
    expect((await run(world)).status).toBe(429);
    expect(asked.filter((name) => !name.startsWith('settings'))).toEqual(['allowances.reserve']);
    asked.length = 0;
    expect((await run(world, 'free')).status).toBe(202);
    expect(asked.filter((name) => name.startsWith('allowances'))).toEqual([]);
  });

  it('apply to each end user that a request names, in any of the APIs, and the refusal says so', async () => {
    const world = await open({}, {}, { userLimits: { ...none, requests_per_minute: 1 } });
    const messages = (user_id: unknown) => {
      world.models.next(async () => reply({}));
      const body = { model: 'm@fake', max_tokens: 50, messages: [{ role: 'user', content: 'Why?' }], metadata: { user_id } };
      return world.post('/v1/messages', body, as('sk'));
    };
    expect((await messages('ann')).status).toBe(200);
    const refused = await messages('ann');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('The end user whom this request names is at the limit') },
    });
    expect((await direct(world, 'sk', { user: 'ann' })).status).toBe(429);
    const named = { headers: { ...as('sk').headers, 'x-openwebui-user-id': 'ann' } };
    expect((await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, named)).status).toBe(429);
    // Other users, requests that name no user, and the same user behind another key are not affected.
    expect([(await messages('bob')).status, (await direct(world, 'other', { user: 'ann' })).status]).toEqual([200, 200]);
    for (const nobody of [undefined, null, 7, '']) expect((await messages(nobody)).status).toBe(200);
  });

  it.each([
    ['/v1/chat/completions', { model: 'm@fake', messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/chat/completions', { model: 'conclave', messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/completions', { model: 'm@fake', prompt: 'Why?' }],
    ['/v1/completions', { model: 'conclave', prompt: 'Why?' }],
    ['/v1/responses', { model: 'm@fake', input: 'Why?' }],
    ['/v1/responses', { model: 'conclave', input: 'Why?' }],
    ['/v1/responses', { model: 'conclave', input: 'Why?', background: true }],
    ['/v1/embeddings', { model: 'e@fake', input: 'Why?' }],
    ['/v1/runs', { model: 'conclave', input: 'Why?' }],
  ])('apply to the end user that the body of %s names, for %j', async (path, body) => {
    const world = await open({}, {}, { userLimits: { ...none, requests_per_minute: 1 } });
    expect((await direct(world, 'sk', { user: 'ann' })).status).toBe(200);
    const ask = (named: object, headers: Record<string, string> = {}) =>
      world.post(path, { ...body, ...named }, { headers: { ...as('sk').headers, ...headers } });
    expect((await ask({ user: 'ann' })).status).toBe(429);
    // The newer name takes precedence over the older one, and a header of Open WebUI over both.
    expect((await ask({ user: 'bob', safety_identifier: 'ann' })).status).toBe(429);
    expect((await ask({ safety_identifier: '', user: 'ann' })).status).toBe(429);
    expect((await ask({ user: 'bob' }, { 'x-openwebui-user-id': 'ann' })).status).toBe(429);
    expect([world.runs(), world.models.calls.length, world.models.embedded.length]).toEqual([[], 1, 0]);
  });

  it('include a daily budget for each end user that is independent of other users of the same key', async () => {
    const world = await open({}, { limits: { reserveTokens: 1 } }, { userLimits: { ...none, tokens_per_day: 60 } });
    for (const user of ['ann', 'ann', 'bob']) expect((await direct(world, 'sk', { user, max_tokens: 1 })).status).toBe(200);
    await until('what was spent is charged', async () => (await direct(world, 'sk', { user: 'ann', max_tokens: 1 })).status === 429);
    expect((await direct(world, 'sk', { user: 'bob', max_tokens: 1 })).status).toBe(200);
  });

  it('bound the number of open runs and admit the next one when a run has ended, even if no client waits for it', async () => {
    const world = await open({ concurrent_runs: 1 });
    const { id } = (await (await run(world)).json()) as { id: string };
    expect(await codeOf(await run(world))).toBe('rate_limit_exceeded');
    expect((await run(world, 'other')).status).toBe(202);
    await end(world, id, 10);
    await until('the place was free', async () => (await run(world)).status === 202);
  });

  it('reserve what a run may need, settle what it spent, and report when the budget is spent', async () => {
    const world = await open({ tokens_per_day: 1_000 }, { limits: { reserveTokens: 1_000 } });
    const { id } = (await (await run(world)).json()) as { id: string };
    const held = await run(world);
    expect([held.status, await codeOf(held), held.headers.get('x-should-retry')]).toEqual([429, 'rate_limit_exceeded', null]);
    await end(world, id, 300, 200);
    let second: Response = held;
    await until('the reservation was settled', async () => (second = await run(world)).status === 202);
    const { id: next } = (await second.json()) as { id: string };
    await end(world, next, 500);
    let spent: Response = held;
    await until('the budget was spent', async () => (await codeOf((spent = await run(world)))) === 'insufficient_quota');
    expect([spent.status, spent.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(Number(spent.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(spent.headers.get('x-ratelimit-remaining-tokens')).toBe('0');
  });

  it.each<[string, Partial<KeyLimits>]>([
    ['open runs', { concurrent_runs: 1 }],
    ['tokens of the minute', { tokens_per_minute: 1_000 }],
    ['tokens of the day', { tokens_per_day: 1_000 }],
  ])('admit the next request as soon as a run has ended, before its reservation is looked at: %s', async (_, limits) => {
    const world = await open(limits, { limits: { pollMs: 60_000, reserveTokens: 1_000 } });
    const { id } = (await (await run(world)).json()) as { id: string };
    const early = await Promise.all([run(world), run(world)]);
    expect(early.map(({ status }) => status)).toEqual([429, 429]);
    await end(world, id, 10);
    expect((await run(world)).status).toBe(202);
  });

  it('let a run spend what is left of the budget and no more', async () => {
    const world = await open({ tokens_per_day: 5_000, cost_per_month: 2 });
    await run(world);
    expect(world.requested()[0]!.data.limits).toMatchObject({ tokens: 5_000, cost: 2, model_calls: 60 });
    await run(world, 'free');
    expect(world.requested()[1]!.data.limits).toMatchObject({ tokens: 200_000, cost: null });
  });

  it('bound cost by the actual cost of calls', async () => {
    const world = await open({ cost_per_day: 1 });
    expect((await direct(world)).status).toBe(200);
    expect((await direct(world)).status).toBe(200);
    await until('both calls were charged', async () => (await world.stores.state.usage.ofAccount(dayOf('key_sk'))).cost === 1);
    expect(await codeOf(await direct(world))).toBe('insufficient_quota');
  });

  it('apply to all keys of a tenant together', async () => {
    const world = await open({}, {}, { tenantLimits: { ...none, requests_per_minute: 2 } });
    const codes = [await direct(world, 'one'), await direct(world, 'two'), await direct(world, 'three')].map(({ status }) => status);
    expect(codes).toEqual([200, 200, 429]);
  });

  it('of a tenant are set by an admin and apply to configured keys within two seconds', async () => {
    const world = await open({}, { access: { known: keysOf({}) } });
    const admin = await open({}, { share: world }, { tenant: 'default', role: 'admin' });
    expect((await direct(world, 'one')).status).toBe(200);
    const set = await fetch(`${admin.url}/v1/admin/tenants/a`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk' },
      body: JSON.stringify({ limits: { ...none, requests_per_minute: 1 } }),
    });
    expect(set.status).toBe(200);
    await until('the limit holds', async () => (await direct(world, 'two')).headers.get('x-ratelimit-limit-requests') === '1');
    expect((await direct(world, 'one')).status).toBe(429);
  });

  it('reserve nothing for a request that is refused for another reason', async () => {
    const world = await open({ concurrent_runs: 1 }, { limits: { openRuns: 1, directCalls: 1 } });
    const { id } = (await (await run(world, 'free')).json()) as { id: string };
    expect(await codeOf(await run(world))).toBe('OVERLOADED');
    world.models.next(() => Promise.reject(new Error('the model is broken')));
    expect((await world.chat({ model: 'm@fake', stream: false }, as('sk'))).status).toBe(500);
    await end(world, id, 1);
    await until('a run is accepted', async () => (await run(world)).status === 202);
  });

  it('count a call whose client has disconnected', async () => {
    const world = await open({ concurrent_runs: 1 });
    const leaving = new AbortController();
    let isCalled = false;
    world.models.next(async ({ signal }) => {
      isCalled = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return reply({ usage: { ...noUsage, calls: 1, prompt: 40 } });
    });
    const asked = world.chat({ model: 'm@fake', stream: false }, { ...as('sk'), signal: leaving.signal });
    asked.catch(() => undefined);
    await until('the model is called', () => isCalled);
    expect((await run(world)).status).toBe(429);
    leaving.abort();
    await until('the place was free', async () => (await run(world)).status === 202);
    expect((await world.stores.state.usage.ofAccount(dayOf('key_sk'))).prompt).toBe(40);
  });

  it('are enforced across two gateways: of 200 concurrent requests, a budget for 50 is used up and not exceeded', async () => {
    const limits = { tokens_per_day: 50 * 50 };
    const options = { limits: { reserveTokens: 50, directCalls: 500 } };
    const first = await open(limits, options);
    const second = await open(limits, { ...options, share: first });
    for (const world of [first, second])
      for (let n = 0; n < 200; n++) world.models.next(async () => reply({ usage: { ...noUsage, calls: 1, prompt: 30, completion: 20 } }));
    const ask = async (n: number): Promise<number> => {
      const body = { model: 'm@fake', stream: false, max_tokens: 40, messages: [{ role: 'user', content: 'Why?' }] };
      return (await (n % 2 ? first : second).post('/v1/chat/completions', body, as('sk'))).status;
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(n)));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const spent = async () => amount(await first.stores.state.usage.ofAccount(dayOf('key_sk')));
    // Requests that were refused while everything was reserved are sent again.
    await until('the budget is spent', async () => {
      const refused = await first.post(
        '/v1/chat/completions',
        { model: 'm@fake', messages: [{ role: 'user', content: 'Why?' }] },
        as('sk'),
      );
      return refused.status === 429 && (await codeOf(refused)) === 'insufficient_quota';
    });
    expect(await spent()).toBeGreaterThanOrEqual(0.9 * 2_500);
    expect(await spent()).toBeLessThanOrEqual(2_500 + 60);
  });

  it('get back what a gateway had reserved when that gateway is gone', async () => {
    const options = { limits: { reservationLeaseMs: 300 } };
    const first = await open({ concurrent_runs: 1 }, options);
    const second = await open({ concurrent_runs: 1 }, { ...options, share: first });
    await run(first);
    // Longer than the lease: a gateway that is alive keeps its reservations.
    const began = performance.now();
    while (performance.now() - began < 1_000) expect((await run(second)).status).toBe(429);
    worlds.splice(worlds.indexOf(first), 1);
    await first.close();
    await until('the reservation is back', async () => (await run(second)).status === 202);
  });
});

const dayOf = (actor: string) => ({ tenant: 'a', actor, period: 'day', at: Date.now() }) as const;
const amount = ({ prompt, completion }: { readonly prompt: number; readonly completion: number }): number => prompt + completion;

/** The part of a store, reporting the calls it receives. */
const heard = (part: object, tell: (name: string) => void): object =>
  new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      tell(String(name));
      return member.bind(target) as unknown;
    },
  });
