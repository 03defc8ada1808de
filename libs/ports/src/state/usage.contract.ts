import { callStep, noUsage, taskId, type Usage } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hostilePairs } from './__fixtures__/hostile-names.js';
import { acceptance, counting, ending, nthInput } from './__fixtures__/samples.js';
import { newName, newRunId, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import type { AccountPeriod, PaidCall, UsageLedger, UsagePeriod } from './usage-ledger.js';

const day = 24 * 60 * 60 * 1000;
/** Noon of a day in the middle of a month of thirty days. */
const noon = Date.UTC(2026, 10, 15, 12);

const used = (calls: number, more: Partial<Usage> = {}): Usage => ({
  ...{ ...noUsage, calls, prompt: 10 * calls, completion: 5 * calls, reasoning: calls, cost: 0.25 * calls },
  ...more,
});

/** Usage of calls: each attempt of each call once, by run and by account. */
export function describeUsage({ open }: StoreHarness): void {
  describe('the usage ledger', () => {
    let under: StoreUnderTest;
    let ledger: UsageLedger;
    let runId: string;
    beforeEach(async () => {
      under = await open();
      ledger = under.store.usage;
      runId = newRunId();
      await under.store.runs.accept(acceptance(runId));
    });
    afterEach(() => under.dispose());

    const step = (n: number, of = runId): string => callStep(taskId(of, 0, `t${n}`), 0);
    const paid = (n: number, more: Partial<PaidCall> = {}): PaidCall => ({
      ...{ runId, step: step(n), attempt: 1, usage: used(1), at: noon },
      ...more,
    });
    const account = (more: Partial<AccountPeriod> = {}) => ledger.ofAccount({ tenant: 'acme', period: 'day', at: noon, ...more });
    const begin = (n: number) => under.store.journal.begin({ runId, step: step(n), nonce: newName('nonce'), owner: newName('gone') });

    it('is empty at first', async () => {
      expect([await ledger.ofRun(runId), await account(), await account({ period: 'month' })]).toEqual([noUsage, noUsage, noUsage]);
    });

    it('sums the calls of a run, and of the tenant and the key that asked for it, for every process', async () => {
      const other = (await under.another()).store.usage;
      await ledger.add(paid(1));
      await other.add(paid(2, { usage: used(2, { estimated: true }) }));
      const sum = used(3, { estimated: true });
      expect([await ledger.ofRun(runId), await account(), await account({ actor: 'key-1' })]).toEqual([sum, sum, sum]);
      expect(await other.ofRun(runId)).toEqual(sum);
      expect([await account({ actor: 'key-2' }), await account({ tenant: 'beta' })]).toEqual([noUsage, noUsage]);
    });

    it('counts an attempt of a call once, however many processes bring it and whatever they say later', async () => {
      const other = (await under.another()).store.usage;
      await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? other : ledger).add(paid(1))));
      await ledger.add(paid(1, { usage: used(9) }));
      await ledger.add(paid(1, { attempt: 2 }));
      expect([await ledger.ofRun(runId), await account()]).toEqual([used(2), used(2)]);
    });

    it('loses nothing of many calls at the same time', async () => {
      const other = (await under.another()).store.usage;
      await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 ? other : ledger).add(paid(n))));
      expect([await ledger.ofRun(runId), await account()]).toEqual([used(40), used(40)]);
    });

    it('counts what the journal receives with an outcome, also an overtaken one and that of a step that is given up, each once', async () => {
      const { journal } = under.store;
      const outcome = { ok: true, reply: 'blue' } as const;
      const now = { usage: used(1), at: noon };
      await begin(1);
      await begin(1);
      const first = { runId, step: step(1), attempt: 1 };
      expect(await journal.finish(first, outcome, now)).toBe('refused');
      expect(await journal.finish({ ...first, attempt: 2 }, outcome, now)).toBe('stored');
      expect(await journal.finish({ ...first, attempt: 2 }, outcome, now)).toBe('stored');
      await begin(2);
      const given = { runId, step: step(2), attempt: 1 };
      await journal.abandon(given, now);
      await journal.abandon(given, now);
      expect(await begin(2)).toMatchObject({ kind: 'begun', attempt: 2, repeated: false });
      await journal.abandon({ ...given, attempt: 2 });
      await ledger.add(paid(1, { attempt: 2 }));
      expect([await ledger.ofRun(runId), await account()]).toEqual([used(3), used(3)]);
    });

    it('counts calls that ended after their run', async () => {
      await ledger.add(paid(1));
      const event = nthInput(runId, 1);
      await under.store.runs.commit(event, counting(event, ending));
      await ledger.add(paid(2));
      expect([await ledger.ofRun(runId), await account()]).toEqual([used(2), used(2)]);
    });

    it('lists what each caller and end user spent on each model and day', async () => {
      const other = (await under.another()).store.usage;
      const direct = (n: number, more: Partial<PaidCall>) => ({ ...paid(n, { runId: newRunId() }), ...more });
      const ann = { tenant: 'acme', actor: 'key-2', user: 'user_1' };
      await ledger.add(paid(1, { model: 'm@a' }));
      await other.add(paid(2, { model: 'm@a' }));
      await ledger.add(paid(3, { model: 'n@b' }));
      await ledger.add(paid(4));
      await other.add(direct(5, { model: 'm@a', caller: ann, at: noon + day }));
      await ledger.add(direct(6, { model: 'm@a', caller: { tenant: 'beta', actor: 'key-1' } }));
      const listed = async (more: Partial<UsagePeriod> = {}) =>
        (await ledger.items({ tenant: 'acme', from: '2026-11-01', to: '2026-11-30', ...more })).map(
          ({ usage, ...of }) => `${Object.values(of).join(' ')} ${usage.calls} ${usage.cost}`,
        );
      const key1 = ['2026-11-15 key-1 m@a  2 0.5', '2026-11-15 key-1 n@b  1 0.25', '2026-11-15 key-1   1 0.25'].sort();
      expect((await listed()).sort()).toEqual([...key1, '2026-11-16 key-2 m@a user_1 1 0.25'].sort());
      expect((await listed({ actor: 'key-1' })).sort()).toEqual(key1);
      expect(await listed({ from: '2026-11-16', to: '2026-11-16' })).toEqual(['2026-11-16 key-2 m@a user_1 1 0.25']);
      expect(await listed({ from: '2026-11-17' })).toEqual([]);
      const ofUser = async (user: string, actor = 'key-2', at = noon + day) =>
        (await ledger.ofAccount({ tenant: 'acme', actor, user, period: 'day', at })).calls;
      expect([
        await ofUser('user_1'),
        await ofUser('user_2'),
        await ofUser('user_1', 'key-1'),
        await ofUser('user_1', 'key-2', noon),
      ]).toEqual([...[1, 0, 0, 0]]);
    });

    it('lists calls of a run under the end user that its request names', async () => {
      const { header } = acceptance(newRunId());
      const caller = { ...header.data.caller, user: 'user_9' };
      await under.store.runs.accept({ ...acceptance(header.runId), header: { ...header, data: { ...header.data, caller } } });
      await under.store.journal.begin({
        runId: header.runId,
        step: step(1, header.runId),
        nonce: newName('nonce'),
        owner: newName('gone'),
      });
      const call = { runId: header.runId, step: step(1, header.runId), attempt: 1 };
      await under.store.journal.finish(call, { ok: true, reply: 'blue' }, { usage: used(1), at: noon, model: 'm@a' });
      expect(await ledger.items({ tenant: caller.tenant, from: '2026-11-15', to: '2026-11-15' })).toEqual([
        { day: '2026-11-15', actor: caller.actor, model: 'm@a', user: 'user_9', usage: used(1) },
      ]);
    });

    it('does not count calls that cost nothing', async () => {
      await ledger.add(paid(1, { usage: noUsage }));
      expect(await ledger.ofRun(runId)).toEqual(noUsage);
    });

    it('tells days and months apart by UTC', async () => {
      const midnight = Date.UTC(2026, 10, 16);
      for (const [n, at] of [midnight - 1, midnight, Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1) - 1, Date.UTC(2026, 11, 1)].entries())
        await ledger.add(paid(n, { at }));
      expect([await account(), await account({ at: midnight }), await account({ at: midnight + day })]).toEqual([
        used(1),
        used(1),
        noUsage,
      ]);
      expect(await account({ period: 'month' })).toEqual(used(4));
      expect(await account({ period: 'month', at: Date.UTC(2026, 11, 31) })).toEqual(used(1));
    });

    it('charges the named account for a call that belongs to no run, and no account if none is known', async () => {
      const direct = newRunId();
      await ledger.add(paid(1, { runId: direct, step: step(1, direct), caller: { tenant: 'beta', actor: 'key-2' } }));
      expect([await ledger.ofRun(direct), await account({ tenant: 'beta', actor: 'key-2' })]).toEqual([used(1), used(1)]);
      const stranger = newRunId();
      await ledger.add(paid(1, { runId: stranger, step: step(1, stranger) }));
      expect([await ledger.ofRun(stranger), await account()]).toEqual([used(1), noUsage]);
    });

    it('keeps accounts apart, whatever the names of tenants and keys are', async () => {
      await Promise.all(
        hostilePairs.map(([tenant, actor], n) => ledger.add(paid(n, { caller: { tenant, actor }, usage: used(1, { prompt: n }) }))),
      );
      const found = await Promise.all(hostilePairs.map(([tenant, actor]) => account({ tenant, actor })));
      expect(found).toEqual(hostilePairs.map((_, n) => used(1, { prompt: n })));
    });

    it('keeps the sums of accounts when the calls of a run are forgotten', async () => {
      await under.dispose();
      under = await open({ retentionMs: 100 });
      ledger = under.store.usage;
      await ledger.add(paid(1, { caller: { tenant: 'acme', actor: 'key-1' } }));
      await pass(under, 150);
      expect(await account()).toEqual(used(1));
    });
  });
}
