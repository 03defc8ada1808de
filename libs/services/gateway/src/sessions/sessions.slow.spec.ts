import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SessionView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { adminKey, byAdmin, twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';
import { hashOfKey } from '../accounts/key-value.js';
import { Sessions } from './sessions.js';

const worlds: World[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});
const open = async (options: WorldOptions = {}): Promise<World> => {
  const world = await World.open({ keys: twoTenants, ...options });
  worlds.push(world);
  return world;
};

const send = async (world: World, method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
  const response = await fetch(world.url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const parsed = JSON.parse(await response.text()) as Record<string, unknown> & { error?: { code: string; message: string } };
  return { status: response.status, body: parsed, cookie: response.headers.get('set-cookie'), headers: response.headers };
};
const signIn = async (world: World, key = 'sk-a-admin', headers: Record<string, string> = {}) => {
  const answer = await send(world, 'POST', '/v1/session', headers, { key });
  expect(answer.status).toBe(200);
  const view = SessionView.parse(answer.body);
  return { view, set: answer.cookie!, cookie: answer.cookie!.split(';')[0]!, csrf: view.csrf! };
};
/** Advances the clock. */
function later(ms: number): void {
  const at = Date.now() + ms;
  jest.spyOn(Date, 'now').mockImplementation(() => at);
}
const show = (world: World, cookie: string) => send(world, 'GET', '/v1/session', { cookie });

describe('a page that signs in with a key', () => {
  it('learns who it is and gets a cookie that scripts cannot read and other sites cannot send', async () => {
    const world = await open();
    const { view, set, cookie } = await signIn(world);
    expect(view).toMatchObject({ role: 'admin', tenant: 'a', key_name: 'a-admin', keyless: false });
    expect(set).toMatch(/^conclave_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    const again = await show(world, cookie);
    expect([again.status, again.body, again.headers.get('cache-control')]).toEqual([200, view, 'no-store']);
    const wrong = await send(world, 'POST', '/v1/session', {}, { key: 'sk-nobody' });
    expect([wrong.status, wrong.cookie]).toEqual([401, null]);
    expect((await send(world, 'GET', '/v1/session')).status).toBe(401);
    expect((await send(world, 'GET', '/v1/session', { 'x-api-key': 'sk-a' })).body).toMatchObject({ key_name: 'a', csrf: null });
    expect((await send(world, 'POST', '/v1/session', {}, {})).body.error!.message).toContain('either `key` or `token`');
  });

  it('never exposes its key: not in the cookie, the store or the log', async () => {
    const world = await open();
    const written = jest.spyOn(world.stores.state.caches, 'write');
    const { set, csrf } = await signIn(world);
    const token = set.slice('conclave_session='.length, set.indexOf(';'));
    const stored = JSON.stringify(written.mock.calls);
    expect(stored).toContain('box');
    for (const secret of ['sk-a-admin', hashOfKey('sk-a-admin')])
      for (const text of [set, stored, JSON.stringify(world.lines)]) expect(text).not.toContain(secret);
    for (const secret of [token, csrf]) for (const text of [stored, JSON.stringify(world.lines)]) expect(text).not.toContain(secret);
  });

  it('may do with its cookie what it may do with its key, on every gateway of the system', async () => {
    const first = await open();
    const second = await open({ share: first });
    const { cookie, csrf } = await signIn(first);
    for (const world of [first, second]) {
      expect((await send(world, 'GET', '/v1/admin/keys', { cookie })).status).toBe(200);
      const run = await send(world, 'POST', '/v1/runs', { cookie, 'x-conclave-csrf': csrf }, { model: 'conclave', input: 'Why?' });
      expect([run.status, run.body.error]).toEqual([202, undefined]);
      expect((await send(world, 'GET', `/v1/runs/${String(run.body['id'])}`, { 'x-api-key': 'sk-a' })).status).toBe(200);
      expect((await send(world, 'GET', `/v1/runs/${String(run.body['id'])}`, { 'x-api-key': 'sk-b' })).status).toBe(404);
    }
    expect(first.requested()[0]!.data).toMatchObject({ caller: { tenant: 'a', actor: 'key_a_admin' } });
  });

  it('needs the CSRF token for every request that changes something, and for no other', async () => {
    const world = await open();
    const [{ cookie, csrf }, other] = [await signIn(world), await signIn(world)];
    const start = (headers: Record<string, string>) =>
      send(world, 'POST', '/v1/runs', { cookie, ...headers }, { model: 'conclave', input: 'Why?' });
    const wrong: readonly Record<string, string>[] = [{}, { 'x-conclave-csrf': '' }, { 'x-conclave-csrf': other.csrf }];
    for (const headers of wrong)
      expect(await start(headers)).toMatchObject({ status: 403, body: { error: { code: 'CSRF_TOKEN_NEEDED' } } });
    expect(world.runs()).toEqual([]);
    expect((await send(world, 'DELETE', '/v1/session', { cookie })).status).toBe(403);
    expect((await start({ 'x-conclave-csrf': csrf })).status).toBe(202);
    expect((await send(world, 'GET', '/v1/runs', { cookie })).status).toBe(200);
    // A browser does not send a key in a header on its own.
    expect((await send(world, 'POST', '/v1/runs', { cookie, 'x-api-key': 'sk-b' }, { model: 'conclave', input: 'Why?' })).status).toBe(202);
  });

  it('is refused for requests from pages of other origins', async () => {
    const world = await open({ access: { allowedHosts: ['chat.example.org'], origins: ['https://friend.example'] } });
    const { cookie } = await signIn(world);
    const port = new URL(world.url).port;
    const answers = async (headers: Record<string, string>, host = `127.0.0.1:${port}`) =>
      new Promise<number>((resolve, reject) => {
        httpRequest({ host: '127.0.0.1', port, path: '/v1/runs', headers: { cookie, host, ...headers } }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode!));
        })
          .once('error', reject)
          .end();
      });
    expect(await answers({ origin: world.url })).toBe(200);
    expect(await answers({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await answers({ origin: 'https://chat.example.org' })).toBe(200);
    expect(await answers({ origin: 'https://moe.example.org' }, 'moe.example.org')).toBe(200);
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: 'https://friend.example' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) expect([headers, await answers(headers)]).toEqual([headers, 403]);
    const planted = await send(world, 'POST', '/v1/session', { origin: 'https://evil.example' }, { key: 'sk-a' });
    expect(planted).toMatchObject({ status: 403, cookie: null, body: { error: { code: 'SESSION_ORIGIN_NOT_ALLOWED' } } });
  });

  it('gets a Secure cookie only when a trusted proxy says that the browser uses TLS', async () => {
    const trusting = await open({ access: { trustedProxies: ['127.0.0.1'] } });
    const plain = await open();
    expect((await signIn(trusting, 'sk-a', { 'x-forwarded-proto': 'https' })).set).toContain('; Secure');
    expect((await signIn(trusting)).set).not.toContain('Secure');
    expect((await signIn(plain, 'sk-a', { 'x-forwarded-proto': 'https' })).set).not.toContain('Secure');
  });
});

