import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ErrorBody, Failure, type Template } from '@conclave/contracts';
import { twoTenants, World } from '../__fixtures__/world.js';

let world: World;
const webhooks = {
  tenants: { all: null, ofA: ['a'], ofB: ['b'] },
  sender: {
    check: (url: string) => {
      if (!url.startsWith('https://good.example/')) throw new Failure('WEBHOOK_REFUSED', 'The operator does not allow the host.');
    },
  },
};
const reasoning: Partial<Template> = { strategy: 'reasoning', options: { default_delivery: ['memory', 'all', 'ofB', 'all'] } };
const open = async (template: Partial<Template> = {}, parts: object = { webhooks }): Promise<void> => {
  world = await World.open({ keys: twoTenants, template, parts });
};
beforeEach(() => open());
afterEach(() => world.close());

const of = (tenant: 'a' | 'b'): { headers: Record<string, string> } => ({ headers: { 'x-api-key': `sk-${tenant}` } });
const begin = (tenant: 'a' | 'b', rest: object) => world.post('/v1/runs', { model: 'conclave', input: 'Why?', ...rest }, of(tenant));
const told = () => world.requested().at(-1)!.data.deliver;
const refusal = async (response: Response) => {
  const { error } = ErrorBody.parse(await response.json());
  return [response.status, error.code, error.param];
};

describe('the webhook of a run', () => {
  it('is the one that its request names, in the body, in `conclave` or in a header', async () => {
    await begin('a', {});
    expect(told()).toBeUndefined();
    await begin('a', { webhook: 'ofA' });
    expect(told()).toEqual([{ webhook: 'ofA' }]);
    await begin('b', { conclave: { webhook: 'all' } });
    expect(told()).toEqual([{ webhook: 'all' }]);
    await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': 'sk-b', 'x-conclave-webhook': 'ofB' } });
    expect(told()).toEqual([{ webhook: 'ofB' }]);
    await begin('b', { webhook: { url: 'https://good.example/x' } });
    expect(told()).toEqual([{ url: 'https://good.example/x' }]);
  });

  it('cannot belong to another tenant, be unknown, or have an address that is not allowed; no run starts then', async () => {
    for (const webhook of ['ofB', 'toString', 'nobody'])
      expect(await refusal(await begin('a', { webhook }))).toEqual([400, 'WEBHOOK_UNKNOWN', 'webhook']);
    const bad = { webhook: { url: 'https://bad.example/' } };
    expect(await refusal(await begin('a', bad))).toEqual([400, 'WEBHOOK_REFUSED', 'webhook.url']);
    expect(await refusal(await begin('a', { webhook: 7 }))).toEqual([400, 'REQUEST_INVALID', 'webhook']);
    expect(world.requested()).toEqual([]);
    await world.close();
    await open({}, {});
    expect(await refusal(await begin('a', { webhook: 'all' }))).toEqual([400, 'WEBHOOK_UNKNOWN', 'webhook']);
    expect(await refusal(await begin('a', bad))).toEqual([400, 'WEBHOOK_REFUSED', 'webhook.url']);
  });

  it('is the default of its template when the request names none: each webhook that the tenant may use, once', async () => {
    await world.close();
    await open(reasoning);
    await begin('a', {});
    expect(told()).toEqual([{ webhook: 'all' }]);
    await begin('b', {});
    expect(told()).toEqual([{ webhook: 'all' }, { webhook: 'ofB' }]);
    await begin('a', { webhook: 'ofA' });
    expect(told()).toEqual([{ webhook: 'ofA' }]);
  });

  it('may be changed for a template at run time, but only to one that exists', async () => {
    await world.close();
    world = await World.open({ template: reasoning, parts: { webhooks } });
    const put = (names: readonly string[]) =>
      fetch(`${world.url}/v1/admin/templates/conclave`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-api-key': 'sk-admin-of-these-specs' },
        body: JSON.stringify({ options: { default_delivery: names } }),
      });
    expect(await refusal(await put(['memory', 'nobody']))).toEqual([400, 'WEBHOOK_UNKNOWN', 'options.default_delivery']);
    const changed = await put(['memory', 'ofA']);
    expect([changed.status, await changed.json()]).toEqual([
      200,
      expect.objectContaining({ changed: { default_delivery: ['memory', 'ofA'] } }),
    ]);
  });
});
