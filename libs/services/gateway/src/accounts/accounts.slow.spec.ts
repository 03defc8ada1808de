import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KeyCreated, KeyList, KeyView, type SettingChanged, TenantList, TenantView } from '@conclave/contracts';
import { adminKey, twoTenants, World } from '../__fixtures__/world.js';
import { hashOfKey } from './key-value.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
});
afterEach(() => world.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & {
    readonly error?: { readonly code: string; readonly message: string; readonly param: string | null };
  };
}
async function call(method: string, path: string, body?: unknown, key = 'sk-admin'): Promise<Answer> {
  const response = await fetch(`${world.url}/v1/admin${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}
const issued = async (over: object = {}, key?: string): Promise<KeyCreated> => {
  const { status, body } = await call('POST', '/keys', { name: 'front end', ...over }, key);
  expect([status, body.error]).toEqual([201, undefined]);
  return KeyCreated.parse(body);
};
const listed = async (key?: string, query = ''): Promise<readonly string[]> =>
  KeyList.parse((await call('GET', `/keys${query}`, undefined, key)).body).data.map(({ id }) => id);
const refusal = ({ status, body }: Answer): readonly unknown[] => [status, body.error?.code, body.error?.param];
const worksWith = async (key: string): Promise<number> => (await fetch(`${world.url}/v1/models`, { headers: { 'x-api-key': key } })).status;

describe('an issued key', () => {
  it('shows its value once and puts neither value nor hash into views, events and logs', async () => {
    const answer = await call('POST', '/keys', { name: ' front end ' });
    const first = KeyCreated.parse(answer.body);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(first).toMatchObject({
      ...{
        object: 'key',
        name: 'front end',
        tenant: 'default',
        role: 'user',
        detail: 'redacted',
        templates: null,
        limits: null,
        user_limits: null,
      },
      ...{ expires_at: null, state: 'active', created_by: 'admin', revoked_at: null, former_value_until: null },
    });
    expect(first.key).toMatch(/^sk-cv-[\w-]{43}$/);
    expect(first.hint).toBe(`sk-cv-…${first.key.slice(-4)}`);
    expect(await worksWith(first.key)).toBe(200);

    const rotation = await call('POST', `/keys/${first.id}/rotate`, { grace_s: 600 });
    const second = KeyCreated.parse(rotation.body);
    expect(rotation.headers.get('cache-control')).toBe('no-store');
    const views = [
      await call('GET', '/keys'),
      await call('GET', `/keys/${first.id}`),
      await call('PATCH', `/keys/${first.id}`, { name: 'other' }),
      await call('GET', '/tenants'),
      await call('DELETE', `/keys/${first.id}`),
    ].map(({ body }) => body);
    const audit = world.events<SettingChanged>('audit').map(({ data }) => data);
    expect(audit).toMatchObject([
      { setting: `keys/${first.id}`, actor: 'admin', before: null, after: { name: 'front end', former_value_until: null }, version: 1 },
      { before: { name: 'front end' }, after: { former_value_until: expect.any(Number), hint: second.hint }, version: 2 },
      { before: { name: 'front end' }, after: { name: 'other' }, version: 3 },
      { before: { revoked_at: null }, after: { revoked_at: expect.any(Number) }, version: 4 },
    ]);
    const all = JSON.stringify([
      views,
      audit,
      world.lines,
      world.history,
      world.seen,
      world.broker.records('audit').map(({ raw }) => String(raw)),
    ]);
    for (const { key } of [first, second]) for (const secret of [key, hashOfKey(key)]) expect(all).not.toContain(secret);
    expect(world.lines.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['API key issued', 'API key rotated', 'API key changed', 'API key revoked']),
    );
  });

  it('is listed exactly once across pages while other keys are issued', async () => {
    const ids: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) ids.unshift((await issued({ name: `key ${n}` })).id);
    const page = async (query: string) => KeyList.parse((await call('GET', `/keys?limit=2${query}`)).body);
    const [found, all]: [string[], string[]] = [[], KeyList.parse((await call('GET', '/keys')).body).data.map(({ id }) => id)];
    for (let next: string | null = ''; next !== null;) {
      const { data, nextBefore } = await page(next === '' ? '' : `&before=${next}`);
      found.push(...data.map(({ id }) => id));
      if (next === '') await issued({ name: 'between two pages' });
      next = nextBefore;
    }
    expect(found).toEqual(all);
    expect([...found].sort()).toEqual([...ids].sort());
    expect(refusal(await call('GET', '/keys?before=nonsense'))).toEqual([400, 'REQUEST_INVALID', 'before']);
  });

  it('is removed some time after its revocation, stays refused, and frees its place for another key', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants, limits: { revokedKeysMs: 0, maxIssuedKeys: 2 } });
    const [first, second] = [await issued(), await issued({ tenant: 'a' })];
    expect(refusal(await call('POST', '/keys', { name: 'third' }))[1]).toBe('KEYS_FULL');
    await call('DELETE', `/keys/${first.id}`);
    const third = await issued();
    expect((await listed()).slice().sort()).toEqual([second.id, third.id].sort());
    expect(refusal(await call('GET', `/keys/${first.id}`))).toEqual([404, 'KEY_NOT_FOUND', null]);
    expect([await worksWith(first.key), await worksWith(third.key)]).toEqual([401, 200]);
    expect(world.events<SettingChanged>('audit').map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ setting: `keys/${first.id}`, actor: 'retention', after: null }),
    );
    // A recently revoked key is kept.
    await world.close();
    world = await World.open({ keys: twoTenants });
    const kept = await issued();
    await call('DELETE', `/keys/${kept.id}`);
    expect(await listed()).toEqual([kept.id]);
  });

  it('is listed newest first, and by tenant when one is named', async () => {
    const ids: string[] = [];
    for (const tenant of ['default', 'a', 'a', 'b']) {
      ids.unshift((await issued({ tenant })).id);
      await new Promise((resolve) => setTimeout(resolve, 2)); // keys are ordered by milliseconds
    }
    expect(await listed()).toEqual(ids);
    expect(await listed('sk-admin', '?tenant=a')).toEqual(ids.slice(1, 3));
    expect(await listed('sk-admin', '?tenant=nobody')).toEqual([]);
  });

  it('changes only the named fields, takes null as a value, and leaves the rest', async () => {
    const { id, key, ...made } = await issued({ templates: ['conclave'], limits: { requests_per_minute: 5 } });
    const inAYear = Date.now() + 31_536_000_000;
    const changed = KeyView.parse((await call('PATCH', `/keys/${id}`, { expires_at: inAYear, detail: 'full' })).body);
    expect(changed).toEqual({ id, ...made, expires_at: inAYear, detail: 'full' });
    const lifted = KeyView.parse((await call('PATCH', `/keys/${id}`, { limits: null, templates: null, expires_at: null })).body);
    expect(lifted).toEqual({ id, ...made, detail: 'full', limits: null, templates: null });
    expect(await worksWith(key)).toBe(200);
  });

  it('is refused with the name of the invalid field', async () => {
    const { id } = await issued();
    const refused = async (method: string, path: string, body: object, param: string | null) =>
      expect([body, refusal(await call(method, path, body))]).toEqual([body, [400, 'REQUEST_INVALID', param]]);
    await refused('POST', '/keys', {}, 'name');
    await refused('POST', '/keys', { name: '   ' }, 'name');
    await refused('POST', '/keys', { name: 'x', role: 'root' }, 'role');
    await refused('POST', '/keys', { name: 'x', tenant: '../b' }, 'tenant');
    await refused('POST', '/keys', { name: 'x', templates: [] }, 'templates');
    await refused('POST', '/keys', { name: 'x', limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute');
    await refused('POST', '/keys', { name: 'x', limits: { rpm: 5 } }, 'limits');
    await refused('POST', '/keys', { name: 'x', expires: 5 }, null);
    await refused('PATCH', `/keys/${id}`, { name: null }, 'name');
    await refused('PATCH', `/keys/${id}`, { tenant: 'b' }, null);
    await refused('PATCH', `/keys/${id}`, { hash: 'x' }, null);
    await refused('POST', `/keys/${id}/rotate`, { grace_s: -1 }, 'grace_s');
    await refused('PATCH', '/tenants/a', {}, 'limits');
    expect(refusal(await call('PATCH', '/tenants/..%2Fb', { limits: null }))).toEqual([400, 'REQUEST_INVALID', 'id']);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const)
      expect(refusal(await call(method, `/keys/key_0${path}`, method === 'GET' ? undefined : {}))).toEqual([404, 'KEY_NOT_FOUND', null]);
  });

  it('stays revoked; repeating the revocation returns the same view', async () => {
    const { id } = await issued();
    const { revoked_at: at } = KeyView.parse((await call('DELETE', `/keys/${id}`)).body);
    expect(KeyView.parse((await call('DELETE', `/keys/${id}`)).body)).toMatchObject({ state: 'revoked', revoked_at: at });
    expect(refusal(await call('PATCH', `/keys/${id}`, { expires_at: null }))).toEqual([409, 'KEY_REVOKED', null]);
    expect(refusal(await call('POST', `/keys/${id}/rotate`, {}))).toEqual([409, 'KEY_REVOKED', null]);
    expect(await listed()).toEqual([id]);
    expect(KeyView.parse((await call('GET', `/keys/${id}`)).body).state).toBe('revoked');
  });

  it('is refused once the number of keys that the operator allows is reached', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants, limits: { maxIssuedKeys: 2 } });
    const { id } = await issued();
    await issued();
    await call('DELETE', `/keys/${id}`);
    expect(refusal(await call('POST', '/keys', { name: 'x' }))).toEqual([409, 'KEYS_FULL', null]);
  });

  it('takes each of several simultaneous changes completely or not at all', async () => {
    const { id } = await issued();
    const answers = await Promise.all([
      call('PATCH', `/keys/${id}`, { name: 'one', detail: 'full' }),
      call('PATCH', `/keys/${id}`, { role: 'auditor' }),
      call('DELETE', `/keys/${id}`),
    ]);
    for (const { status, body } of answers) if (status !== 200) expect(['SETTING_CHANGED', 'KEY_REVOKED']).toContain(body.error!.code);
    const [one, two, three] = answers.map(({ status }) => status === 200);
    const view = KeyView.parse((await call('GET', `/keys/${id}`)).body);
    expect([view.name === 'one' && view.detail === 'full', view.role === 'auditor', view.state === 'revoked']).toEqual([one, two, three]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
  });
});

describe('while the log does not answer', () => {
  it('no key stays valid whose value was never shown', async () => {
    world.publishFails = true;
    expect((await call('POST', '/keys', { name: 'x' })).status).toBeGreaterThanOrEqual(500);
    world.publishFails = false;
    const { data } = KeyList.parse((await call('GET', '/keys')).body);
    expect(data.map(({ state }) => state)).toEqual(['revoked']);
  });

  it('a failed rotation leaves the old value valid', async () => {
    const { id, key } = await issued();
    world.publishFails = true;
    expect((await call('POST', `/keys/${id}/rotate`, {})).status).toBeGreaterThanOrEqual(500);
    world.publishFails = false;
    expect(await worksWith(key)).toBe(200);
    const rotated = KeyCreated.parse((await call('POST', `/keys/${id}/rotate`, { grace_s: 60 })).body);
    expect([await worksWith(key), await worksWith(rotated.key)]).toEqual([200, 200]);
  });

  it('a revocation still takes effect, and repeating it writes the audit event', async () => {
    const { id, key } = await issued();
    expect(await worksWith(key)).toBe(200);
    world.publishFails = true;
    expect((await call('DELETE', `/keys/${id}`)).status).toBeGreaterThanOrEqual(500);
    const end = Date.now() + 10_000;
    while ((await worksWith(key)) !== 401) if (Date.now() > end) throw new Error('The key is still accepted.');
    world.publishFails = false;
    expect((await call('DELETE', `/keys/${id}`)).status).toBe(200);
    expect(world.events<SettingChanged>('audit').at(-1)!.data).toMatchObject({ after: { revoked_at: expect.any(Number) }, version: 2 });
  });
});

describe('an admin of one tenant', () => {
  it('sees and changes only the keys of its own tenant; other keys do not exist for it', async () => {
    const [own, other] = [await issued({ tenant: 'a' }), await issued({ tenant: 'b' })];
    expect(await listed('sk-a-admin')).toEqual([own.id]);
    expect(await listed('sk-a-admin', '?tenant=b')).toEqual([]);
    expect((await call('GET', `/keys/${own.id}`, undefined, 'sk-a-admin')).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'mine' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
    ] as const)
      expect(refusal(await call(method, `/keys/${other.id}${path}`, body, 'sk-a-admin'))).toEqual([404, 'KEY_NOT_FOUND', null]);
    expect(await worksWith(other.key)).toBe(200);
    const { data } = TenantList.parse((await call('GET', '/tenants', undefined, 'sk-a-admin')).body);
    expect(data.map(({ id }) => id)).toEqual(['a']);
  });

  it('issues keys for its own tenant only and cannot set limits of tenants', async () => {
    expect((await issued({ tenant: 'a', role: 'admin' }, 'sk-a-admin')).created_by).toBe('a-admin');
    for (const tenant of ['b', 'default', undefined])
      expect(refusal(await call('POST', '/keys', { name: 'x', tenant }, 'sk-a-admin'))).toEqual([403, 'BEYOND_OWN_RIGHTS', 'tenant']);
    expect(refusal(await call('PATCH', '/tenants/a', { limits: null }, 'sk-a-admin'))).toEqual([403, 'OPERATOR_KEY_NEEDED', null]);
  });

  it('that is restricted to some templates cannot grant others', async () => {
    const limited = await issued({ tenant: 'a', role: 'admin', templates: ['conclave'], name: 'admin' });
    const wide = await issued({ tenant: 'a' });
    const beyond = [403, 'BEYOND_OWN_RIGHTS', 'templates'];
    const by = (method: string, path: string, body: object) => call(method, path, { ...body }, limited.key);
    expect(refusal(await by('POST', '/keys', { name: 'x', tenant: 'a' }))).toEqual(beyond);
    expect(refusal(await by('POST', '/keys', { name: 'x', tenant: 'a', templates: ['conclave', 'm@fake'] }))).toEqual(beyond);
    expect(refusal(await by('PATCH', `/keys/${limited.id}`, { templates: null }))).toEqual(beyond);
    expect(refusal(await by('POST', `/keys/${wide.id}/rotate`, {}))).toEqual(beyond);
    const made = await issued({ tenant: 'a', templates: ['conclave'] }, limited.key);
    // The audit adds the id, so a key cannot pass for another admin by its name.
    expect(made.created_by).toBe(`admin (${limited.id})`);
  });
});

describe('tenants', () => {
  it('are listed from keys and limits; an admin of `default` sets the limits of every tenant', async () => {
    await issued({ tenant: 'b' });
    const limits = { requests_per_minute: 3, cost_per_day: 1.5 };
    const set = TenantView.parse((await call('PATCH', '/tenants/c', { limits })).body);
    expect(set).toMatchObject({ id: 'c', limits: { ...limits, tokens_per_day: null }, version: 1 });
    const { data } = TenantList.parse((await call('GET', '/tenants')).body);
    expect(data.map(({ id, version }) => [id, version])).toEqual([
      ['b', 0],
      ['c', 1],
      ['default', 0],
    ]);
    expect(TenantView.parse((await call('PATCH', '/tenants/c', { limits: null })).body)).toMatchObject({ limits: null, version: 2 });
    expect(world.events<SettingChanged>('audit').at(-1)!.data).toMatchObject({
      ...{ setting: 'tenants/c', actor: 'admin', before: { limits: { requests_per_minute: 3 } }, after: { limits: null } },
    });
  });
});

describe('the admin routes for keys', () => {
  it('accept an issued key with the role admin, also on a gateway that requires no keys', async () => {
    const user = await issued();
    expect(refusal(await call('GET', '/keys', undefined, user.key))).toEqual([403, 'ADMIN_KEY_NEEDED', null]);
    const admin = await issued({ role: 'admin' });
    expect((await call('GET', '/keys', undefined, admin.key)).status).toBe(200);
    await world.close();
    world = await World.open();
    const again = await issued({ role: 'admin', tenant: 'a' }, adminKey);
    expect(await listed(again.key)).toEqual([again.id]);
  });
});
