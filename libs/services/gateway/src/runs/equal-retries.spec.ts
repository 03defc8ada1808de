import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { completed, twoTenants, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
let other: World;
afterEach(async () => {
  await Promise.all([world.close(), other.close()]);
});

/** Two gateways that both look for an earlier run before either of them stores one. */
async function open(options: WorldOptions = {}): Promise<void> {
  world = await World.open(options);
  other = await World.open({ ...options, share: { stores: world.stores, broker: world.broker } });
  const { runs } = world.stores.state;
  const find = runs.findRetry;
  let looked = 0;
  let release = (): void => undefined;
  const both = new Promise<void>((resolve) => (release = resolve));
  Object.assign(runs, {
    findRetry: async (key: string) => {
      const found = await find(key);
      looked += 1;
      if (looked === 2) release();
      await both;
      return found;
    },
  });
}

const attached = (count: number) =>
  until('the clients', () => world.runs().reduce((sum, runId) => sum + world.stores.clients(runId).size, 0) === count);
const finish = (): void => {
  for (const runId of world.runs()) world.stores.write(runId, [completed()]);
};

describe('two equal requests at the same moment, to two gateways', () => {
  it.each([
    ['retries', { 'x-stainless-retry-count': '1' }],
    ['requests with one Idempotency-Key', { 'idempotency-key': 'k' }],
  ])('are one run as %s, and both show its id', async (_what, headers) => {
    await open();
    const answers = [world, other].map((gateway) => gateway.chat({ stream: false }, { headers }));
    await attached(2);
    expect(world.runs()).toHaveLength(1);
    finish();
    const shown = await Promise.all(answers.map(async (answer) => (await answer).headers.get('x-run-id')));
    expect(shown).toEqual([world.run(), world.run()]);
  });

  it('are one run through /v1/runs too', async () => {
    await open();
    const headers = { 'x-stainless-retry-count': '2' };
    const started = await Promise.all(
      [world, other].map(async (gateway) => (await gateway.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers })).json()),
    );
    const ids = (started as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([world.run(), world.run()]);
  });

  it('are two runs as retries of two tenants', async () => {
    await open({ keys: twoTenants });
    const answers = [world, other].map((gateway, n) =>
      gateway.chat({ stream: false }, { headers: { 'x-stainless-retry-count': '1', authorization: `Bearer ${['sk-a', 'sk-b'][n]}` } }),
    );
    await attached(2);
    expect(world.runs()).toHaveLength(2);
    finish();
    await Promise.all(answers);
  });

  it('are one new run after the run that they repeat has failed', async () => {
    await open();
    const first = world.chat({ stream: false });
    await until('the first run', () => world.requested().length === 1);
    world.write(completed({ outcome: 'failed', answer: null }));
    await first;
    const headers = { 'x-stainless-retry-count': '1' };
    const answers = [world, other].map((gateway) => gateway.chat({ stream: false }, { headers }));
    await until('the clients', () => world.runs().some((runId) => world.stores.clients(runId).size === 2));
    expect(world.runs()).toHaveLength(2);
    finish();
    await Promise.all(answers);
  });
});

describe('a retry that arrives while its first request is being accepted', () => {
  it.each([
    ['is one run with it', '1', 1],
    ['is another run if it does not say that it is a retry', '0', 2],
  ])('%s', async (_what, count, runs) => {
    world = other = await World.open();
    const store = world.stores.state.runs;
    const accept = store.accept;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let stored = 0;
    Object.assign(store, {
      accept: async (...given: Parameters<typeof accept>) => {
        stored += 1;
        if (stored === 1) await held;
        return accept(...given);
      },
    });
    const ask = (retries: string) => world.chat({ stream: false }, { headers: { 'x-stainless-retry-count': retries } });
    const first = ask('0');
    await until('the first request', () => stored === 1);
    const second = ask(count);
    if (runs === 2) await until('the second request', () => stored === 2);
    // Whoever did not wait for the first request has begun a run by then.
    else for (let n = 0; n < 5; n += 1) await (await fetch(`${world.url}/v1/models`)).text();
    release();
    await attached(2);
    expect(world.runs()).toHaveLength(runs);
    finish();
    expect(new Set(await Promise.all([first, second].map(async (answer) => (await answer).headers.get('x-run-id')))).size).toBe(runs);
  });
});
