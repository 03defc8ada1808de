import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { noUsage, type WorkerEntry } from '@conclave/contracts';
import { acceptance, counting, listen, namedOutput, newRunId, nthInput, planning, timer, type Tally } from '@conclave/ports/suites';
import { cuttingProxy, type CuttingProxy } from './__fixtures__/cutting-proxy.js';
import { newPrefix, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

/** The client resends a command when the connection breaks before the reply: the server executes it twice. */
describe('A command that was executed but not answered', () => {
  let server: PrivateRedis;
  let proxy: CuttingProxy;
  let state: RedisState;
  let runId: string;
  let keyPrefix: string;
  beforeAll(async () => {
    server = await startPrivateRedis();
    proxy = await cuttingProxy(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await server.dispose();
  });
  beforeEach(async () => {
    keyPrefix = newPrefix();
    state = await openRedisState({ url: proxy.url, processId: 'p1', keyPrefix });
    runId = newRunId();
  });
  let rival: RedisState | null = null;
  afterEach(async () => {
    await rival?.close();
    rival = null;
    await state.close();
  });

  /** Runs a command whose first `times` replies get lost, and checks that they were. */
  async function unanswered<T>(command: () => Promise<T>, times = 2): Promise<T> {
    const before = proxy.lost();
    proxy.loseReplies(times);
    const result = await command();
    expect(proxy.lost() - before).toBe(times);
    return result;
  }

  it('is applied once when it is a commit, and is not treated as a repeated event', async () => {
    const event = nthInput(runId, 1);
    let steps = 0;
    const before = proxy.lost();
    const done = await state.store.runs.commit<Tally>(event, (current, at) => {
      steps += 1;
      proxy.loseReplies(2);
      return counting(event, { entries: [planning(0)], outputs: [namedOutput(runId, 'a')], arm: [timer('wall', at.now - 1)] })(current, at);
    });
    expect(proxy.lost() - before).toBe(2);
    expect(done).toMatchObject({ repeated: false, state: { count: 1 }, outputs: [namedOutput(runId, 'a')] });
    expect(steps).toBe(1);
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 1, state: { count: 1 } });
    expect((await state.stream.read(runId, 0, 10)).last).toBe(1);
    expect(await state.store.timers.due(10)).toHaveLength(1);
  });

  it('is sent again to the buckets that did not answer when it asks all of them', async () => {
    const { timers, runs } = state.store;
    const at = await state.store.now();
    for (let n = 1; n <= 40; n += 1) {
      const event = nthInput(newRunId(), n);
      await runs.commit<Tally>(event, counting(event, { arm: [timer('wall', at - 1)] }));
    }
    for (const kept of [0, 20, 200]) {
      const before = proxy.lost();
      proxy.loseReplies(1, kept);
      expect(await timers.due(100)).toHaveLength(40);
      expect(proxy.lost() - before).toBe(1);
    }
  });

  it('leaves no gap in the sequence when it is a command number', async () => {
    expect(await unanswered(() => state.store.runs.nextCommandSeq(runId))).toBe(1);
    expect(await state.store.runs.nextCommandSeq(runId)).toBe(2);
  });

  it('counts once when it is an acceptance, an attachment or a slot', async () => {
    const { runs, leases } = state.store;
    expect(await unanswered(() => runs.accept(acceptance(runId, { openLimit: 1 })))).toEqual({ kind: 'accepted' });
    expect(await runs.openCount()).toBe(1);
    expect(await unanswered(() => runs.attach(runId, 'client'))).toBe(1);
    expect(await unanswered(() => leases.acquireSlot({ name: 'local', limit: 1, holder: 'h', ttlMs: 10_000 }))).toBe(true);
    expect(await unanswered(() => runs.detach(runId, 'client'))).toBe(0);
  });

  it('starts one attempt of a journalled call and stores one outcome', async () => {
    const { journal, leases } = state.store;
    await leases.renewProcess({ id: 'p1', service: 'experts', classes: [], ttlMs: 60_000 });
    const step = `${runId}/0/t1/call/0`;
    const begun = await unanswered(() => journal.begin({ runId, step, nonce: 'n', owner: 'p1' }));
    expect(begun).toEqual({ kind: 'begun', attempt: 1, repeated: false });
    const paid = { usage: { ...noUsage, calls: 1, prompt: 10 }, at: 1_700_000_000_000 };
    expect(await unanswered(() => journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: 'blue' }, paid))).toBe('stored');
    expect(await state.store.usage.ofRun(runId)).toEqual(paid.usage);
  });

  it('counts one attempt of a delivery and takes back at most one', async () => {
    const { deliveries } = state.store;
    const delivery = { group: 'merger', record: 'results.ready/0/1' };
    expect(await unanswered(() => deliveries.begin(delivery))).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
    await deliveries.failed(delivery);
    await deliveries.begin(delivery);
    await unanswered(() => deliveries.released(delivery));
    expect(await deliveries.begin(delivery)).toEqual({ attempts: 2, deaths: 0, suspects: 0 });
  });

  it('appends its text once', async () => {
    const chunk: WorkerEntry = { kind: 'chunk', taskId: `${runId}/0/t1`, attempt: 1, offset: 0, text: 'blue' };
    expect(await unanswered(() => state.stream.append(runId, [chunk]))).toBe('appended');
    await unanswered(() => state.stream.append(runId, [{ ...chunk, offset: 4, text: ' sky' }]));
    const { entries } = await state.stream.read(runId, 0, 10);
    expect(entries.map((entry) => (entry.kind === 'chunk' ? entry.text : entry.kind))).toEqual(['blue', ' sky']);
  });

  it('succeeds once when it writes a setting, and raises the generation once when it starts the identity', async () => {
    const { settings, identity } = state.store;
    expect(await unanswered(() => settings.write('templates', 0, 'one'))).toBe(true);
    expect(await settings.read('templates')).toEqual({ version: 1, value: 'one' });
    expect(await unanswered(() => identity.start('store-1'))).toEqual({ storeId: 'store-1', generation: 1 });
  });

  it('still succeeds when another process wrote the next version of the setting before it was sent again', async () => {
    const { settings } = state.store;
    const { settings: ofRival } = (rival = await openRedisState({ url: server.url, processId: 'p2', keyPrefix })).store;
    let rivalWrote = false;
    proxy.atNextLoss(async () => void (rivalWrote = await ofRival.write('templates', 1, 'two')));
    expect(await unanswered(() => settings.write('templates', 0, 'one'), 1)).toBe(true);
    expect(rivalWrote).toBe(true);
    expect(await settings.read('templates')).toEqual({ version: 2, value: 'two' });
    expect(await settings.versions('templates')).toMatchObject([{ version: 2 }, { version: 1 }]);
  });

  it('is one write of a breaker, even when another process wrote the next one before it was sent again', async () => {
    const { breakers } = state.store;
    const { breakers: ofRival } = (rival = await openRedisState({ url: server.url, processId: 'p2', keyPrefix })).store;
    const next = { kind: 'closed' as const, since: 0, failed: [true] };
    const failedTwice = { ...next, failed: [true, true] };
    let rivalWrote = false;
    proxy.atNextLoss(
      async () => void (rivalWrote = (await ofRival.swap({ provider: 'p', version: 1, next: failedTwice, nonce: 'theirs' })).swapped),
    );
    const mine = await unanswered(() => breakers.swap({ provider: 'p', version: 0, next, nonce: 'mine' }), 1);
    expect([mine.swapped, rivalWrote]).toEqual([true, true]);
    expect(mine.held).toMatchObject({ version: 2, state: failedTwice });
  });

  it('counts once when it adds scores, and is not treated as a repeated event', async () => {
    const { scores } = state.store;
    const change = { eventId: 'e', tenant: 'acme', updates: [{ model: 'm', category: 'math', positive: 0.5, negative: 1 }] };
    expect(await unanswered(() => scores.add(change))).toBe(true);
    expect(await unanswered(() => scores.add(change))).toBe(false);
    expect(await scores.all('acme')).toEqual([{ model: 'm', category: 'math', positive: 0.5, negative: 1 }]);
  });

  it('returns who was first, and who may compute, as if it had been sent once', async () => {
    const { once, caches } = state.store;
    const claim = { tenant: 'acme', key: 'k', owner: 'a', ttlMs: 60_000 };
    expect(await unanswered(() => once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: null }))).toEqual({
      mine: true,
      holder: 'h',
    });
    expect(await unanswered(() => caches.claim(claim))).toBe('mine');
    await unanswered(() => caches.release(claim));
    expect(await caches.claim({ ...claim, owner: 'b' })).toBe('mine');
  });

  it('writes one cached value, and removes those of a tag with the count of the first execution', async () => {
    const { caches } = state.store;
    const entry = { tenant: 'acme', key: 'k', value: 1, ttlMs: 60_000, tags: ['t'] };
    expect(await unanswered(() => caches.write(entry))).toBe(true);
    await caches.write({ ...entry, key: 'k2' });
    expect(await unanswered(() => caches.removeTagged('acme', 't', 60_000))).toBe(2);
    expect([await caches.read('acme', 'k'), await caches.write(entry)]).toEqual([null, false]);
  });

  it('is not lost among many others in flight on the same connection', async () => {
    const events = Array.from({ length: 40 }, (_, n) => nthInput(runId, n + 1));
    proxy.loseReplies(3);
    const done = await Promise.all(
      events.map((event) => state.store.runs.commit<Tally>(event, counting(event, { entries: [planning(0)] }))),
    );
    expect(done.every(({ repeated }) => !repeated)).toBe(true);
    const stored = await state.store.runs.read<Tally>(runId);
    expect([...stored!.state.seen].sort()).toEqual(events.map(({ id }) => id).sort());
    expect((await state.stream.read(runId, 0, 100)).last).toBe(40);
  });

  it('keeps subscriptions', async () => {
    const { heard } = await listen({ ...state, processId: 'p1' }, 'slot');
    await unanswered(() => state.store.runs.openCount());
    for (let tries = 0; heard.length === 0 && tries < 100; tries += 1) {
      await state.store.hints.publish('slot', 'local');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(heard[0]).toBe('local');
  });
});
