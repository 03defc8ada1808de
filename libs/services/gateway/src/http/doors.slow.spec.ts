import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Access, accessKinds, type KeyRole, routes } from '@conclave/contracts';
import { adminKey, twoTenants, World } from '../__fixtures__/world.js';

interface Door {
  readonly method: string;
  /** Path of the router, such as `/v1/runs/:id`. */
  readonly path: string;
}

/** Every route of the running gateway, read from its router, so that a new one cannot be forgotten. */
function doorsOf(world: World): readonly Door[] {
  const { router } = world.app.getHttpAdapter().getInstance() as unknown as {
    router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
  };
  return router.stack.flatMap(({ route }) =>
    route ? Object.keys(route.methods).map((method) => ({ method: method.toUpperCase(), path: route.path })) : [],
  );
}
const nameOf = ({ method, path }: Door): string => `${method} ${path.replaceAll(/\{\w+\+?\}|[:*]\w+/g, '{}')}`;
const declared = new Map(routes.map((route) => [nameOf(route), route.access]));
/** The access that the table of routes declares for a route of the router. */
const accessOf = (door: Door): Access => declared.get(nameOf(door))!;
const isPublic = (door: Door): boolean => accessOf(door) === 'open';
const isAdmin = ({ path }: Door): boolean => path.startsWith('/v1/admin/');
/** Accepts keys of the roles auditor and admin, and no caller without a key. */
const isForAuditors = (door: Door): boolean => accessOf(door) === 'audit';
/** Admin routes for data of all tenants; the others are for data of one. */
const isForOperators = (door: Door): boolean => accessOf(door) === 'operate';

