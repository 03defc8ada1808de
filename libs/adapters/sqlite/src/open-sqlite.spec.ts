import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { blobThresholdBytes, leaseTtlMs, suspectsHeldMs, systemClock, type Clock, type StoredRecord } from '@conclave/ports';
import { acceptance, counting, ending, namedOutput, newRunId, nthInput, timer, until, type Tally } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ShiftedClock } from './__fixtures__/shifted-clock.js';
import { copyAsKilled, newFolder, removeFolder } from './__fixtures__/folder.js';
import { Sql } from './database/sql.js';
import { openSqlite, type Sqlite, type SqliteOptions } from './open-sqlite.js';

describe('openSqlite', () => {
  let root: string;
  let lives = 0;
  const opened: Sqlite[] = [];
  beforeEach(() => {
    root = newFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sqlite) => sqlite.close()));
    removeFolder(root);
  });

  const open = (home = join(root, 'home'), more: Partial<SqliteOptions> = {}): Sqlite => {
    const sqlite = openSqlite({ home, processId: 'standalone', durability: 'process', ...more });
    opened.push(sqlite);
    return sqlite;
  };
  /** Kills the process now and starts it again with the same process id. */
  const afterKill = (home = join(root, 'home'), more: Partial<SqliteOptions> = {}): Sqlite => {
    lives += 1;
    const to = join(root, `life ${lives}`);
    copyAsKilled(home, to);
    return open(to, more);
  };
  const stored = async ({ log }: Sqlite, topic: string): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    for await (const record of log.read(topic)) records.push(record);
    return records;
  };
  const ids = async (sqlite: Sqlite, topic: string) => (await stored(sqlite, topic)).map(({ event }) => event!.id);

  describe('commit', () => {
    it('appends the outputs to the log in the same transaction, so a death before the publishing loses nothing', async () => {
      const first = open();
      const runId = newRunId();
      const event = nthInput(runId, 1);
      const committing = first.state.runs.commit<Tally>(
        event,
        counting(event, { outputs: [namedOutput(runId, 'a'), namedOutput(runId, 'b')] }),
      );
      await committing;
      expect(await ids(afterKill(), 'run.commands')).toEqual([]);
      await first.durable();
      const heir = afterKill();
      expect(await ids(heir, 'run.commands')).toEqual([`${runId}/output/a`, `${runId}/output/b`]);
      const repeated = await heir.state.runs.commit<Tally>(event, counting(event));
      expect(repeated).toMatchObject({ repeated: true, outputs: [{ id: `${runId}/output/a` }, { id: `${runId}/output/b` }] });
      await heir.log.publish(repeated.outputs);
      expect(await ids(heir, 'run.commands')).toHaveLength(2);
    });

    it('wakes the consumers of its outputs without a publish', async () => {
      const { log, state } = open(':memory:');
      const runId = newRunId();
      const heard: string[] = [];
      await log.subscribe({
        group: 'merger',
        topics: ['run.commands'],
        concurrency: 2,
        handle: async ({ event }) => (heard.push(event.id), []),
      });
      await wait(20);
      const event = nthInput(runId, 1);
      await state.runs.commit<Tally>(event, counting(event, { outputs: [namedOutput(runId, 'a')] }));
      await until('the output arrived', () => heard.length === 1, 500);
    });

    it('keeps a large output by reference and returns it whole', async () => {
      const sqlite = open(':memory:');
      const runId = newRunId();
      const event = nthInput(runId, 1);
      const large = nthInput(runId, 2);
      const text = 'ä'.repeat(blobThresholdBytes);
      const command = { ...large, data: { ...(large.data as object), command: { name: 'steer', text } } };
      await sqlite.state.runs.commit<Tally>(event, counting(event, { outputs: [command] }));
      const [record] = await stored(sqlite, 'run.commands');
      expect(record!.raw.byteLength).toBeLessThan(1000);
      expect(record!.event).toEqual(command);
    });
  });

  it('sets no timer and reads nothing while consumers and waiters are idle', async () => {
    let timers = 0;
    const clock: Clock = { ...systemClock, after: (ms, call) => ((timers += 1), systemClock.after(ms, call)) };
    const { log, state } = open(':memory:', { clock });
    await log.subscribe({ group: 'merger', topics: ['run.commands'], concurrency: 2, handle: async () => [] });
    const stop = new AbortController();
    const waiting = state.timers.wait(60_000, stop.signal);
    await wait(20);
    const reads = jest.spyOn(Sql.prototype, 'all');
    const before = timers;
    await wait(200);
    expect([timers - before, reads.mock.calls.length]).toEqual([0, 0]);
    reads.mockRestore();
    stop.abort();
    await waiting;
  });

  describe('after the process was killed', () => {
    it('runs, timers, streams, settings and bodies are there', async () => {
      const first = open();
      const runId = newRunId();
      const event = nthInput(runId, 1);
      await first.state.runs.accept(acceptance(runId, { retryKey: 'r1' }));
      await first.state.runs.commit<Tally>(
        event,
        counting(event, ({ now }) => ({ arm: [timer('wall', now)], cancels: [`${runId}/0/t`] })),
      );
      await first.stream.append(runId, [{ kind: 'chunk', taskId: `${runId}/0/t`, attempt: 1, offset: 0, text: 'blue' }]);
      await first.state.settings.write('templates', 0, { a: 1 });
      const ref = await first.blobs.put(Buffer.from('body'));
      const heir = afterKill();
      expect(await heir.state.runs.read(runId)).toMatchObject({ version: 1, state: { count: 1 } });
      expect(await heir.state.runs.findRetry('r1')).toBe(runId);
      expect(await heir.state.timers.due(10)).toMatchObject([{ runId, name: 'wall' }]);
      expect(await heir.stream.read(runId, 0, 10)).toMatchObject({ last: 1, entries: [{ text: 'blue' }] });
      expect(await heir.state.settings.read('templates')).toEqual({ version: 1, value: { a: 1 } });
      expect((await heir.blobs.get(ref)).toString()).toBe('body');
    });

    it('its leases end immediately, even under the same process id: a call in progress begins again', async () => {
      const first = open();
      const [runId, owner] = [newRunId(), 'standalone'];
      const lease = { id: owner, service: 'standalone', classes: ['expert'], ttlMs: 60_000 };
      await first.state.leases.renewProcess(lease);
      const call = { runId, step: `${runId}/0/t1/call/0`, owner };
      await first.state.journal.begin({ ...call, nonce: 'n1' });
      const heir = afterKill();
      await heir.state.leases.renewProcess(lease);
      expect(await heir.state.journal.begin({ ...call, nonce: 'n2' })).toEqual({ kind: 'begun', attempt: 2, repeated: true });
      expect(await heir.state.journal.finish({ ...call, attempt: 1 }, { ok: true, reply: 'late' })).toBe('refused');
    });

    it('clients of its gateway count as gone when their lease would have ended, but not before', async () => {
      const first = open();
      const runId = newRunId();
      await first.state.runs.accept(acceptance(runId));
      await first.state.leases.renewProcess({ id: 'standalone', service: 'standalone', classes: [], ttlMs: leaseTtlMs });
      await first.state.runs.attach(runId, 'c');
      const clock = new ShiftedClock();
      const heir = afterKill(undefined, { clock });
      await heir.state.leases.renewProcess({ id: 'standalone', service: 'standalone', classes: [], ttlMs: 60_000 });
      expect(await heir.state.runs.park(1_000, 5)).toEqual({ parked: 0, overdue: [] });
      clock.shift(leaseTtlMs);
      expect(await heir.state.runs.park(1_000, 5)).toEqual({ parked: 1, overdue: [] });
      expect(await heir.state.runs.attach(runId, 'c again')).toBe(1);
      expect(await heir.state.runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
    });

    it('a run that was just parked counts as parked since that very moment, however fast the clock moves', async () => {
      const first = open();
      const runId = newRunId();
      await first.state.runs.accept(acceptance(runId));
      await first.state.runs.attach(runId, 'c');
      let readings = 0;
      const clock = { ...systemClock, now: () => systemClock.now() + (readings += 1) };
      const heir = afterKill(undefined, { clock });
      readings += leaseTtlMs;
      expect(await heir.state.runs.park(0, 5)).toEqual({ parked: 1, overdue: [runId] });
    });

    it('each death while holding a record is counted, although every life has the same process id', async () => {
      const delivery = { group: 'merger', record: 'run.commands/0/1' };
      let sqlite = open();
      await sqlite.log.publish([namedOutput(newRunId(), 'deadly')]);
      let home = join(root, 'home');
      for (let deaths = 0; deaths < 3; deaths += 1) {
        expect(await sqlite.state.deliveries.begin(delivery)).toEqual({ attempts: deaths + 1, deaths, suspects: 0 });
        sqlite = afterKill(home);
        home = join(root, `life ${lives}`);
      }
      expect(await sqlite.state.deliveries.begin(delivery)).toEqual({ attempts: 4, deaths: 3, suspects: 0 });
    });

    it('finished records are not redelivered, in whatever order they were finished', async () => {
      const first = open();
      const runId = newRunId();
      const stuck = new Set(['1', '4']);
      const subscription = { group: 'merger', topics: ['run.commands'], concurrency: 8, graceMs: 0 };
      const handled: string[] = [];
      await first.log.publish(Array.from({ length: 6 }, (_, n) => ({ ...namedOutput(runId, String(n)), key: `k${n}` })));
      await first.log.subscribe({
        ...subscription,
        handle: async ({ event, signal }) => {
          const name = event.id.split('/').at(-1)!;
          if (stuck.has(name))
            await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('closing'))));
          handled.push(name);
          return [];
        },
      });
      const lag = async (sqlite: Sqlite) => (await sqlite.log.lag('merger')).reduce((sum, { records }) => sum + records, 0);
      await until('four are finished', async () => (await lag(first)) === 2);
      expect(handled).toEqual(['0', '2', '3', '5']);
      const heir = afterKill();
      const again: string[] = [];
      await heir.log.subscribe({ ...subscription, handle: async ({ event }) => (again.push(event.id.split('/').at(-1)!), []) });
      await until('the rest is finished', async () => (await lag(heir)) === 0);
      expect(again.sort()).toEqual(['1', '4']);
    });
  });

  it('does not begin at once what two processes in a row died with', async () => {
    let home = join(root, 'home');
    let sqlite = open(home, { processId: 'victim 1' });
    const begun: number[] = [];
    const handle = (life: number) => () => (begun.push(life), new Promise<never>(() => undefined));
    const subscription = { group: 'merger', topics: ['run.commands'], concurrency: 1, graceMs: 0 } as const;
    await sqlite.log.publish([namedOutput(newRunId(), 'slow')]);
    for (const life of [1, 2]) {
      await sqlite.log.subscribe({ ...subscription, handle: handle(life) });
      await until(`life ${life} has begun it`, () => begun.includes(life));
      await sqlite.durable();
      const held: (() => void)[] = [];
      const clock: Clock = {
        ...systemClock,
        after: (ms, call) => (ms > 4_000 && ms <= suspectsHeldMs ? (held.push(call), () => undefined) : systemClock.after(ms, call)),
      };
      sqlite = afterKill(home, { processId: `victim ${life + 1}`, clock });
      home = join(root, `life ${lives}`);
      if (life === 1) continue;
      await sqlite.log.subscribe({ ...subscription, handle: handle(3) });
      await until('it waits', () => held.length > 0);
      expect(begun).toEqual([1, 2]);
      held[0]!();
      await until('it is begun', () => begun.includes(3));
    }
  });

  describe('housekeeping', () => {
    const day = 24 * 60 * 60 * 1000;
    let clock: ShiftedClock;
    beforeEach(() => {
      clock = new ShiftedClock();
    });

    it('deletes old records that every group has finished, and keeps those that any group has not finished', async () => {
      const sqlite = open(':memory:', { clock });
      const runId = newRunId();
      const consume = (group: string) =>
        sqlite.log.subscribe({ group, topics: ['run.commands'], concurrency: 4, graceMs: 0, handle: async () => [] });
      await sqlite.log.publish(Array.from({ length: 500 }, (_, n) => namedOutput(runId, `old ${n}`)));
      await (await consume('slow')).close();
      await sqlite.log.publish([namedOutput(runId, 'unfinished')]);
      const fast = await consume('fast');
      await until('the fast group is done', async () => (await sqlite.log.lag('fast'))[0]!.records === 0);
      await fast.close();
      clock.shift(16 * day);
      await sqlite.log.publish([namedOutput(runId, 'new')]);
      const slowLag = (await sqlite.log.lag('slow'))[0]!.records;
      await sqlite.prune();
      expect((await sqlite.log.lag('slow'))[0]!.records).toBe(slowLag);
      expect((await stored(sqlite, 'run.commands')).length).toBe(slowLag);
      expect(slowLag).toBeGreaterThanOrEqual(2);
      const slow = await consume('slow');
      await until('the slow group is done', async () => (await sqlite.log.lag('slow'))[0]!.records === 0);
      await slow.close();
      await sqlite.prune();
      expect((await ids(sqlite, 'run.commands')).at(-1)).toBe(`${runId}/output/new`);
      expect(await stored(sqlite, 'run.commands')).toHaveLength(1);
    });

    it('leaves everything to later processes when it is opened only for reading', async () => {
      const home = join(root, 'home');
      const first = open(home, { clock });
      await first.log.publish([namedOutput(newRunId(), 'old')]);
      await first.close();
      clock.shift(16 * day);
      const timers = jest.spyOn(globalThis, 'setInterval');
      const reader = open(home, { clock, prunes: false });
      expect(timers).not.toHaveBeenCalled();
      timers.mockRestore();
      // Pruning at the start would be queued before this write.
      await reader.log.publish([namedOutput(newRunId(), 'new')]);
      expect(await stored(reader, 'run.commands')).toHaveLength(2);
      await reader.close();
      const owner = open(home, { clock });
      await until('the old record is deleted', async () => (await stored(owner, 'run.commands')).length === 1);
    });

    it('deletes expired streams, runs and bodies, but nothing of an open run', async () => {
      const sqlite = open(':memory:', { clock });
      const { runs, journal } = sqlite.state;
      const [over, alive] = [newRunId(), newRunId()];
      for (const runId of [over, alive]) {
        await runs.accept(acceptance(runId, { retryKey: runId }));
        await runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), { cancels: [`${runId}/0/t`] }));
        await sqlite.stream.append(runId, [{ kind: 'chunk', taskId: `${runId}/0/t`, attempt: 1, offset: 0, text: 'blue' }]);
        await journal.begin({ runId, step: `${runId}/0/t/call/0`, nonce: 'n', owner: 'standalone' });
      }
      await runs.cancel('run_neverCame');
      const ref = await sqlite.blobs.put(Buffer.from('body'));
      await runs.commit<Tally>(nthInput(over, 2), counting(nthInput(over, 2), ending));
      clock.shift(2 * day);
      await sqlite.prune();
      expect(await runs.read(over)).toMatchObject({ terminal: true });
      expect(await journal.started(`${over}/0/t`)).toBe(true);
      expect((await sqlite.stream.read(over, 0, 10)).last).toBe(0);
      clock.shift(38 * day);
      await sqlite.prune();
      expect(await runs.read(over)).toBeNull();
      expect(await runs.header(over)).toBeNull();
      expect(await journal.started(`${over}/0/t`)).toBe(false);
      expect(await runs.cancelled([over, `${over}/0/t`, 'run_neverCame'])).toEqual(new Set());
      await expect(sqlite.blobs.get(ref)).rejects.toMatchObject({ code: 'BLOB_MISSING' });
      expect(await runs.read(alive)).toMatchObject({ terminal: false, state: { count: 1 } });
      expect(await runs.header(alive)).not.toBeNull();
      expect((await sqlite.stream.read(alive, 0, 10)).last).toBe(1);
      expect(await runs.cancelled([`${alive}/0/t`])).toEqual(new Set([`${alive}/0/t`]));
      expect(await journal.started(`${alive}/0/t`)).toBe(true);
    });
  });

  it('keeps log, state, stream, bodies, graph and documents in one folder that opens again after it was closed', async () => {
    mkdirSync(join(root, 'documents'));
    writeFileSync(join(root, 'documents', 'a.md'), '# Lions\n\nLions sleep a lot.');
    const first = open();
    const signal = new AbortController().signal;
    expect(await (await first.corpus(join(root, 'documents'))).query({ query: 'sleeping lion', limit: 3, signal })).toHaveLength(1);
    await first.graph.addSynthesis({
      tenant: 't',
      runId: 'run_00000001',
      insight: { summary: 's', entities: ['e'], insight_type: 'synthesis' },
      domain: 'd',
      confidence: 1,
      at: 1,
    });
    await Promise.all([first.close(), first.close()]);
    await expect(first.log.publish([namedOutput(newRunId(), 'late')])).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
    const second = open();
    expect(await second.graph.synthesesAbout({ tenant: 't', entities: ['E'], limit: 1 })).toHaveLength(1);
    expect(await (await second.corpus(join(root, 'documents'))).query({ query: 'lion', limit: 3, signal })).toHaveLength(1);
    expect([await second.log.health(), await second.state.health(), await second.state.warnings()]).toEqual([null, null, []]);
  });
});
