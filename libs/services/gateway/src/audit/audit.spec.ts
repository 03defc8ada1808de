import { afterEach, describe, expect, it } from '@jest/globals';
import type { AuditHead, AuditLine, DetailRead } from '@conclave/contracts';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
afterEach(() => world?.close());

const as = (key: string) => ({ headers: { 'x-api-key': key } });
const reads = (): DetailRead['data'][] =>
  world.broker
    .records('audit')
    .filter(({ headers }) => headers['ce_type'] === 'DetailRead')
    .map(({ raw }) => JSON.parse(raw!.toString()) as DetailRead['data']);

async function audit(key: string, query = '') {
  const response = await fetch(`${world.url}/v1/audit${query}`, as(key));
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, code: (JSON.parse(text) as { error: { code: string } }).error.code };
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditLine & { head?: AuditHead });
  return { status: 200, lines: lines.slice(0, -1), head: lines.at(-1)!.head! };
}

const secret = 'quincequietly';
/** One run of each tenant with a command to it; the first keeps prompts. */
async function twoRuns(): Promise<{ readonly a: string; readonly b: string }> {
  world = await World.open({ keys: twoTenants });
  const start = async (key: string, detail?: 'full') => {
    const body = { model: 'conclave', input: `Why ${secret}?`, ...(detail ? { conclave: { detail } } : {}) };
    const response = await world.post('/v1/runs', body, as(key));
    const { id } = (await response.json()) as { id: string };
    await world.post(`/v1/runs/${id}/commands`, { command: 'steer', text: `Shorter for ${key}.` }, as(key));
    return id;
  };
  return { a: await start('sk-a-full', 'full'), b: await start('sk-b') };
}

describe('the audit over HTTP', () => {
  it('shows an auditor only its own tenant, and the operator every tenant', async () => {
    const { a, b } = await twoRuns();
    const own = await audit('sk-a-auditor');
    expect(own.lines?.map(({ type, run, tenant }) => [type, run, tenant])).toEqual([
      ['CommandIssued', a, 'a'],
      ['DetailRead', 'detail-reads', 'a'],
    ]);
    expect(own.lines?.[0]?.data).toMatchObject({ actor: 'key_a_full', command: { name: 'steer', text: 'Shorter for sk-a-full.' } });
    expect(own.head).toMatchObject({ count: 2, tenant: 'a', exported_by: 'a-auditor' });
    expect((await audit('sk-b-admin')).lines?.map(({ run }) => run)).toEqual([b, 'detail-reads']);
    const all = await audit('sk-operator');
    expect(all.lines?.map(({ tenant }) => tenant)).toEqual(['a', 'b', 'a', 'b', null]);
    expect((await audit('sk-operator', '?tenant=b')).head).toMatchObject({ tenant: 'b' });
  });

  it('is closed to users, to other tenants, and for runs of other tenants', async () => {
    const { a, b } = await twoRuns();
    expect(await audit('sk-a-full')).toEqual({ status: 403, code: 'AUDITOR_KEY_NEEDED' });
    expect(await audit('sk-a-auditor', '?tenant=b')).toEqual({ status: 403, code: 'OPERATOR_KEY_NEEDED' });
    expect(await audit('sk-a-admin', '?tenant=b')).toEqual({ status: 403, code: 'OPERATOR_KEY_NEEDED' });
    expect(await audit('sk-a-auditor', `?run=${b}`)).toEqual({ status: 404, code: 'RUN_NOT_FOUND' });
    expect(await audit('sk-a-auditor', '?since=soon')).toEqual({ status: 400, code: 'REQUEST_INVALID' });
    expect((await audit('sk-a-auditor', `?run=${a}`)).head).toMatchObject({ count: 2, run: a });
    expect(reads().map(({ actor, what, run }) => [actor, what, run])).toEqual([['a-auditor', 'export', a]]);
  });

  it('shows nothing when the access itself cannot be recorded', async () => {
    await twoRuns();
    world.publishFails = true;
    expect((await audit('sk-a-auditor')).status).toBe(500);
  });
});

describe.each([
  ['a run', (run: string) => `/v1/runs/${run}/events`],
  ['several runs', (run: string) => `/v1/events?runs=${run}`],
])('reading the prompts of a run from the events of %s is recorded', (_name, path) => {
  const open = (run: string, key: string) => fetch(world.url + path(run), as(key));
  const follow = (run: string, key: string) => open(run, key).then((response) => response.text());

  it('with actor, run and time, for an auditor, an admin and a key that may see prompts, and for no one else', async () => {
    const { a } = await twoRuns();
    world.stores.write(a, [completed()]);
    await follow(a, 'sk-a');
    expect(reads()).toEqual([]);
    for (const key of ['sk-a-auditor', 'sk-a-admin', 'sk-a-full']) await follow(a, key);
    expect(reads().map(({ actor, tenant, what, run }) => [actor, tenant, what, run])).toEqual([
      ['key_a_auditor', 'a', 'events', a],
      ['key_a_admin', 'a', 'events', a],
      ['key_a_full', 'a', 'events', a],
    ]);
    for (const { readAt } of reads()) expect(readAt).toBeGreaterThan(0);
    expect((await open(a, 'sk-b-auditor')).status).toBe(404);
    expect(reads()).toHaveLength(3);
  });

  it('only when the run keeps prompts; none are shown when the access cannot be recorded', async () => {
    const { a, b } = await twoRuns();
    world.stores.write(a, [completed()]);
    world.stores.write(b, [completed()]);
    await follow(b, 'sk-b-auditor');
    expect(reads()).toEqual([]);
    world.publishFails = true;
    expect((await open(a, 'sk-a-auditor')).status).toBe(500);
  });
});
