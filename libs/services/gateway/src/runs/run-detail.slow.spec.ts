import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamBody } from '@conclave/contracts';
import { SseClient } from '../__fixtures__/sse-client.js';
import { adminKey, completed, twoTenants, World } from '../__fixtures__/world.js';
import { configuredKeys, knownKeys } from '../http/configured-keys.js';

const secret = 'You are the planner of a committee.';
const thoughts: StreamBody[] = [
  { kind: 'thought', code: 'planner.prompt', taskId: null, text: 'Plans', detail: secret },
  { kind: 'progress', taskId: 't', attempt: 1, n: 0, code: 'expert.prompt', text: 'System prompt of general', detail: secret },
];

let world: World;
afterEach(() => world.close());

const by = (key: string) => ({ headers: { 'x-api-key': key } });
let door: (runId: string) => string;
const events = async (init: { headers?: Record<string, string> } = {}): Promise<string> => {
  const client = new SseClient(await fetch(world.url + door(world.run()), init));
  return (await client.all()).map(({ data }) => data).join('\n');
};
const asked = async (key: string, body: object = {}, headers: Record<string, string> = {}) => {
  const sent = { model: 'conclave', input: 'Why?', ...body };
  const { status } = await world.post('/v1/runs', sent, { headers: { 'x-api-key': key, ...headers } });
  return { status, detail: world.requested().at(-1)?.data.detail ?? 'redacted' };
};

describe.each([
  ['a run', (runId: string) => `/v1/runs/${runId}/events`],
  ['several runs', (runId: string) => `/v1/events?runs=${runId}`],
])('prompts and raw replies in the events of %s', (_name, path) => {
  beforeEach(() => {
    door = path;
  });

  it('are shown to a key that may see them and to no other key of the tenant', async () => {
    world = await World.open({ keys: twoTenants });
    expect(await asked('sk-a-full')).toEqual({ status: 202, detail: 'full' });
    world.write(...thoughts, completed());
    expect((await events(by('sk-a-full'))).split(secret)).toHaveLength(3);
    const redacted = await events(by('sk-a'));
    expect(redacted).not.toContain(secret);
    expect(redacted).toContain('System prompt of general');
    expect(await events(by('sk-b'))).not.toContain(secret);
  });

  it('are stored for no run of another key, which is refused when it asks for them', async () => {
    world = await World.open({ keys: twoTenants });
    expect(await asked('sk-a')).toEqual({ status: 202, detail: 'redacted' });
    expect(await asked('sk-a', { conclave: { detail: 'full' } })).toMatchObject({ status: 403 });
    expect(await asked('sk-a', {}, { 'x-conclave-detail': 'full' })).toMatchObject({ status: 403 });
    expect(await asked('sk-a-full', { conclave: { detail: 'some' } })).toMatchObject({ status: 400 });
    expect(world.runs()).toHaveLength(1);
    expect(await asked('sk-a-full', { conclave: { detail: 'redacted' } })).toEqual({ status: 202, detail: 'redacted' });
    const chat = await world.chat({ conclave: { detail: 'full' } }, by('sk-a'));
    expect([chat.status, ((await chat.json()) as { error: { code: string } }).error.code]).toEqual([403, 'DETAIL_NOT_ALLOWED']);
  });

  it('without keys are stored when the admin asks for them and shown to the admin only', async () => {
    world = await World.open();
    expect(await asked('any')).toEqual({ status: 202, detail: 'redacted' });
    expect(await asked(adminKey)).toEqual({ status: 202, detail: 'redacted' });
    await world.close();
    world = await World.open();
    expect(await asked('any', { conclave: { detail: 'full' } })).toMatchObject({ status: 403 });
    expect(await asked(adminKey, { conclave: { detail: 'full' } })).toEqual({ status: 202, detail: 'full' });
    world.write(...thoughts, completed());
    expect(await events(by(adminKey))).toContain(secret);
    expect(await events()).not.toContain(secret);
  });

  it('are shown to an auditor and an admin of the tenant; runs of an admin store them only on request', async () => {
    world = await World.open({ keys: twoTenants });
    expect(await asked('sk-a-admin')).toEqual({ status: 202, detail: 'redacted' });
    await world.close();
    world = await World.open({ keys: twoTenants });
    expect(await asked('sk-a-admin', { conclave: { detail: 'full' } })).toEqual({ status: 202, detail: 'full' });
    world.write(...thoughts, completed());
    expect(await events(by('sk-a-auditor'))).toContain(secret);
    expect(await events(by('sk-a-admin'))).toContain(secret);
    expect(await events(by('sk-a'))).not.toContain(secret);
  });
});

describe('configured keys', () => {
  const settings = {
    ann: { key_env: 'ANN', tenant: 'acme', detail: 'full' as const, role: 'user' as const },
    bob: { key_env: 'BOB', tenant: 'default', detail: 'redacted' as const, role: 'user' as const },
  };

  it('name their owner and rights, and nothing about any other key', async () => {
    world = await World.open({ keys: knownKeys(configuredKeys(settings, { ann: 'sk-ann', bob: 'sk-bob' })) });
    const models = async (key?: string) => (await fetch(`${world.url}/v1/models`, key ? by(key) : {})).status;
    expect([await models('sk-ann'), await models('sk-bob'), await models('sk-an'), await models('ANN'), await models()]).toEqual([
      200, 200, 401, 401, 401,
    ]);
    await asked('sk-ann');
    const { caller } = world.requested()[0]!.data;
    expect(caller).toEqual({ tenant: 'acme', actor: expect.stringMatching(/^key_[0-9a-f]{12}$/) });
  });

  it('are none when none is configured; a named key without a value opens nothing', async () => {
    world = await World.open();
    expect(configuredKeys({}, {})).toEqual([]);
    expect(await knownKeys(configuredKeys(settings, { ann: 'sk-ann' })).identify('')).toBeNull();
  });
});
