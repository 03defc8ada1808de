import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Blobs } from '../blobs/blobs.js';
import { completed, counting, namedOutput, nthInput, planning, sampleHeader, timer, type Tally } from './__fixtures__/samples.js';
import { newName, newRunId, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { aboveLost, markAfterRecovery, recoveriesOf, type Above, type Recovery, type RestoredCall, type RestoredRun } from './recovery.js';
import type { CallOutcome } from './state.js';

/** A new, empty store with the means to rebuild it. */
export interface RecoverableStore extends StoreUnderTest {
  readonly recovery: Recovery;
  readonly blobs: Blobs;
}
export interface RecoveryHarness {
  open(...ttl: Parameters<StoreHarness['open']>): Promise<RecoverableStore>;
}

/** What a rebuilt store must be able to do. */
export function describeRecovery(name: string, { open }: RecoveryHarness): void {
  describe(`${name} can be rebuilt`, () => {
    let under: RecoverableStore;
    let runId: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
    });
    afterEach(() => under.dispose());

    const mark = { storeId: 'store', generation: 7 };
    const above: Above = aboveLost(mark, 3);
    /** A run that took two inputs. */
    const restored = (more: Partial<RestoredRun<Tally>> = {}): RestoredRun<Tally> => ({
      runId,
      header: sampleHeader(runId),
      retryKey: null,
      version: 2,
      state: { count: 2, seen: [nthInput(runId, 1).id, nthInput(runId, 2).id] },
      status: 'collecting',
      terminal: false,
      endedAt: null,
      applied: [1, 2].map((n) => ({ eventId: nthInput(runId, n).id, outputs: [namedOutput(runId, `of-${n}`)] })),
      entries: [
        { at: 11, entry: planning(0) },
        { at: 12, entry: planning(1) },
      ],
      timers: [],
      disarmed: [],
      cancels: [],
      ...more,
    });
    const ended = (endedAt: number): RestoredRun<Tally> =>
      restored({ status: 'completed', terminal: true, endedAt, entries: [{ at: endedAt, entry: completed() }] });
    const never = (): never => {
      throw new Error('This input was applied before the store was lost.');
    };
    const step = (n: number): string => `${runId}/0/t${n}/call/0`;
    const reply = (text: string): CallOutcome => ({ ok: true, reply: { text } });
    const call = (n: number, attempt = 1): RestoredCall => ({ step: step(n), attempt, outcome: reply(`reply ${n}`) });
    const begin = (n: number) => under.store.journal.begin({ runId, step: step(n), nonce: newName('nonce'), owner: under.processId });

    it('has a tombstone in place of an erased run, which nothing on the log brings back', async () => {
      const erased = { runId, tenant: 'acme', requestedAt: 5, erasedAt: 9 };
      await under.recovery.run(restored(), above);
      await under.recovery.calls(runId, [call(1)]);
      await under.recovery.erased(erased);
      await under.recovery.erased(erased);
      expect(await under.recovery.run(restored({ version: 3 }), above)).toBe('kept');
      expect(await under.recovery.calls(runId, [call(2)])).toBe(0);
      await under.recovery.end(mark);
      const { runs } = under.store;
      expect(await runs.erased(runId)).toEqual(erased);
      expect([await runs.header(runId), await runs.read(runId), await runs.openCount()]).toEqual([null, null, 0]);
    });

    it('has an open run as it was: header, list, open set, state, outputs of its inputs', async () => {
      expect(await under.recovery.run(restored(), above)).toBe('restored');
      const { runs } = under.store;
      expect(await runs.header(runId)).toEqual(sampleHeader(runId));
      expect(await runs.read(runId)).toEqual({ version: 2, state: restored().state, status: 'collecting', terminal: false });
      expect(await runs.list({ tenant: 'acme', limit: 5 })).toMatchObject([{ runId, status: 'collecting', terminal: false }]);
      expect(await runs.openCount()).toBe(1);
      expect(await runs.unpublished(0, 5)).toEqual([]);
      expect(await runs.commit<Tally>(nthInput(runId, 2), never)).toMatchObject({
        repeated: true,
        outputs: [{ id: `${runId}/output/of-2` }],
      });
    });

    it('continues at the version it had', async () => {
      await under.recovery.run(restored(), above);
      const event = nthInput(runId, 3);
      let version = 0;
      await under.store.runs.commit<Tally>(event, (current, at) => {
        version = at.version;
        return counting(event)(current, at);
      });
      expect(version).toBe(2);
      expect(await under.store.runs.read(runId)).toMatchObject({ version: 3, state: { count: 3 } });
    });

    it('has the timers that were armed, and not those that were disarmed since an older copy was made', async () => {
      const { store, recovery } = under;
      const event = nthInput(runId, 1);
      await store.runs.commit<Tally>(event, counting(event, { arm: [timer('old', 1), timer('moved', 1)] }));
      const timers = [timer('moved', 5, 2), timer('late', 9_000_000_000_000)];
      await recovery.run(restored({ timers, disarmed: ['old'] }), above);
      expect(await store.timers.due(10)).toEqual([{ runId, ...timers[0] }]);
    });

    it('returns the outcomes of finished calls, knows their tasks as started, and reuses no attempt number that a lost call may have', async () => {
      await under.recovery.run(restored(), above);
      expect(await under.recovery.calls(runId, [call(1, 2)])).toBe(1);
      expect(await begin(1)).toEqual({ kind: 'done', outcome: reply('reply 1'), attempt: 2 });
      expect(await under.store.journal.started(`${runId}/0/t1`)).toBe(true);
      expect(await under.store.journal.started(`${runId}/0/t2`)).toBe(false);
      const begun = await begin(2);
      expect(begun).toEqual({ kind: 'begun', attempt: above.attempt + 1, repeated: false });
      expect(await under.store.journal.finish({ runId, step: step(2), attempt: 1 }, reply('of a frozen owner'))).toBe('refused');
    });

    it('keeps what the journal of an older copy contains, and ends what it only began', async () => {
      const { journal } = under.store;
      await begin(1);
      await journal.finish({ runId, step: step(1), attempt: 1 }, reply('first'));
      await begin(2);
      expect(await under.recovery.calls(runId, [call(1), call(2)])).toBe(1);
      expect(await begin(1)).toMatchObject({ kind: 'done', outcome: reply('first') });
      expect(await begin(2)).toMatchObject({ kind: 'done', outcome: reply('reply 2') });
    });

    it('has the usage of calls for the account of their run, and counts nothing twice that an older copy contains', async () => {
      const { usage } = under.store;
      const used = { calls: 1, prompt: 10, completion: 5, reasoning: 0, cost: 0.5, estimated: false };
      const at = Date.UTC(2026, 10, 15);
      const paid = (n: number) => ({ runId, step: step(n), attempt: 1, usage: used, at });
      await under.recovery.run(restored(), above);
      await usage.add(paid(1));
      await under.recovery.paid([paid(1), paid(2)]);
      await under.recovery.paid([paid(1), paid(2)]);
      await under.recovery.paid([]);
      const sum = { ...used, calls: 2, prompt: 20, completion: 10, cost: 1 };
      expect(await usage.ofRun(runId)).toEqual(sum);
      expect(await usage.ofAccount({ tenant: 'acme', actor: 'key-1', period: 'month', at })).toEqual(sum);
    });

    it('numbers the stream again above all that readers may have seen, and continues from there', async () => {
      const { stream } = under;
      await under.recovery.run(restored(), above);
      const [first, last] = [above.streamBase + 1, above.streamBase + 2];
      const page = await stream.read(runId, 0, 10);
      expect(page).toMatchObject({ first, last, ended: false });
      expect(page.entries).toEqual([
        { id: first, at: 11, ...planning(0) },
        { id: last, at: 12, ...planning(1) },
      ]);
      const chunk = { kind: 'chunk', taskId: `${runId}/0/t1`, attempt: 1, offset: 0, text: 'a' } as const;
      await stream.append(runId, [chunk]);
      expect((await stream.read(runId, last, 10)).entries).toMatchObject([{ id: last + 1, text: 'a' }]);
      expect((await stream.read(runId, 1, 1)).entries).toMatchObject([{ id: first }]);
    });

    it('keeps ended runs as tombstones that answer, take no entries and are not open', async () => {
      const endedAt = (await under.store.now()) - 1_000;
      await under.recovery.run(ended(endedAt), above);
      const { runs } = under.store;
      expect(await runs.openCount()).toBe(0);
      expect(await runs.read(runId)).toMatchObject({ terminal: true, status: 'completed' });
      expect(await runs.cancelled([`${runId}/0/t1`])).toEqual(new Set([`${runId}/0/t1`]));
      expect(await runs.commit<Tally>(nthInput(runId, 1), never)).toMatchObject({ repeated: true });
      expect(await under.stream.read(runId, 0, 5)).toMatchObject({ ended: true, entries: [{ kind: 'run.completed', at: endedAt }] });
      const chunk = { kind: 'chunk', taskId: `${runId}/0/t1`, attempt: 1, offset: 0, text: 'a' } as const;
      expect(await under.stream.append(runId, [chunk])).toBe('refused');
    });

    it('shows no stream whose hour is over', async () => {
      await under.dispose();
      under = await open({ streamMs: 500 });
      await under.recovery.run(ended((await under.store.now()) - 1_000), above);
      await until('the stream is gone', async () => (await under.stream.read(runId, 0, 5)).entries.length === 0);
      expect(await under.store.runs.read(runId)).toMatchObject({ terminal: true });
    });

    it('lets a run without any step be published again', async () => {
      const accepted = { version: 0, state: null, status: 'accepted', applied: [], entries: [] } as const;
      await under.recovery.run(restored(accepted), above);
      expect(await under.store.runs.openCount()).toBe(1);
      expect(await under.store.runs.read(runId)).toBeNull();
      expect((await under.store.runs.unpublished(0, 5)).map((header) => header.runId)).toEqual([runId]);
      const event = nthInput(runId, 1);
      await under.store.runs.commit<Tally>(event, counting(event));
      expect(await under.store.runs.unpublished(0, 5)).toEqual([]);
    });

    it('keeps a version that is as new or newer, and adds only what is missing', async () => {
      const { runs } = under.store;
      for (const n of [1, 2, 3]) await runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n), { entries: [planning(n)] }));
      expect(await under.recovery.run(restored({ cancels: [`${runId}/0/t1`] }), above)).toBe('kept');
      expect(await runs.read(runId)).toMatchObject({ version: 3, state: { count: 3 } });
      expect(await runs.header(runId)).toEqual(sampleHeader(runId));
      expect(await runs.cancelled([`${runId}/0/t1`, `${runId}/0/t2`])).toEqual(new Set([`${runId}/0/t1`]));
      const page = await under.stream.read(runId, 0, 10);
      expect(page).toMatchObject({ first: above.streamBase + 1, last: above.streamBase + 3 });
      expect(page.entries.map((entry) => entry.id - above.streamBase)).toEqual([1, 2, 3]);
    });

    it('replaces an older version', async () => {
      const event = nthInput(runId, 1);
      await under.store.runs.commit<Tally>(event, counting(event, { entries: [planning(0), planning(0), planning(0)] }));
      expect(await under.recovery.run(restored(), above)).toBe('restored');
      expect(await under.store.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 } });
      expect((await under.stream.read(runId, 0, 10)).entries).toHaveLength(2);
    });

    it('is the same if everything is written twice', async () => {
      const look = async () => [
        await under.store.runs.read(runId),
        await under.store.runs.list({ tenant: 'acme', limit: 5 }),
        await under.stream.read(runId, 0, 10),
        await under.store.timers.due(10),
        await under.store.runs.openCount(),
      ];
      const write = async (): Promise<void> => {
        await under.recovery.run(restored({ timers: [timer('due', 5)] }), above);
        await under.recovery.calls(runId, [call(1)]);
      };
      await write();
      const once = await look();
      await write();
      expect(await look()).toEqual(once);
      expect(await under.recovery.calls(runId, [call(1)])).toBe(0);
    });

    it('assigns different places in the list to runs that were requested in the same millisecond', async () => {
      const ids = [runId, newRunId(), newRunId()];
      for (const id of ids) await under.recovery.run(restored({ runId: id, header: sampleHeader(id) }), above);
      const listed = await under.store.runs.list({ tenant: 'acme', limit: 5 });
      expect(new Set(listed.map(({ acceptedAt }) => acceptedAt)).size).toBe(3);
    });

    it('knows retries, and numbers commands above those that may have been assigned', async () => {
      const header = { ...sampleHeader(runId), data: { ...sampleHeader(runId).data, requestedAt: await under.store.now() } };
      await under.recovery.run(restored({ header, retryKey: 'again' }), above);
      expect(await under.store.runs.findRetry('again')).toBe(runId);
      expect(await under.store.runs.nextCommandSeq(runId)).toBe(above.commandSeq + 1);
    });

    it('accepts a run whose header the log no longer contains', async () => {
      await under.recovery.run(restored({ header: null }), above);
      expect(await under.store.runs.header(runId)).toBeNull();
      expect(await under.store.runs.read(runId)).toMatchObject({ version: 2 });
      expect(await under.store.runs.unpublished(0, 5)).toEqual([]);
    });

    it('reports that a lost body is corrupt instead of missing, and keeps one that is there', async () => {
      const there = await under.blobs.put(Buffer.from('there'));
      const lost = { sha256: 'ab'.repeat(32), bytes: 3 };
      await under.recovery.bodyLost(there);
      await under.recovery.bodyLost(lost);
      expect(await under.blobs.get(there)).toEqual(Buffer.from('there'));
      await expect(under.blobs.get(lost)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
    });

    it('lists the living processes', async () => {
      const { leases } = under.store;
      await leases.renewProcess({ id: 'p1', service: 'experts', classes: [], ttlMs: 60_000 });
      await leases.renewProcess({ id: 'p2', service: 'experts', classes: [], ttlMs: 60_000 });
      await leases.endProcess('p2');
      expect(await under.recovery.live()).toEqual(['p1']);
    });

    it('is older than every known store until it is finished, and newer then', async () => {
      const { identity } = under.store;
      await under.recovery.begin(mark.storeId);
      expect(await identity.read()).toEqual({ storeId: 'store', generation: 0 });
      const after = markAfterRecovery(mark);
      expect(after.generation).toBeGreaterThan(mark.generation);
      await under.recovery.end(after);
      expect(await identity.start('another')).toEqual({ storeId: 'store', generation: after.generation + 1 });
      expect([recoveriesOf(mark), recoveriesOf(after), recoveriesOf(markAfterRecovery(after))]).toEqual([0, 1, 2]);
      expect(aboveLost(after, 3).attempt).toBeGreaterThan(above.attempt);
    });
  });
}
