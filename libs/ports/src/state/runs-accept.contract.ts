import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acceptance, counting, ending, nthInput, sampleHeader, type Tally } from './__fixtures__/samples.js';
import { newName, newRunId, pass, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { acceptedStatus, parkedFlag } from './limits.js';

/** Acceptance, the open set, lists, sequences and clients. */
export function describeAcceptance({ open }: StoreHarness): void {
  describe('acceptance', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());
    const begin = (runId: string) => under.store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)));
    const end = (runId: string) => under.store.runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2), ending));

    it('keeps header, retry mapping and place in the open set', async () => {
      const runId = newRunId();
      const { runs } = (await under.another()).store;
      expect(await under.store.runs.accept(acceptance(runId, { retryKey: 'r1' }))).toEqual({ kind: 'accepted' });
      expect(await runs.header(runId)).toEqual(sampleHeader(runId));
      expect(await runs.findRetry('r1')).toBe(runId);
      expect(await runs.openCount()).toBe(1);
    });

    it('knows neither header nor retry of a run that was never accepted', async () => {
      expect(await under.store.runs.header(newRunId())).toBeNull();
      expect(await under.store.runs.findRetry('unheard of')).toBeNull();
      expect(await under.store.runs.openCount()).toBe(0);
    });

    it('accepts the same run again without counting it twice or replacing its header', async () => {
      const runId = newRunId();
      const { runs } = under.store;
      await runs.accept(acceptance(runId, { openLimit: 1 }));
      expect(await runs.accept(acceptance(runId, { openLimit: 1, goal: 'another question' }))).toEqual({ kind: 'accepted' });
      expect(await runs.openCount()).toBe(1);
      expect((await runs.header(runId))!.data.goal).toBe('Why is the sky blue?');
      expect(await runs.list({ tenant: 'acme', limit: 10 })).toHaveLength(1);
    });

    it('refuses a run above the open limit before anything is written', async () => {
      const { runs } = under.store;
      await runs.accept(acceptance(newRunId()));
      await runs.accept(acceptance(newRunId()));
      const late = newRunId();
      expect(await runs.accept(acceptance(late, { openLimit: 2, retryKey: 'r2' }))).toEqual({ kind: 'overloaded', open: 2 });
      expect(await runs.header(late)).toBeNull();
      expect(await runs.findRetry('r2')).toBeNull();
      expect(await runs.openCount()).toBe(2);
      expect((await runs.list({ tenant: 'acme', limit: 10 })).map(({ runId }) => runId)).not.toContain(late);
    });

    it('accepts a child run above the open limit, counts and lists it nowhere, and publishes it if no other process does', async () => {
      const { runs } = under.store;
      const root = newRunId();
      await runs.accept(acceptance(root, { openLimit: 1 }));
      const child = `${root}~0.t1~2.t3`;
      expect(await runs.accept(acceptance(child, { openLimit: 1 }))).toEqual({ kind: 'accepted' });
      expect(await runs.openCount()).toBe(1);
      expect(await runs.accept(acceptance(newRunId(), { openLimit: 2 }))).toEqual({ kind: 'accepted' });
      expect((await runs.list({ tenant: 'acme', limit: 10 })).map(({ runId }) => runId)).not.toContain(child);
      expect((await runs.header(child))!.runId).toBe(child);
      expect((await runs.unpublished(0, 10)).map(({ runId }) => runId)).toContain(child);
      await begin(child);
      await end(child);
      expect(await runs.openCount()).toBe(2);
      expect(await runs.cancelled([child, root])).toEqual(new Set([child]));
    });

    it('keeps the open limit over two processes that accept at the same time', async () => {
      const other = await under.another();
      const asked = Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? under : other).store.runs.accept(acceptance(newRunId(), { openLimit: 5 })),
      );
      const accepted = (await Promise.all(asked)).filter(({ kind }) => kind === 'accepted');
      expect(accepted).toHaveLength(5);
      expect(await under.store.runs.openCount()).toBe(5);
    });

    it('does not count runs that were never accepted, however many stray records of such runs are committed', async () => {
      const { runs } = under.store;
      const strays = Array.from({ length: 3 }, newRunId);
      for (const runId of strays) await begin(runId);
      expect(await runs.openCount()).toBe(0);
      expect(await runs.accept(acceptance(newRunId(), { openLimit: 1 }))).toEqual({ kind: 'accepted' });
      // A stray run that is accepted later takes up a place like any other.
      expect(await runs.accept(acceptance(strays[0]!, { openLimit: 1 }))).toEqual({ kind: 'overloaded', open: 1 });
      expect(await runs.accept(acceptance(strays[0]!, { openLimit: 2 }))).toEqual({ kind: 'accepted' });
      expect(await runs.openCount()).toBe(2);
      await end(strays[0]!);
      await end(strays[1]!);
      expect(await runs.openCount()).toBe(1);
    });

    it('takes a run out of the open set with its terminal step, and a repeated acceptance does not bring it back', async () => {
      const runId = newRunId();
      const { runs } = under.store;
      await runs.accept(acceptance(runId));
      await begin(runId);
      expect(await runs.openCount()).toBe(1);
      await end(runId);
      expect(await runs.openCount()).toBe(0);
      expect(await runs.accept(acceptance(runId))).toEqual({ kind: 'accepted' });
      expect(await runs.openCount()).toBe(0);
    });

    it('leaves a retry mapping with the run that made it', async () => {
      const first = newRunId();
      const { runs } = under.store;
      await runs.accept(acceptance(first, { retryKey: 'r3' }));
      await runs.accept(acceptance(newRunId(), { retryKey: 'r3' }));
      expect(await runs.findRetry('r3')).toBe(first);
    });

    it('forgets a retry mapping when its time is over', async () => {
      await under.dispose();
      under = await open({ retryKeyMs: 150 });
      const { runs } = under.store;
      const [first, second] = [newRunId(), newRunId()];
      await runs.accept(acceptance(first, { retryKey: 'r4' }));
      expect(await runs.findRetry('r4')).toBe(first);
      await pass(under, 200);
      await until('the retry mapping is gone', async () => (await runs.findRetry('r4')) === null);
      await runs.accept(acceptance(second, { retryKey: 'r4' }));
      expect(await runs.findRetry('r4')).toBe(second);
    });

    it('finds the headers whose run has no state after a time, and no others', async () => {
      const { runs } = under.store;
      const [lost, started] = [newRunId(), newRunId()];
      await runs.accept(acceptance(lost));
      await runs.accept(acceptance(started));
      await begin(started);
      expect(await runs.unpublished(60_000, 10)).toEqual([]);
      await pass(under, 60);
      const fresh = newRunId();
      await runs.accept(acceptance(fresh));
      const found = (await runs.unpublished(50, 10)).map(({ runId }) => runId);
      expect(found).toContain(lost);
      expect(found).not.toContain(started);
      expect(await runs.unpublished(0, 1)).toHaveLength(1);
      await begin(lost);
      expect((await runs.unpublished(0, 10)).map(({ runId }) => runId)).toEqual([fresh]);
    });

    it('lists the runs of a tenant newest first with the fields of a list, and never those of another tenant', async () => {
      const { runs } = under.store;
      const [older, newer, foreign] = [newRunId(), newRunId(), newRunId()];
      await runs.accept(acceptance(older, { tenant: 'acme', goal: 'first?' }));
      await runs.accept(acceptance(foreign, { tenant: 'zeta' }));
      await runs.accept(acceptance(newer, { tenant: 'acme', goal: 'second?' }));
      await end(older);
      const shown = { template: 'committee', acceptedAt: expect.any(Number) };
      expect(await runs.list({ tenant: 'acme', limit: 10 })).toEqual([
        { runId: newer, status: acceptedStatus, terminal: false, question: 'second?', ...shown },
        { runId: older, status: 'completed', terminal: true, question: 'first?', ...shown },
      ]);
      expect((await runs.list({ tenant: 'zeta', limit: 10 })).map(({ runId }) => runId)).toEqual([foreign]);
      expect(await runs.list({ tenant: 'nobody', limit: 10 })).toEqual([]);
    });

    it('pages through a list by the acceptance time of the last one seen, losing and repeating none that came in the same millisecond', async () => {
      const { runs } = under.store;
      const ids = Array.from({ length: 7 }, newRunId);
      await Promise.all(ids.map((runId) => runs.accept(acceptance(runId, { tenant: 'paged' }))));
      const seen: string[] = [];
      let before: number | undefined;
      for (let page = 0; page < 5; page += 1) {
        const found = await runs.list({ tenant: 'paged', limit: 2, ...(before === undefined ? {} : { before }) });
        seen.push(...found.map(({ runId }) => runId));
        before = found.at(-1)?.acceptedAt ?? before;
      }
      expect([...seen].sort()).toEqual([...ids].sort());
    });

    it('numbers the commands of a run from 1 without a gap or a repeat, over all processes', async () => {
      const [runId, otherRun] = [newRunId(), newRunId()];
      const other = await under.another();
      const numbers = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? under : other).store.runs.nextCommandSeq(runId)));
      expect([...numbers].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await under.store.runs.nextCommandSeq(otherRun)).toBe(1);
    });

    it('counts attached clients once each, however often they attach or detach', async () => {
      const runId = newRunId();
      const { runs } = under.store;
      const [a, b] = [newName('client'), newName('client')];
      expect([await runs.attach(runId, a), await runs.attach(runId, a), await runs.attach(runId, b)]).toEqual([1, 1, 2]);
      expect([await runs.detach(runId, a), await runs.detach(runId, a), await runs.detach(runId, b)]).toEqual([1, 1, 0]);
      expect(await runs.detach(newRunId(), a)).toBe(0);
    });
  });

  describe('runs whose clients are lost', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    const lives = (id: string) => under.store.leases.renewProcess({ id, service: 'gateway', classes: [], ttlMs: 60_000 });
    const isParked = async (runId: string): Promise<boolean> => {
      const found = await under.store.runs.cancelled([runId, parkedFlag(runId)]);
      expect(found.has(runId)).toBe(false);
      return found.has(parkedFlag(runId));
    };
    const accepted = async (): Promise<string> => {
      const runId = newRunId();
      await under.store.runs.accept(acceptance(runId));
      return runId;
    };

    it('are parked when the process of the last client has died, and are given back when their time is over', async () => {
      const { runs, leases } = under.store;
      const gateway = await under.another();
      await lives(gateway.processId);
      await lives(under.processId);
      const [lost, shared, alone] = [await accepted(), await accepted(), await accepted()];
      await gateway.store.runs.attach(lost, 'a');
      await gateway.store.runs.attach(shared, 'a');
      await runs.attach(shared, 'b');
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
      await leases.endProcess(gateway.processId);
      expect(await runs.park(60_000, 5)).toEqual({ parked: 1, overdue: [] });
      expect(await runs.park(60_000, 5)).toEqual({ parked: 0, overdue: [] });
      expect([await isParked(lost), await isParked(shared), await isParked(alone)]).toEqual([true, false, false]);
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [lost] });
      // Clients of dead processes do not count: when the last live one leaves, none is attached.
      expect(await runs.detach(shared, 'b')).toBe(0);
    });

    it('are taken up by the next client, and by a process that was only thought dead', async () => {
      const { runs, leases } = under.store;
      const gateway = await under.another();
      await lives(under.processId);
      const [retried, frozen] = [await accepted(), await accepted()];
      for (const runId of [retried, frozen]) await gateway.store.runs.attach(runId, 'a');
      expect(await runs.park(60_000, 5)).toEqual({ parked: 2, overdue: [] });
      expect(await runs.attach(retried, 'b')).toBe(1);
      expect([await isParked(retried), await isParked(frozen)]).toEqual([false, true]);
      await lives(gateway.processId);
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
      expect(await isParked(frozen)).toBe(false);
      await leases.endProcess(gateway.processId);
      expect(await runs.park(0, 5)).toEqual({ parked: 1, overdue: [frozen] });
    });

    it('are parked at once when the last client leaves and may come back, until one does', async () => {
      const { runs } = under.store;
      await lives(under.processId);
      const [left, shared] = [await accepted(), await accepted()];
      for (const [runId, client] of [
        [left, 'a'],
        [shared, 'a'],
        [shared, 'b'],
      ] as const)
        await runs.attach(runId, client);
      expect([await runs.leave(left, 'a'), await runs.leave(left, 'a'), await runs.leave(shared, 'a')]).toEqual([0, 0, 1]);
      expect([await isParked(left), await isParked(shared)]).toEqual([true, false]);
      expect(await runs.park(60_000, 5)).toEqual({ parked: 0, overdue: [] });
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [left] });
      expect(await runs.attach(left, 'c')).toBe(1);
      expect(await isParked(left)).toBe(false);
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
      // The client that was away no longer counts: a run that is left to itself continues.
      expect(await runs.detach(left, 'c')).toBe(0);
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
      expect(await isParked(left)).toBe(false);
    });

    it('are left alone once they have ended', async () => {
      const { runs } = under.store;
      const gateway = await under.another();
      const [ended, later] = [newRunId(), newRunId()];
      for (const runId of [ended, later]) {
        await runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)));
        await gateway.store.runs.attach(runId, 'a');
      }
      await runs.commit<Tally>(nthInput(ended, 2), counting(nthInput(ended, 2), ending));
      expect(await runs.park(60_000, 5)).toEqual({ parked: 1, overdue: [] });
      await runs.commit<Tally>(nthInput(later, 2), counting(nthInput(later, 2), ending));
      expect(await runs.park(0, 5)).toEqual({ parked: 0, overdue: [] });
    });
  });
}