describe('a session ends', () => {
  it('when it is signed out, on every gateway, and nothing restores it', async () => {
    const first = await open();
    const second = await open({ share: first });
    const { cookie, csrf } = await signIn(first);
    const ended = await send(second, 'DELETE', '/v1/session', { cookie, 'x-conclave-csrf': csrf });
    expect([ended.status, ended.cookie]).toEqual([200, 'conclave_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
    for (const world of [first, second]) {
      expect((await send(world, 'GET', '/v1/runs', { cookie })).status).toBe(401);
      expect(await show(world, cookie)).toMatchObject({ status: 401, cookie: expect.stringContaining('Max-Age=0') });
    }
  });

  it('when its key is revoked or expires', async () => {
    const world = await open();
    const issue = async (more: object) =>
      (await send(world, 'POST', '/v1/admin/keys', { 'x-api-key': 'sk-operator' }, { name: 'page', tenant: 'a', ...more })).body as {
        id: string;
        key: string;
      };
    const kept = await issue({});
    const short = await issue({ expires_at: Date.now() + 60_000 });
    const [one, two] = [await signIn(world, kept.key), await signIn(world, short.key)];
    expect((await send(world, 'GET', '/v1/runs', { cookie: one.cookie })).status).toBe(200);
    await send(world, 'DELETE', `/v1/admin/keys/${kept.id}`, { 'x-api-key': 'sk-operator' });
    await send(world, 'PATCH', `/v1/admin/keys/${short.id}`, { 'x-api-key': 'sk-operator' }, { expires_at: Date.now() });
    for (const { cookie } of [one, two])
      await until('the session to end', async () => (await send(world, 'GET', '/v1/runs', { cookie })).status === 401);
  });

  it('after a time without a request, and after a maximum age, however much it is used', async () => {
    const world = await open({ limits: { sessionIdleMs: 600_000, sessionMs: 3_600_000 } });
    const idle = await signIn(world);
    later(599_000);
    expect((await show(world, idle.cookie)).status).toBe(200);
    later(599_000);
    expect((await show(world, idle.cookie)).status).toBe(200);
    later(600_000);
    expect((await show(world, idle.cookie)).status).toBe(401);
    const used = await signIn(world);
    for (let minutes = 0; minutes < 55; minutes += 5) {
      later(300_000);
      expect([minutes, (await show(world, used.cookie)).status]).toEqual([minutes, 200]);
    }
    later(300_000);
    expect((await show(world, used.cookie)).status).toBe(401);
  });
});

describe('a gateway that requires no key', () => {
  it('says so and what a caller without one may do; with the admin key it signs in like any other', async () => {
    const world = await open({ keys: null });
    const nobody = await send(world, 'GET', '/v1/session');
    expect(nobody).toMatchObject({
      status: 200,
      body: { role: 'auditor', may_change: true, tenant: 'default', key_name: null, keyless: true, csrf: null },
    });
    expect((await send(world, 'GET', '/v1/admin/prompts')).status).toBe(403);
    const { view, cookie, csrf } = await signIn(world, adminKey);
    expect(view).toMatchObject({ role: 'admin', keyless: true, key_name: 'ada' });
    expect((await send(world, 'GET', '/v1/admin/prompts', { cookie })).status).toBe(200);
    await send(world, 'DELETE', '/v1/session', { cookie, 'x-conclave-csrf': csrf });
    // An ended session does not count as a caller without a key; the page is told to delete it and continues without.
    expect((await send(world, 'GET', '/v1/runs', { cookie })).status).toBe(401);
    expect(await show(world, cookie)).toMatchObject({
      status: 200,
      body: { role: 'auditor' },
      cookie: expect.stringContaining('Max-Age=0'),
    });
    expect((await send(world, 'GET', '/v1/session', byAdmin)).body).toMatchObject({ role: 'admin', csrf: null });
  });
});

describe('a one-time link', () => {
  it('signs in once, within ten minutes', async () => {
    const world = await open();
    const sessions = world.app.get(Sessions);
    const enter = (token: string) => send(world, 'POST', '/v1/session', {}, { token });
    const token = sessions.makeLink(hashOfKey('sk-admin'));
    expect((await enter(token)).body).toMatchObject({ role: 'admin', key_name: 'admin' });
    expect(await enter(token)).toMatchObject({ status: 401, body: { error: { code: 'SIGN_IN_LINK_INVALID' } } });
    expect((await enter('a'.repeat(43))).status).toBe(401);
    const late = sessions.makeLink(hashOfKey('sk-admin'));
    later(10 * 60_000);
    expect((await enter(late)).status).toBe(401);
  });
});
