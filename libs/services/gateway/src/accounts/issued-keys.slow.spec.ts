import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure, type KeyCreated } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { byAdmin, completed, twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';

let worlds: World[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

async function open(options: WorldOptions = {}): Promise<World> {
  const world = await World.open(options);
  worlds.push(world);
  return world;
}
/** Two gateways on the same stores and log. */
async function openTwo(options: WorldOptions = {}): Promise<readonly [World, World]> {
  const first = await open(options);
  return [first, await open({ ...options, share: first })];
}
async function admin<T>(world: World, method: string, path: string, body: object = {}): Promise<T> {
  const response = await fetch(`${world.url}/v1/admin${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...byAdmin },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as T;
}
const issued = (world: World, over: object = {}): Promise<KeyCreated> => admin(world, 'POST', '/keys', { name: 'k', ...over });
const by = (key: string) => ({ headers: { 'x-api-key': key } });
const asked = async (world: World, key: string, path = '/v1/runs'): Promise<{ status: number; code: string | null }> => {
  const response = await fetch(`${world.url}${path}`, by(key));
  const body = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: body.error?.code ?? null };
};
/** Changes apply everywhere within two seconds; the limit is for busy machines. */
const soon = { timeoutMs: 20_000 } as const;
const refusedSoon = (world: World, key: string) => until('the refusal', async () => (await asked(world, key)).status === 401, soon);

describe('an issued key', () => {
  it('is accepted immediately by every gateway on the same stores, as Bearer and as x-api-key', async () => {
    const [first, second] = await openTwo();
    for (let n = 0; n < 3; n += 1) {
      const { key } = await issued(first);
      expect(await asked(second, key)).toMatchObject({ status: 200 });
      expect((await fetch(`${first.url}/v1/runs`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    }
  });

  it('is looked up by a read that begins after its request, not by one that was already in progress', async () => {
    const [first, second] = await openTwo();
    expect((await asked(second, 'sk-cv-nobody')).status).toBe(401);
    const { settings } = second.stores.kept;
    const read = settings.read.bind(settings);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let readings = 0;
    settings.read = async (name) => {
      const found = await read(name);
      if (name === 'accounts' && (readings += 1) === 1) await held;
      return found;
    };
    const early = asked(second, 'sk-cv-nobody');
    await until('the reading', () => readings === 1, soon);
    const { key } = await issued(first);
    const arrived = once(second.app.getHttpServer() as Server, 'request');
    const answer = asked(second, key);
    await arrived;
    // Gives a gateway that wrongly joins the read in progress time to do so; a correct one needs no time.
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    expect([(await early).status, (await answer).status]).toEqual([401, 200]);
  });

  it('has the tenant, the detail and the role that it was given', async () => {
    const world = await open();
    const mine = await issued(world, { tenant: 'a', detail: 'full' });
    const other = await issued(world, { tenant: 'b' });
    const run = await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, by(mine.key));
    expect(run.status).toBe(202);
    expect(world.requested()[0]!.data).toMatchObject({ caller: { tenant: 'a', actor: mine.id }, detail: 'full' });
    const path = `/v1/runs/${world.run()}`;
    world.write(completed());
    expect([(await asked(world, mine.key, path)).status, (await asked(world, other.key, path)).status]).toEqual([200, 404]);
    expect(await asked(world, other.key)).toMatchObject({ status: 200 });
  });

  it('that is unknown or revoked is refused, even where keys are optional, and is never treated as a caller without a key', async () => {
    const keyless = await open();
    const strict = await open({ keys: twoTenants, share: keyless });
    for (const world of [keyless, strict]) {
      expect(await asked(world, 'sk-cv-nobody')).toEqual({ status: 401, code: 'invalid_api_key' });
      const { id, key } = await issued(keyless);
      expect(await asked(world, key)).toEqual({ status: 200, code: null });
      await admin(keyless, 'DELETE', `/keys/${id}`);
      await refusedSoon(world, key);
      expect(await asked(world, key)).toEqual({ status: 401, code: 'invalid_api_key' });
      const chat = await world.chat({}, by(key));
      expect([chat.status, world.runs()]).toEqual([401, []]);
    }
    expect(await asked(keyless, 'sk-anything')).toMatchObject({ status: 200 });
  });

  it('that is revoked has its open runs cancelled, including background runs and a run that another gateway starts a moment later', async () => {
    const [first, second] = await openTwo();
    const [revoked, other] = [await issued(first), await issued(first)];
    const question = { model: 'conclave', input: 'Why is the sky blue?' };
    const begin = async (key: string, path = '/v1/runs', over: object = {}): Promise<string> => {
      const response = await second.post(path, { ...question, ...over }, by(key));
      expect(response.ok).toBe(true);
      return response.headers.get('x-run-id')!;
    };
    const ended = await begin(revoked.key);
    second.stores.write(ended, [completed()]);
    const open = [await begin(revoked.key), await begin(revoked.key, '/v1/responses', { background: true })];
    await begin(other.key);
    await begin('sk-nobody-asks-for-one');
    await admin(first, 'DELETE', `/keys/${revoked.id}`);
    const cancelled = () => first.commands().map(({ runId, data }) => [runId, data.command]);
    const command = { name: 'cancel', reason: 'the API key was revoked' };
    expect(cancelled().sort()).toEqual(open.map((runId) => [runId, command]).sort());
    expect(open.every((runId) => first.stores.flagged.has(runId))).toBe(true);
    // The other gateway has not read the revocation yet.
    const late = await second.post('/v1/runs', question, by(revoked.key));
    await until('the second look', () => late.status !== 202 || cancelled().length === 3, soon);
    if (late.status === 202) expect(cancelled().at(-1)).toEqual([late.headers.get('x-run-id'), command]);
    expect(cancelled().length).toBe(late.status === 202 ? 3 : 2);
  });

  it('is refused after its expiry and accepted again when the expiry is postponed', async () => {
    const [first, second] = await openTwo();
    const { id, key } = await issued(first, { expires_at: Date.now() + 3_600_000 });
    expect(await asked(second, key)).toMatchObject({ status: 200 });
    await admin(first, 'PATCH', `/keys/${id}`, { expires_at: Date.now() });
    await Promise.all([refusedSoon(first, key), refusedSoon(second, key)]);
    expect(await admin(first, 'GET', `/keys/${id}`)).toMatchObject({ state: 'expired' });
    await admin(second, 'PATCH', `/keys/${id}`, { expires_at: null });
    await until('the key again', async () => (await asked(first, key)).status === 200, soon);
  });

  it('expires on time and ends its open streams', async () => {
    const world = await open();
    const { key } = await issued(world, { expires_at: Date.now() + 1_500 });
    const stream = new SseClient(await world.chat({}, by(key)));
    await until('the cut', () => stream.ended, soon);
    expect(stream.error).not.toBeNull();
    expect(await asked(world, key)).toMatchObject({ status: 401 });
  });

  it('is rotated: the old value is refused immediately, or accepted for the grace period', async () => {
    const [first, second] = await openTwo();
    const made = await issued(first);
    const graced = await admin<KeyCreated>(first, 'POST', `/keys/${made.id}/rotate`, { grace_s: 3_600 });
    expect(graced).toMatchObject({ id: made.id, name: 'k', former_value_until: expect.any(Number) });
    expect([(await asked(second, graced.key)).status, (await asked(second, made.key)).status]).toEqual([200, 200]);
    const last = await admin<KeyCreated>(second, 'POST', `/keys/${made.id}/rotate`);
    expect(last.former_value_until).toBeNull();
    await Promise.all([made, graced].flatMap(({ key }) => [refusedSoon(first, key), refusedSoon(second, key)]));
    expect((await asked(first, last.key)).status).toBe(200);
  });

  it('is no longer accepted under its old value after the grace period', async () => {
    const world = await open();
    const made = await issued(world);
    const { key } = await admin<KeyCreated>(world, 'POST', `/keys/${made.id}/rotate`, { grace_s: 1 });
    await refusedSoon(world, made.key);
    expect((await asked(world, key)).status).toBe(200);
    expect(await admin(world, 'GET', `/keys/${made.id}`)).toMatchObject({ state: 'active', former_value_until: null });
  });

  it('that is no longer in the store is forgotten', async () => {
    const world = await open();
    const { id, key } = await issued(world);
    expect((await asked(world, key)).status).toBe(200);
    const { settings } = world.stores.kept;
    const list = settings.list.bind(settings);
    settings.list = async (prefix) => (await list(prefix)).filter(({ name }) => name !== `keys/${id}`);
    await issued(world);
    await refusedSoon(world, key);
  });
});

describe('a revocation', () => {
  it.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Why?' }] }],
    ['/v1/completions', { prompt: 'Why?' }],
    ['/v1/responses', { input: 'Why?' }],
    ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'Why?' }] }],
  ])('at one gateway cuts the streams of that key at another, cancels their runs, and affects no other key: %s', async (path, question) => {
    const [first, second] = await openTwo({ limits: { firstHeartbeatMs: 20, heartbeatMs: 20 } });
    const [cut, kept] = [await issued(first), await issued(first)];
    const opened = async (key: string): Promise<SseClient> => {
      const stream = new SseClient(await second.post(path, { model: 'conclave', stream: true, ...question }, by(key)));
      await until('a heartbeat', () => stream.events.length > 1, soon);
      return stream;
    };
    const [ended, going] = [await opened(cut.key), await opened(kept.key)];
    const [cancelled] = second.runs();
    await admin(first, 'DELETE', `/keys/${cut.id}`);
    await until('the cut', () => ended.ended, soon);
    expect(ended.error).not.toBeNull();
    await until('the cancel', () => second.commands().length > 0, soon);
    expect(second.commands()).toMatchObject([{ runId: cancelled, data: { actor: cut.id, command: { name: 'cancel' } } }]);
    // A run is parked before it is cancelled.
    expect([...second.stores.flagged].sort()).toEqual([cancelled, `${cancelled}/parked`]);
    expect(going.ended).toBe(false);
    expect(second.lines.filter(({ message }) => /no longer accepted are cut/.test(message))).toHaveLength(1);
  });

  it('cuts a pending whole answer and the event stream of a run', async () => {
    const [first, second] = await openTwo();
    const { id, key } = await issued(first);
    const started = await second.post('/v1/runs', { model: 'conclave', input: 'Why?' }, by(key));
    const { id: runId } = (await started.json()) as { id: string };
    const events = new SseClient(await fetch(`${second.url}/v1/runs/${runId}/events`, by(key)));
    const waiting = second.chat({ stream: false }, by(key)).catch(() => 'cut');
    await until('the second run', () => second.runs().length === 2, soon);
    await admin(first, 'DELETE', `/keys/${id}`);
    expect(await waiting).toBe('cut');
    await until('the end of the events', () => events.ended, soon);
    await until('the cancel of both', () => second.commands().length === 2, soon);
    expect(second.commands().map(({ runId: cancelled }) => cancelled)).toEqual(second.runs());
  });
});

describe('while the stores do not answer', () => {
  const outage = new Failure('STORE_UNAVAILABLE');

  it('known keys stay valid, revoked ones stay revoked, and unknown ones get 503, never 401', async () => {
    const keyless = await open();
    const world = await open({ keys: twoTenants, share: keyless });
    const [known, revoked] = [await issued(keyless), await issued(keyless)];
    await admin(keyless, 'DELETE', `/keys/${revoked.id}`);
    expect([(await asked(world, known.key)).status, (await asked(world, revoked.key)).status]).toEqual([200, 401]);
    const fresh = await issued(keyless);
    world.stores.outage = outage;
    const models = '/v1/models';
    expect(await asked(world, known.key, models)).toEqual({ status: 200, code: null });
    expect(await asked(world, revoked.key, models)).toEqual({ status: 401, code: 'invalid_api_key' });
    for (const key of [fresh.key, 'sk-cv-nobody'])
      expect([key, await asked(world, key, models)]).toEqual([key, { status: 503, code: 'STORE_UNAVAILABLE' }]);
    // No issued key has this form, so it is refused without the store.
    expect(await asked(world, 'sk-wrong', models)).toEqual({ status: 401, code: 'invalid_api_key' });
    world.stores.outage = null;
    expect(await asked(world, fresh.key, models)).toEqual({ status: 200, code: null });
    expect(await asked(world, 'sk-cv-nobody', models)).toEqual({ status: 401, code: 'invalid_api_key' });
  });

  it('a key that has not been used for long is still known, because keys are re-read continuously', async () => {
    const world = await open({ limits: { keysWithoutStoreMs: 2_000 } });
    const { key } = await issued(world);
    expect((await asked(world, key)).status).toBe(200);
    const { settings } = world.stores.kept;
    const read = settings.read.bind(settings);
    let readings = 0;
    settings.read = (name) => {
      readings += 1;
      return read(name);
    };
    await until('readings without a question', () => readings >= 2, soon);
  });

  it('known keys stay valid for the configured time, then get 503', async () => {
    const world = await open({ limits: { keysWithoutStoreMs: 0 } });
    const { key } = await issued(world);
    expect((await asked(world, key, '/v1/models')).status).toBe(200);
    world.stores.outage = outage;
    await until('the end of the time', async () => (await asked(world, key, '/v1/models')).code === 'STORE_UNAVAILABLE', soon);
    world.stores.outage = null;
    expect((await asked(world, key, '/v1/models')).status).toBe(200);
  });
});
