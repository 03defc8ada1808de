import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure, ProviderList, ProviderTest, ServicesReport } from '@conclave/contracts';
import { deadRecord, defaultBreaker } from '@conclave/ports';
import { byAdmin, reply, ScriptedModels, World } from '../__fixtures__/world.js';

let world: World;
const opened: string[] = [];
let trial: ScriptedModels;
beforeEach(async () => {
  opened.length = 0;
  trial = new ScriptedModels();
  world = await World.open({
    parts: {
      openTrial: async (address) => {
        opened.push(address);
        return trial;
      },
      configuredProviders: ['fake'],
      processId: 'gateway-host-a-1-00000001',
      groups: ['merger', 'tasks.expert'],
    },
  });
  world.models.known.push({ ...server('fake'), baseUrl: 'http://127.0.0.1:9/v1', breaker: defaultBreaker });
});
afterEach(() => world.close());

const server = (name: string, reachable = true) => ({
  ...{ name, reachable, local: true, paid: false, note: reachable ? '1 chat models.' : 'It does not answer.', maxConcurrency: 2 },
});
const model = (id: string, provider: string) => ({
  ...{ ref: `${id}@${provider}`, model: id, provider, context: 4_096, price: null, local: true, demo: false, kind: 'chat' as const },
});
const send = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(world.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...byAdmin },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
};
const tested = async (body: unknown) => ProviderTest.parse((await send('POST', '/v1/admin/providers/test', body)).body);

describe('model servers over HTTP', () => {
  it('are listed with address, models, slots in use and breaker', async () => {
    world.models.listed.push(model('m', 'fake'));
    const { leases, breakers } = world.stores.state;
    await leases.acquireSlot({ name: 'fake', limit: 2, holder: 'x', ttlMs: 60_000 });
    await breakers.swap({ provider: 'fake', version: 0, next: { kind: 'open', opened: { at: 7, by: 'c' } }, nonce: 'n' });
    expect(ProviderList.parse((await send('GET', '/v1/admin/providers')).body).data).toEqual([
      {
        ...{ object: 'provider', name: 'fake', base_url: 'http://127.0.0.1:9/v1', from: 'configuration', reachable: true },
        ...{ note: '1 chat models.', local: true, paid: false, models: [{ id: 'm@fake', kind: 'chat', context: 4_096 }] },
        ...{ slots: { limit: 2, used: 1 }, breaker: { state: 'open', since: 7, failed: 0 } },
      },
    ]);
  });

  it('at a given address are tried without a key, and the configuration lines to add them are returned', async () => {
    trial.known.push(server('trial'));
    trial.listed.push(model('tiny', 'trial'));
    trial.next(() => Promise.resolve(reply({ content: 'OK' })));
    expect(await tested({ base_url: 'http://127.0.0.1:11434/v1', model: 'tiny' })).toMatchObject({
      ok: true,
      sentence: expect.stringMatching(/^It answers and offers tiny\. tiny: It answered: OK \(\d+ ms\)$/),
      models: ['tiny'],
      call: { model: 'tiny', ok: true },
      yaml: 'providers:\n  local-11434:\n    base_url: "http://127.0.0.1:11434/v1"\n',
    });
    expect(opened).toEqual(['http://127.0.0.1:11434/v1']);
  });

  it('that do not answer, or refuse the call, are a normal result and not an error', async () => {
    trial.known.push(server('trial', false));
    expect(await tested({ base_url: 'https://models.example.org/v1' })).toMatchObject({
      ok: false,
      sentence: 'It does not answer.',
      call: null,
      yaml: expect.stringContaining('api_key_env: MODEL_SERVER_KEY'),
    });
    world.models.next(() => Promise.reject(new Failure('PROVIDER_UNAUTHENTICATED')));
    expect(await tested({ name: 'fake', model: 'm' })).toMatchObject({
      ok: false,
      call: { ok: false, sentence: expect.stringContaining('rejected the API key') },
      yaml: null,
    });
    expect(await send('POST', '/v1/admin/providers/test', { name: 'other' })).toMatchObject({
      status: 404,
      body: { error: { code: 'PROVIDER_NOT_FOUND' } },
    });
  });

  it.each([
    'ftp://127.0.0.1/v1',
    'http://user:secret@127.0.0.1/v1',
    'http://127.0.0.1/v1?key=secret',
    'http://169.254.169.254/latest',
    'http://[fe80::1]/v1',
    'http://[fe90::1]/v1',
    'http://[::ffff:169.254.169.254]/v1',
    'http://[64:ff9b::a9fe:a9fe]/v1',
    'http://metadata.google.internal./v1',
    'nonsense',
  ])('are not tried at %s', async (address) => {
    const { status, body } = await send('POST', '/v1/admin/providers/test', { base_url: address });
    expect([status, opened]).toEqual([400, []]);
    expect(body.error!.message).not.toContain('secret');
  });
});

describe('services over HTTP', () => {
  it('are listed: live processes, the lag of groups, the stores, open dead letters', async () => {
    for (const id of ['gateway-host-a-1-00000001', 'graph-ingest-host-b-7-0000000a'])
      await world.stores.kept.leases.renewProcess({ id, service: 'x', classes: [], ttlMs: 60_000 });
    const record = {
      ...{ topic: 'run.commands', partition: 4, offset: '17', appendedAt: 1, key: 'run_1' },
      ...{ headers: { ce_id: 'a', ce_type: 'CommandIssued', ce_runid: 'run_1' }, raw: Buffer.from('x') },
    };
    const died = { group: 'merger', reason: 'failed', attempts: 5, time: 1, error: 'broken' } as const;
    world.broker.append([{ topic: 'dead', ...deadRecord(record, died) }]);
    const { body } = await send('GET', '/v1/admin/services');
    expect(ServicesReport.parse(body)).toMatchObject({
      processes: [
        { service: 'gateway', host: 'host-a', self: true },
        { service: 'graph-ingest', host: 'host-b', self: false },
      ],
      consumers: [
        { group: 'merger', service: 'merger' },
        { group: 'tasks.expert', service: 'experts' },
      ],
      dead_letters: 1,
      problems: [],
    });
    const states = ServicesReport.parse(body).dependencies.map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ['event log', 'ok'],
      ['state store', 'ok'],
      ['knowledge graph', 'absent'],
      ['vectors', 'absent'],
      ['embedder', 'absent'],
      ['model server fake', 'ok'],
    ]);
  });

  it('that are away are named with their error', async () => {
    world.stores.red = 'It is full.';
    const report = ServicesReport.parse((await send('GET', '/v1/admin/services')).body);
    expect(report.dependencies).toContainEqual({ name: 'state store', state: 'red', sentence: 'It is full.', ms: expect.any(Number) });
    expect(report.problems).toEqual(['State store: It is full.']);
  });
});