/** Sends headers that fetch forbids. */
const send = (world: World, { method, path }: Door, headers: Record<string, string>): Promise<{ status: number; code: string | null }> =>
  new Promise((resolve, reject) => {
    const real = path.replaceAll(/[:*]\w+/g, 'x');
    const sent = httpRequest(`${world.url}${real}`, { method, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () => {
        const body = /^\{("type":"error",)?"error"/.test(text) ? (JSON.parse(text) as { error: { code: string } }) : null;
        resolve({ status: response.statusCode ?? 0, code: body?.error.code ?? null });
      });
    });
    sent.on('error', reject).end(['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : undefined);
  });

const forwarded: readonly Record<string, string>[] = [
  {},
  { 'x-forwarded-for': '10.0.0.1' },
  { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': '127.0.0.1', 'x-real-ip': '127.0.0.1' },
  { forwarded: 'for=127.0.0.1;host=127.0.0.1' },
  { 'x-conclave-actor': 'root' },
];
const withKey = (key: string | null, how = 0): Record<string, string> =>
  key === null ? {} : how % 2 === 0 ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };

/** Each test sends some hundred requests, which is slow on a busy machine. */
jest.setTimeout(60_000);

describe('every route of the running gateway', () => {
  let keyless: World;
  let keyed: World;
  let open: World;
  beforeAll(async () => {
    keyless = await World.open({ access: { allowedHosts: ['gateway.test'] } });
    keyed = await World.open({ keys: twoTenants });
    open = await World.open({ access: { open: true } });
  });
  afterAll(() => Promise.all([keyless.close(), keyed.close(), open.close()]));

  it('is in the table of routes, and every row of the table is served', () => {
    expect(doorsOf(keyless).map(nameOf).sort()).toEqual(routes.map(nameOf).sort());
    // The console holds no data, and signing in is how a page gets a session.
    expect(doorsOf(keyless).filter(isPublic).map(nameOf).sort()).toEqual(
      ['/', '/assets/{}', '/console/{}', '/health', '/health/live', '/health/ready']
        .map((path) => `GET ${path}`)
        .concat('POST /v1/session'),
    );
    const adminKinds = (kind: Access): boolean => kind === 'administer' || kind === 'operate';
    expect(doorsOf(keyless).filter((door) => isAdmin(door) !== adminKinds(accessOf(door)))).toEqual([]);
  });

  it('without required keys, refuses every unknown host and every page of another origin, whatever else they send', async () => {
    const strange = [
      [{ host: 'evil.test' }, 'HOST_NOT_ALLOWED'],
      [{ host: 'localhost.evil.com' }, 'HOST_NOT_ALLOWED'],
      [{ host: '127.0.0.1.nip.io' }, 'HOST_NOT_ALLOWED'],
      [{ origin: 'http://evil.test' }, 'ORIGIN_NOT_ALLOWED'],
      [{ origin: 'null' }, 'ORIGIN_NOT_ALLOWED'],
      [{ host: 'gateway.test', origin: 'http://evil.test' }, 'ORIGIN_NOT_ALLOWED'],
    ] as const;
    for (const [at, door] of [
      ...doorsOf(keyless),
      { method: 'GET', path: '/nothing' },
      { method: 'OPTIONS', path: '/v1/runs' },
    ].entries()) {
      const answers = strange.map(([headers], n) =>
        send(keyless, door, {
          ...forwarded[(n + at) % forwarded.length],
          ...headers,
          ...withKey([null, 'sk-any', adminKey][(n + at) % 3]!, n),
        }),
      );
      expect([door, await Promise.all(answers)]).toEqual([door, strange.map(([, code]) => ({ status: 403, code }))]);
    }
    expect(keyless.runs()).toEqual([]);
  });

  it('when other machines may connect without a key, still refuses hosts whose name was pointed here', async () => {
    for (const door of doorsOf(open))
      expect([door, await send(open, door, { host: 'evil.test' })]).toEqual([door, { status: 403, code: 'HOST_NOT_ALLOWED' }]);
    expect(await send(open, { method: 'GET', path: '/v1/models' }, { host: '192.0.2.7:8080' })).toMatchObject({ status: 200 });
  });

  it('without required keys, accepts any key, and only the admin key where an admin is needed', async () => {
    const hosts: readonly Record<string, string>[] = [{}, { host: 'gateway.test:8080' }, { host: 'localhost' }];
    for (const [at, door] of doorsOf(keyless).entries()) {
      const keys = [null, 'sk-any', 'sk-a-admin', adminKey];
      const answers = await Promise.all(
        keys.map((key, n) => send(keyless, door, { ...forwarded[at % forwarded.length], ...hosts[(at + n) % 3], ...withKey(key, n) })),
      );
      const closed = keys.map((key) => (isAdmin(door) || isForAuditors(door)) && key !== adminKey);
      expect([door, answers.map(({ status }) => status === 401 || status === 403)]).toEqual([door, closed]);
      expect([door, answers.map(({ code }) => code === (isAdmin(door) ? 'ADMIN_KEY_NEEDED' : 'AUDITOR_KEY_NEEDED'))]).toEqual([
        door,
        closed,
      ]);
    }
  });

  it('with required keys, answers by the role of the key, wherever the caller is and whatever it claims', async () => {
    const roles = [
      [null, 401],
      ['sk-wrong', 401],
      [adminKey, 401],
      ['sk-a', 403],
      ['sk-a-full', 403],
      ['sk-a-auditor', 403],
      ['sk-a-admin', 403],
      ['sk-admin', null],
    ] as const;
    const rolesOfKeys: Readonly<Record<string, KeyRole>> = { 'sk-a': 'user', 'sk-a-full': 'user', 'sk-a-auditor': 'auditor' };
    for (const [at, door] of doorsOf(keyed).entries()) {
      const answers = await Promise.all(
        roles.map(([key], n) =>
          send(keyed, door, {
            ...forwarded[(at + n) % forwarded.length],
            ...(n % 2 ? { host: 'evil.test' } : {}),
            ...withKey(key, at + n),
          }),
        ),
      );
      const expected = roles.map(([key, refusal]) => {
        if (isPublic(door) || refusal === null) return null;
        if (key === 'sk-a-admin') return isForOperators(door) ? 403 : null;
        const role = key === null ? null : rolesOfKeys[key];
        return role && accessKinds[accessOf(door)].roles.includes(role) ? null : refusal;
      });
      expect([door, answers.map(({ status }) => (status === 401 || status === 403 ? status : null))]).toEqual([door, expected]);
    }
  });

  it('refuses a key of an auditor where something would change, in every spelling of the address, and says which role is needed', async () => {
    const changing = doorsOf(keyed).filter((door) => accessOf(door) === 'change');
    expect(changing.length).toBeGreaterThan(10);
    for (const { method, path } of changing)
      for (const spelling of [path, `${path}/`, path.toUpperCase(), path.replace('/v1/', '/v%31/')]) {
        const answer = await send(keyed, { method, path: spelling }, withKey('sk-a-auditor'));
        const found = spelling === path || answer.status !== 404;
        expect([method, spelling, answer]).toEqual([
          method,
          spelling,
          found ? { status: 403, code: 'USER_KEY_NEEDED' } : { status: 404, code: 'ROUTE_NOT_FOUND' },
        ]);
      }
    expect([keyed.runs(), keyed.commands()]).toEqual([[], []]);
  });

  it('either concerns all tenants and refuses an admin of one tenant, or belongs to one tenant', async () => {
    const admins = doorsOf(keyed).filter(isAdmin);
    for (const door of admins) {
      const { code } = await send(keyed, door, withKey('sk-b-admin'));
      expect([door, code === 'OPERATOR_KEY_NEEDED']).toEqual([door, isForOperators(door)]);
    }
    const answer = await fetch(`${keyed.url}/v1/admin/prompts`, { headers: withKey('sk-b-admin') });
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(
      /data of all tenants.*admin key of the tenant `default`.*administers only the tenant b/,
    );
  });

  it('has no other spelling for an admin path', async () => {
    for (const path of [
      '/V1/ADMIN/prompts',
      '/v1/%61dmin/prompts',
      '/v1//admin/prompts',
      '/v1/admin/prompts/',
      '/v1/admin/./prompts',
      '/v1/runs/../admin/prompts',
    ]) {
      const answer = await send(keyed, { method: 'GET', path }, withKey('sk-a'));
      expect([path, [403, 404].includes(answer.status)]).toEqual([path, true]);
    }
  });

  it('reads the host of a target in absolute form and requires one', async () => {
    const raw = (lines: readonly string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const { port } = new URL(keyless.url);
        let text = '';
        const socket = connect(Number(port), '127.0.0.1', () => socket.end(`${lines.join('\r\n')}\r\n\r\n`));
        socket.setEncoding('utf8').on('data', (more: string) => (text += more));
        socket.on('error', reject).on('close', () => resolve(text.slice(0, text.indexOf('\r\n'))));
      });
    expect(await raw(['GET http://evil.test/v1/runs HTTP/1.1', 'Host: 127.0.0.1'])).toBe('HTTP/1.1 403 Forbidden');
    expect(await raw(['GET http://127.0.0.1/v1/runs HTTP/1.1', 'Host: evil.test'])).toBe('HTTP/1.1 403 Forbidden');
    expect(await raw(['GET /v1/runs HTTP/1.1', 'Host: 127.0.0.1', 'Host: evil.test'])).toMatch(/^HTTP\/1.1 4/);
    expect(await raw(['GET /v1/runs HTTP/1.0'])).toBe('HTTP/1.1 403 Forbidden');
    expect(await raw(['GET /v1/runs HTTP/1.1', 'Host: 127.0.0.1'])).toBe('HTTP/1.1 200 OK');
  });
});
