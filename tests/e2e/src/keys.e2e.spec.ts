import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { KeyCreated, KeyView, ModelList, RunView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  ask,
  byAdmin,
  ChatStream,
  cleared,
  CommitteeScript,
  expert,
  latch,
  roleOf,
  startRun,
  System,
  user,
  workspaceRoot,
} from '@conclave/test-support/system';
import { describeOnce } from './harness/describe-once.js';

let system: System;
/** No keys are configured: issued ones are still accepted. */
beforeAll(async () => {
  system = await System.start({ gateways: 2 });
});
afterAll(() => system?.stop());
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

const model = 'conclave-fast';
const by = (key: string) => ({ authorization: `Bearer ${key}` });
/** Changes apply everywhere within two seconds; the limit allows for busy machines. */
const soon = { timeoutMs: 20_000, everyMs: 100 } as const;

async function admin<T>(method: string, path: string, body: object = {}): Promise<T> {
  const response = await fetch(`${system.url()}/v1/admin${path}`, {
    method,
    headers: { ...byAdmin, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
const issued = (over: object = {}): Promise<KeyCreated> => admin('POST', '/keys', { name: 'e2e', ...over });
const get = async <T>(path: string, key: string, n = 1): Promise<{ readonly status: number; readonly body: T }> => {
  const response = await fetch(`${system.url(n)}${path}`, { headers: by(key) });
  return { status: response.status, body: (await response.json()) as T };
};
const refusedEverywhere = (key: string) =>
  until(
    'the refusal',
    async () => (await Promise.all([1, 2].map((n) => get('/v1/runs', key, n)))).every(({ status }) => status === 401),
    soon,
  );

describe('an issued key', () => {
  it('can use what it may use, at every gateway, and its runs belong to its tenant', async () => {
    const mine = await issued({ tenant: 'acme', templates: [model] });
    const other = await issued({ tenant: 'initech' });
    const s = new CommitteeScript(system.models, 'Which town is it?')
      .plan([expert('x1', 'Say which.')])
      .expert('Saint Orrin.')
      .answer(['Saint Orrin.']);
    const answer = await ask(system.url(2), { model, messages: user(s.question) }, by(mine.key));
    expect([answer.status, answer.body.choices?.[0]?.message.content]).toEqual([200, expect.stringContaining('Saint Orrin.')]);

    const refused = await ask(system.url(), { model: 'conclave', messages: user('Which?') }, by(mine.key));
    expect([refused.status, refused.body.error]).toEqual([
      404,
      expect.objectContaining({ code: 'model_not_found', message: expect.stringContaining(`Valid ids: ${model}.`) }),
    ]);
    const { body: models } = await get<ModelList>('/v1/models', mine.key);
    expect(models.data.map(({ id }) => id)).toEqual([model]);

    const run = `/v1/runs/${answer.headers.get('x-run-id')!}`;
    expect((await get<RunView>(run, mine.key)).body).toMatchObject({ question: s.question, outcome: 'completed' });
    for (const path of [run, `${run}/events`, `${run}/facts`]) expect([path, (await get(path, other.key, 2)).status]).toEqual([path, 404]);
  });

  it('is refused everywhere once it is revoked; its open stream is cut and the model call stopped', async () => {
    const { id, key } = await issued();
    const waiting = latch();
    const s = new CommitteeScript(system.models, 'Is it cut?').plan([expert('x1', 'Say so.')]).expert('never', { when: waiting.opened });
    const stream = await ChatStream.open(system.url(2), { model, messages: user(s.question) }, by(key));
    const call = await until('the call of the expert', () => s.calls().find((one) => roleOf(one) === 'expert'));
    await admin<KeyView>('DELETE', `/keys/${id}`);
    await until('the cut', () => stream.sse.ended === 'cut', soon);
    await until('the end of the call', () => call.abortedAt, soon);
    waiting.open();
    await refusedEverywhere(key);
    const again = await ask(system.url(), { model, messages: user('Once more?') }, by(key));
    expect([again.status, again.body.error?.code]).toEqual([401, 'invalid_api_key']);
  });

  it('has its background runs and their calls cancelled when it is revoked', async () => {
    const { id, key } = await issued();
    const waiting = latch();
    const s = new CommitteeScript(system.models, 'Does it go on?')
      .plan([expert('x1', 'Say so.')])
      .expert('never', { when: waiting.opened });
    const { body } = await startRun(system.url(2), { model, input: s.question }, by(key));
    const call = await until('the call of the expert', () => s.calls().find((one) => roleOf(one) === 'expert'));
    await admin<KeyView>('DELETE', `/keys/${id}`);
    await until('the end of the call', () => call.abortedAt, soon);
    waiting.open();
    // Another key of the tenant reads it.
    const { key: reader } = await issued();
    const ended = await until('the end', async () => (await get<RunView>(`/v1/runs/${body.id}`, reader)).body.outcome, soon);
    expect(ended).toBe('cancelled');
  });

  it('survives a restart of the gateway, also when revoked', async () => {
    const [kept, revoked] = [await issued({ tenant: 'acme' }), await issued()];
    await admin<KeyView>('DELETE', `/keys/${revoked.id}`);
    await system.process('gateway').stop();
    await system.process('gateway').restart();
    expect((await get('/v1/models', kept.key)).status).toBe(200);
    expect((await get('/v1/models', revoked.key)).status).toBe(401);
  });
});

describeOnce('conclave keys, as a process', () => {
  const conclave = async (...args: readonly string[]) => {
    const env = { ...process.env, ...cleared, ...system.environment(), CONCLAVE_URL: system.url() };
    return promisify(execFile)(process.execPath, [join(workspaceRoot, 'dist/standalone.js'), ...args], { env, timeout: 60_000 });
  };

  it('issues, lists and revokes keys of the running gateway', async () => {
    const { stdout: value } = await conclave('keys', 'create', 'from a script', '--tenant', 'acme', '--template', model);
    const key = value.trim();
    expect((await get('/v1/models', key)).status).toBe(200);
    const { stdout: listed } = await conclave('keys', 'list', '--tenant', 'acme');
    const line = listed.split('\n').find((one) => one.endsWith('from a script'))!;
    expect(line).toContain(`…${key.slice(-4)}  acme`);
    const { stdout: revoked } = await conclave('keys', 'revoke', line.split(' ')[0]!);
    expect(revoked).toContain('revoked 20');
    await refusedEverywhere(key);
    expect((await conclave('tenants', 'set', 'acme', '--limit', 'concurrent_runs=50')).stdout).toContain('concurrent_runs 50');
    expect((await conclave('tenants', 'list')).stdout).toContain('concurrent_runs 50');
  });

  it('says how to continue after a mistake, with the exit code of a mistake', async () => {
    await expect(conclave('keys', 'change', 'key_nothing', '--role', 'user')).rejects.toMatchObject({
      ...{ code: 1, stdout: '', stderr: expect.stringContaining('GET /v1/admin/keys lists them.') },
    });
    await expect(conclave('keys', 'create')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Name the key') });
    await expect(conclave('key')).rejects.toMatchObject({ stderr: expect.stringContaining('Did you mean "keys"?') });
    const page = (await conclave('help')).stdout;
    for (const part of ['  npm start  ', 'npm run conclave -- keys', 'Settings: conclave.yaml']) expect(page).toContain(part);
  });
});
