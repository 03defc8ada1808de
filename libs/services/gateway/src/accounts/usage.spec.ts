import { type CallRecorded, noUsage, type UsageReport } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { reply, twoTenants, World } from '../__fixtures__/world.js';
import type { ApiKeys } from '../options.js';

/** The keys of two tenants and of the operator. */
const keys: ApiKeys = {
  identifyHash: (hash) => twoTenants.identifyHash(hash),
  identify: async (key) =>
    key === 'sk-root'
      ? { keyId: 'static:root', name: 'root', tenant: 'default', actor: 'key_root', role: 'admin' }
      : twoTenants.identify(key),
};

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe('GET /v1/usage', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.open({ keys });
    await call('sk-a', 100);
    await call('sk-a', 10, { user: 'ann@example.org' });
    await call('sk-a', 5, {}, { 'x-openwebui-user-id': 'u-7' });
    await call('sk-a-full', 40, { model: 'org/m:8b@fake' });
    await call('sk-b', 1_000);
  });
  afterEach(() => world.close());

  async function call(key: string, prompt: number, over: object = {}, headers: Record<string, string> = {}): Promise<void> {
    const { usage } = world.stores.state;
    const before = await usage.ofAccount({ tenant: 'a', period: 'day', at: Date.now() });
    world.models.next(async () => reply({ usage: { ...noUsage, calls: 1, prompt, cost: prompt / 100 } }));
    const answer = await world.chat(
      { model: 'm@fake', stream: false, ...over },
      { headers: { authorization: `Bearer ${key}`, ...headers } },
    );
    expect(answer.status).toBe(200);
    const began = performance.now();
    while (key !== 'sk-b' && (await usage.ofAccount({ tenant: 'a', period: 'day', at: Date.now() })).calls === before.calls)
      if (performance.now() - began > 10_000) throw new Error('The call was not counted.');
      else await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const get = async (key: string, query = ''): Promise<UsageReport & { readonly error?: { readonly code: string } }> =>
    (await (await fetch(`${world.url}/v1/usage${query}`, { headers: { 'x-api-key': key } })).json()) as UsageReport;
  const today = new Date().toISOString().slice(0, 10);

  it('shows a key its own usage beside the total of its tenant', async () => {
    const report = await get('sk-a', '?group_by=key');
    expect(report).toMatchObject({
      object: 'usage',
      tenant: 'a',
      to: today,
      own: { calls: 3, prompt: 115 },
      total: { calls: 4, prompt: 155 },
    });
    expect(report.data).toEqual([{ ...noUsage, key: 'key_a', calls: 3, prompt: 115, cost: expect.closeTo(1.15) as never }]);
    expect((await get('sk-a', '?key=key_a_full')).data).toEqual([]);
  });

  it.each(['sk-a-auditor', 'sk-a-admin'])('shows %s every key of the tenant, in the requested groups', async (key) => {
    expect((await get(key, '?group_by=key')).data.map(({ key: actor, prompt }) => [actor, prompt])).toEqual([
      ['key_a', 115],
      ['key_a_full', 40],
    ]);
    expect((await get(key, '?group_by=day,model')).data.map(({ day, model, prompt }) => [day, model, prompt])).toEqual([
      [today, 'm@fake', 115],
      [today, 'org/m:8b@fake', 40],
    ]);
    expect((await get(key)).data).toHaveLength(4);
  });

  it('separates end users behind a shared key by a hash and finds them by the id that their client sends', async () => {
    const rows = (await get('sk-a', '?group_by=user')).data;
    expect(rows.map(({ user, prompt }) => [user === null ? null : 'hash', prompt]).sort()).toEqual([
      [null, 100],
      ['hash', 10],
      ['hash', 5],
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/ann|u-7/);
    const [ann] = (await get('sk-a', '?group_by=user&user=ann@example.org')).data;
    expect(ann).toMatchObject({ prompt: 10 });
    expect((await get('sk-a', `?group_by=model&user=${ann!.user}`)).data).toMatchObject([{ model: 'm@fake', prompt: 10 }]);
    await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': 'sk-a', 'x-openwebui-user-id': 'u-7' } });
    expect(world.requested().at(-1)!.data.caller).toEqual({
      tenant: 'a',
      actor: 'key_a',
      user: expect.stringMatching(/^user_[0-9a-f]{24}$/),
    });
  });

  it('counts usage for the end user that the body of any API names, and stores the id nowhere', async () => {
    const keeping = await World.open({ keys, parts: { recordPrompts: true } });
    const asked: readonly (readonly [string, object])[] = [
      ['/v1/chat/completions', { model: 'm@fake', messages: [{ role: 'user', content: 'Why?' }] }],
      ['/v1/completions', { model: 'm@fake', prompt: 'Why?' }],
      ['/v1/responses', { model: 'm@fake', input: 'Why?' }],
      ['/v1/embeddings', { model: 'e@fake', input: 'Why?' }],
    ];
    try {
      for (const [path, body] of asked) {
        keeping.models.next(async () => reply());
        const answer = await keeping.post(path, { ...body, user: 'canary-u', safety_identifier: 'canary-s' }, as('sk-a'));
        expect([path, answer.status]).toEqual([path, 200]);
        expect(await answer.text()).not.toContain('canary');
      }
      const question = { user: 'canary-u', safety_identifier: 'canary-s', model: 'conclave' };
      const run = await keeping.post('/v1/runs', { ...question, input: 'Why?' }, as('sk-a'));
      const later = await keeping.post('/v1/responses', { ...question, input: 'Why?', background: true }, as('sk-a'));
      expect([run.status, later.status, await later.text()]).toEqual([202, 200, expect.not.stringContaining('canary')]);
      await until('the calls are recorded', () => keeping.events('audit').length === asked.length);
      const callers = [...keeping.events<CallRecorded>('audit'), ...keeping.requested()].map(({ data }) => data.caller?.user);
      expect(callers).toEqual(Array(asked.length + 2).fill(expect.stringMatching(/^user_[0-9a-f]{24}$/)));
      expect(new Set(callers).size).toBe(1);
      expect(JSON.stringify([keeping.events('audit'), keeping.requested(), keeping.lines])).not.toContain('canary');
      // The id is passed on to models of providers, in the form of their own API.
      expect(keeping.models.calls.map(({ request }) => request.body)).toEqual(
        Array(3).fill(expect.objectContaining({ user: 'canary-u', safety_identifier: 'canary-s' })),
      );
    } finally {
      await keeping.close();
    }
  });

  it('shows another tenant only to admins of the tenant default', async () => {
    expect((await get('sk-root', '?tenant=a&group_by=day')).data).toMatchObject([{ day: today, prompt: 155 }]);
    for (const key of ['sk-a', 'sk-a-auditor', 'sk-a-admin', 'sk-b-admin'])
      expect((await get(key, `?tenant=${key.startsWith('sk-a') ? 'b' : 'a'}`)).error?.code).toBe('OPERATOR_KEY_NEEDED');
  });

  it('returns only the requested days and refuses invalid ones', async () => {
    const { from, data } = await get('sk-a', '?from=2020-01-01&to=2020-02-29');
    expect([from, data]).toEqual(['2020-01-01', []]);
    for (const query of ['?from=yesterday', '?to=2026-02-30', '?from=2026-02-02&to=2026-02-01', '?from=2020-01-01', '?group_by=colour'])
      expect((await get('sk-a', query)).error?.code).toBe('REQUEST_INVALID');
  });
});
