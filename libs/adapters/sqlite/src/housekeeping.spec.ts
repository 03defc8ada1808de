import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { accountMs, defaultTtl } from '@conclave/ports';
import { acceptance, counting, nthInput, timer, type Tally } from '@conclave/ports/suites';
import { Database } from './database/database.js';
import { ShiftedClock } from './__fixtures__/shifted-clock.js';
import { embeddedTtl, prune } from './housekeeping.js';
import { LogTable } from './event-log/log-table.js';
import { SharedState, SqliteState } from './state/sqlite-state.js';

/** The clock of these tests also runs in real time: this unit is longer than any test. */
const minute = 60_000;

describe('housekeeping of caches, scores and one-time claims', () => {
  const ttl = { ...defaultTtl, retentionMs: 10 * minute };
  let clock: ShiftedClock;
  let database: Database;
  let state: SqliteState;
  beforeEach(() => {
    clock = new ShiftedClock();
    const now = () => clock.now();
    database = Database.open({ home: ':memory:', durability: 'process', now });
    state = new SqliteState(new SharedState(database, new LogTable(database, now), clock, ttl), 'standalone');
  });
  afterEach(() => database.close());

  const rows = (table: string): number => database.read((sql) => sql.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n);
  const pruned = () => prune(database, clock.now(), ttl);

  it('keeps the records of each topic for its own time, and bodies and tombstones longer than all of them', async () => {
    const day = 24 * 60 * minute;
    const retention = { retention_days: 2, retention: { audit: 10, dead: 4 } };
    const append = (topic: string, id: string) =>
      database.write((tick) =>
        new LogTable(database, () => clock.now()).append(tick, { topic, key: 'k', id, headers: {}, raw: Buffer.from('{}') }),
      );
    for (const topic of ['plan.requested', 'audit', 'dead', 'tasks.dispatched.expert', 'store.identity']) await append(topic, topic);
    const left = async (days: number) => {
      clock.shift(days * day);
      await prune(database, clock.now(), embeddedTtl(retention), retention);
      return database.read((sql) => sql.all<{ topic: string }>('SELECT topic FROM log ORDER BY topic')).map(({ topic }) => topic);
    };
    expect(await left(2.5)).toEqual(['audit', 'dead', 'plan.requested', 'store.identity', 'tasks.dispatched.expert']);
    // A day more than the topic says, so that a step finds its input.
    expect(await left(1)).toEqual(['audit', 'dead', 'store.identity']);
    expect(await left(2)).toEqual(['audit', 'store.identity']);
    expect(await left(5)).toEqual(['store.identity']);
    expect([embeddedTtl(retention).retentionMs / day, embeddedTtl().retentionMs / day]).toEqual([4, 14]);
  });

  it('deletes any number of expired cached values with their tags, and keeps the others', async () => {
    const write = (n: number, ttlMs: number) =>
      state.caches.write({ tenant: 'acme', key: `k${n}`, value: n, ttlMs, tags: ['all', `t${n}`] });
    await Promise.all(Array.from({ length: 450 }, (_, n) => write(n, minute)));
    await write(450, 5 * minute);
    await pruned();
    expect([rows('cache'), rows('cache_tag')]).toEqual([451, 902]);
    clock.shift(minute);
    await pruned();
    expect([rows('cache'), rows('cache_tag')]).toEqual([1, 2]);
    expect(await state.caches.read('acme', 'k450')).toMatchObject({ value: 450 });
    expect(await state.caches.removeTagged('acme', 'all')).toBe(1);
    expect([rows('cache'), rows('cache_tag')]).toEqual([0, 0]);
  });

  it('leaves no tag behind when an entry is overwritten or removed', async () => {
    const entry = { tenant: 'acme', key: 'k', value: 1, ttlMs: minute };
    await state.caches.write({ ...entry, tags: ['a', 'b', 'c'] });
    await state.caches.write({ ...entry, tags: ['c'] });
    expect([rows('cache'), rows('cache_tag')]).toEqual([1, 1]);
    await state.caches.remove('acme', 'k');
    expect([rows('cache'), rows('cache_tag')]).toEqual([0, 0]);
  });

  it('forgets bans and one-time claims when their time is over, but never permanent ones', async () => {
    await state.caches.removeTagged('acme', 'bad', minute);
    await state.caches.removeTagged('acme', 'worse', 5 * minute);
    await Promise.all(
      Array.from({ length: 250 }, (_, n) =>
        state.once.claim({ tenant: 'acme', name: `n${n}`, holder: 'h', ttlMs: n === 0 ? 5 * minute : minute }),
      ),
    );
    await state.once.claim({ tenant: 'acme', name: 'for good', holder: 'h', ttlMs: null });
    clock.shift(minute);
    await pruned();
    expect([rows('cache_ban'), rows('once')]).toEqual([1, 2]);
    clock.shift(4 * minute);
    await pruned();
    expect([rows('cache_ban'), rows('once')]).toEqual([0, 1]);
    expect(await state.once.claim({ tenant: 'acme', name: 'for good', holder: 'other', ttlMs: null })).toEqual({
      mine: false,
      holder: 'h',
    });
  });

  it('forgets calls outside runs after the retention, and the totals of an account after thirteen months', async () => {
    const at = clock.now();
    const used = { calls: 1, prompt: 1, completion: 1, reasoning: 0, cost: 0, estimated: false };
    const caller = { tenant: 'acme', actor: 'key' };
    await state.usage.add({ runId: 'run_direct00', step: 'run_direct00/direct/call/0', attempt: 1, usage: used, at, caller });
    await pruned();
    expect([rows('usage_call'), rows('usage_account')]).toEqual([1, 1]);
    clock.shift(10 * minute);
    await pruned();
    expect([rows('usage_call'), rows('usage_account')]).toEqual([0, 1]);
    expect(await state.usage.ofAccount({ tenant: 'acme', period: 'month', at })).toEqual(used);
    clock.shift(accountMs + 24 * 60 * minute);
    await pruned();
    expect(rows('usage_account')).toBe(0);
  });

  it('remembers a counted event for the retention from its last use, and the scores permanently', async () => {
    const add = (eventId: string) =>
      state.scores.add({ eventId, tenant: 'acme', updates: [{ category: 'c', model: 'm', positive: 1, negative: 0 }] });
    expect([await add('used'), await add('left')]).toEqual([true, true]);
    clock.shift(6 * minute);
    await pruned();
    expect(await add('used')).toBe(false);
    clock.shift(6 * minute);
    await pruned();
    expect(rows('score_event')).toBe(1);
    expect(await add('used')).toBe(false);
    clock.shift(10 * minute);
    await pruned();
    expect(rows('score_event')).toBe(0);
    expect(await state.scores.read({ tenant: 'acme', category: 'c', models: ['m'] })).toEqual([{ model: 'm', positive: 2, negative: 0 }]);
  });

  it('forgets after the retention what a stray record left of a run that was never accepted, but no open run', async () => {
    const [stray, open] = ['run_stray00001', 'run_open000001'];
    await state.runs.accept(acceptance(open));
    for (const runId of [stray, open])
      await state.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), { arm: [timer('wall', 1)] }));
    clock.shift(9 * minute);
    await pruned();
    expect([rows('run'), rows('timer'), rows('applied')]).toEqual([2, 2, 2]);
    clock.shift(2 * minute);
    await pruned();
    expect([rows('run'), rows('timer'), rows('applied')]).toEqual([1, 1, 1]);
    expect(await state.runs.read(open)).not.toBeNull();
  });
});
