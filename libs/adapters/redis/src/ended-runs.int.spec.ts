import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { callStep, taskId, type Event } from '@conclave/contracts';
import {
  acceptance,
  callRecord,
  counting,
  ending,
  newRunId,
  nthInput,
  sampleHeader,
  stepRecord,
  until,
  type Tally,
} from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { newPrefix, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { Keys, type RunKeys } from './keys.js';
import { openRedisState, type RedisState } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

interface Long extends Tally {
  readonly text: string;
}
const longText = (length: number): string => Array.from({ length }, (_, n) => `word${n % 97}`).join(' ');

describe('An ended run in Redis', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let keyPrefix: string;
  let runId: string;
  let own: RunKeys;
  const opened: RedisState[] = [];
  beforeAll(async () => {
    server = await startPrivateRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.dispose();
  });
  beforeEach(async () => {
    await Promise.all(opened.splice(0).map((state) => state.close()));
    keyPrefix = newPrefix();
    runId = newRunId();
    own = new Keys(keyPrefix).of(runId);
  });
  afterAll(() => Promise.all(opened.map((state) => state.close())));

  const open = async (processId: string, withLease = true): Promise<RedisState> => {
    const state = await openRedisState({ url: server.url, processId, keyPrefix });
    opened.push(state);
    if (withLease) await renew(state, processId);
    return state;
  };
  const renew = ({ store }: RedisState, id: string) => store.leases.renewProcess({ id, service: 'merger', classes: [], ttlMs: 60_000 });
  const ended = (state: RedisState, event: Event, outputs: readonly Event[] = [], text = longText(2_000)) =>
    state.store.runs.commit<Long>(event, (current, at) => ({
      ...counting(event, { ...ending, outputs })(current, at),
      next: { count: (current?.count ?? 0) + 1, seen: [], text },
    }));
  /** Plays a process of an older version by renewing its lease as that version does. */
  const olderProcess = async (): Promise<void> => {
    const keys = new Keys(keyPrefix);
    await redis.zadd(keys.leases, Date.now() + 60_000, 'older');
    await redis.hset(keys.leaseClasses, 'older', '["expert"]');
    await redis.zadd(keys.workers('expert'), Date.now() + 60_000, 'older');
  };

  it('stores its state packed, and every reader gets it whole', async () => {
    const state = await open('p1');
    const event = nthInput(runId, 1);
    const end = makeEnd(runId);
    await ended(state, event, [end]);
    const text = longText(2_000);
    expect((await redis.hget(own.run, 'state'))!.length).toBeLessThan(text.length / 4);
    expect(await state.store.runs.read(runId)).toMatchObject({ state: { count: 1, text }, terminal: true });
    const begun = await state.store.journal.begin({ runId, step: `${runId}/0/t/call/0`, nonce: 'n', owner: 'p1', withState: true });
    expect(begun).toMatchObject({ kind: 'begun', state: { text } });
    const other = await open('p2');
    expect(await ended(other, event)).toMatchObject({ repeated: true, outputs: [end], state: { text } });
    const late = nthInput(runId, 2);
    expect(await ended(other, late)).toMatchObject({ repeated: false, state: { count: 2 } });
    expect(await state.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2, text } });
  });

  it('is stored as plain text, and nothing of it is forgotten, while a process of an older version is alive', async () => {
    const state = await open('p1');
    await olderProcess();
    await renew(state, 'p1');
    const event = nthInput(runId, 1);
    const long = acceptance(runId, { goal: longText(2_000) });
    await state.store.runs.accept(long);
    await ended(state, event, [makeEnd(runId)]);
    state.store.published!([stepRecord(event)]);
    await state.close();
    expect(JSON.parse((await redis.hget(own.run, 'state'))!)).toMatchObject({ count: 1 });
    expect(JSON.parse((await redis.hget(own.run, 'header'))!)).toEqual(long.header);
    expect(JSON.parse((await redis.hget(own.applied, event.id))!.slice(36))).toHaveLength(1);
  });

  it('is stored as plain text by a process without a lease, which does not know the versions of the others', async () => {
    const state = await open('p1', false);
    await ended(state, nthInput(runId, 1));
    expect(JSON.parse((await redis.hget(own.run, 'state'))!)).toMatchObject({ count: 1 });
  });

  it('has its long request packed from acceptance on', async () => {
    const state = await open('p1');
    const { header } = acceptance(runId, { goal: longText(2_000) });
    await state.store.runs.accept({ header, retryKey: null, openLimit: 10 });
    expect((await redis.hget(own.run, 'header'))!.length).toBeLessThan(JSON.stringify(header).length / 2);
    expect(await state.store.runs.header(runId)).toEqual(header);
    expect(await state.store.runs.unpublished(-1, 10)).toEqual([header]);
  });

  it('keeps outputs whose publication was not reported before its process died, until they are published again', async () => {
    const event = nthInput(runId, 1);
    const end = makeEnd(runId);
    const killed = await open('killed');
    await ended(killed, event, [end]);
    // A killed process reports nothing; here nothing is reported to it.
    const other = await open('other');
    const { outputs, repeated } = await ended(other, event);
    expect({ outputs, repeated }).toEqual({ outputs: [end], repeated: true });
    other.store.published!([...outputs, stepRecord(event)]);
    await until('its outputs are forgotten', async () => (await redis.hget(own.applied, event.id))!.length === 38);
    expect(await ended(killed, event)).toMatchObject({ outputs: [], repeated: true });
  });

  it('has its publication reported when its process closes, however recent it is', async () => {
    const state = await open('p1');
    const event = nthInput(runId, 1);
    const step = callStep(taskId(runId, 0, 't'), 0);
    await state.store.journal.begin({ runId, step, nonce: 'n', owner: 'p1' });
    await state.store.journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: longText(100) });
    await ended(state, event, [makeEnd(runId)]);
    state.store.published!([stepRecord(event), callRecord(runId, step)]);
    await state.close();
    expect(await redis.hgetall(own.journal)).toEqual({ [`outcome:${step}`]: '' });
    expect((await redis.hget(own.applied, event.id))!.length).toBe(38);
    for (const key of [own.applied, own.journal]) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('that has expired is not restored by a report of its publication', async () => {
    const state = await open('p1');
    state.store.published!([stepRecord(nthInput(runId, 1)), callRecord(runId, `${runId}/0/t/call/0`)]);
    await state.close();
    expect(await redis.keys(`${keyPrefix}*${runId}*`)).toEqual([]);
  });

  it('has a publication during an outage reported as soon as the outage is over', async () => {
    const state = await open('p1');
    const event = nthInput(runId, 1);
    await ended(state, event, [makeEnd(runId)]);
    await server.kill();
    state.store.published!([stepRecord(event)]);
    await until('the store is away', () => state.store.health().then((sentence) => sentence !== null), 10_000);
    await server.start();
    await until('its outputs are forgotten', async () => (await redis.hget(own.applied, event.id))?.length === 38, 15_000);
  });

  it('that is rebuilt from the log takes no more memory, and returns its end again', async () => {
    const state = await open('p1');
    const events = [1, 2].map((n) => nthInput(runId, n));
    const step = callStep(taskId(runId, 0, 't'), 0);
    const learned = callStep(`${runId}/ingest`, 0);
    const end = makeEnd(runId);
    await state.recovery.begin('store');
    await state.recovery.run(
      {
        ...{ runId, header: sampleHeader(runId), retryKey: null, version: 2, status: 'completed', terminal: true, endedAt: Date.now() },
        ...{ entries: [], timers: [], disarmed: [], cancels: [] },
        state: { text: longText(2_000) },
        applied: events.map((event, n) => ({ eventId: event.id, outputs: [...(n === 1 ? [end] : []), stepRecord(event, n + 1)] })),
      },
      { streamBase: 0, attempt: 0, commandSeq: 0 },
    );
    const outcome = { ok: true as const, reply: longText(500) };
    await state.recovery.calls(
      runId,
      [step, learned].map((at) => ({ step: at, attempt: 1, outcome })),
    );
    await state.recovery.end({ storeId: 'store', generation: 1 });
    expect(await redis.memory('USAGE', own.run)).toBeLessThan(6_000);
    expect(await redis.hget(own.journal, `outcome:${step}`)).toBe('');
    const { store } = await open('p2');
    expect(await store.runs.read(runId)).toMatchObject({ state: { text: longText(2_000) } });
    const again = await Promise.all(events.map((event) => store.runs.commit<Tally>(event, counting(event))));
    expect(again.map(({ outputs }) => outputs)).toEqual([[], [end]]);
    expect(await store.journal.begin({ runId, step, nonce: 'n', owner: 'p2' })).toEqual({ kind: 'published' });
    expect(await store.journal.begin({ runId, step: learned, nonce: 'n', owner: 'p2' })).toEqual({ kind: 'done', outcome, attempt: 1 });
  });
});

/** The end of a run; any event that is not the record of a step will do. */
const makeEnd = (runId: string): Event => ({ ...callRecord(runId, `${runId}/0/t/call/0`), id: `${runId}/completed`, type: 'RunCompleted' });
