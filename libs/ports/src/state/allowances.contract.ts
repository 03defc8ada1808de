import { callStep, KeyLimits, noUsage, taskId, type Usage } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hostilePairs } from './__fixtures__/hostile-names.js';
import { newName, newRunId, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import type { LimitedAccount, Reservation, Reserved } from './allowances.js';
import type { StateStore } from './state.js';

const unlimited = KeyLimits.parse({});

/** Limits of keys and tenants: what is granted, what is returned, and what stays spent. */
export function describeAllowances({ open }: StoreHarness): void {
  describe('allowances', () => {
    let under: StoreUnderTest;
    let tenant: string;
    beforeEach(async () => {
      under = await open();
      tenant = newName('tenant');
    });
    afterEach(() => under.dispose());

    const key = (limits: Partial<KeyLimits>, id = 'key-1'): LimitedAccount => ({ id, actor: id, limits: { ...unlimited, ...limits } });
    const all = (limits: Partial<KeyLimits>): LimitedAccount => ({ id: 'tenant', limits: { ...unlimited, ...limits } });
    const reserve = (
      accounts: readonly LimitedAccount[],
      tokens = 100,
      more: Partial<Reservation> = {},
      store: StateStore = under.store,
    ): Promise<Reserved> =>
      store.allowances.reserve({
        ...{ tenant, runId: newRunId(), accounts, kind: newName('kind'), guess: { tokens, cost: tokens / 1000 } },
        ...{ least: { tokens: 0, cost: 0 }, leaseMs: 60_000, ...more },
      });
    const used = (tokens: number): Usage => ({ ...noUsage, calls: 1, prompt: tokens, cost: tokens / 1000 });
    /** A call of a run in the ledger. */
    const call = async (runId: string, tokens: number, actor = 'key-1', n = 1) =>
      under.store.usage.add({
        ...{ runId, step: callStep(taskId(runId, 0, `t${n}`), 0), attempt: 1, usage: used(tokens), at: await under.store.now() },
        caller: { tenant, actor },
      });
    const settle = async (runId: string, tokens: number, actor?: string) => {
      await call(runId, tokens, actor);
      await under.store.allowances.settle({ tenant, runId, usage: used(tokens) });
    };
    const kinds = (replies: readonly Reserved[]) => replies.map(({ kind }) => kind);

    it('grant as many requests in a minute as the limit says, over all processes, and say when the next one is possible', async () => {
      const other = (await under.another()).store;
      const asked = Array.from({ length: 12 }, (_, n) => reserve([key({ requests_per_minute: 5 })], 1, {}, n % 2 ? other : under.store));
      const replies = await Promise.all(asked);
      expect(kinds(replies).filter((kind) => kind === 'granted')).toHaveLength(5);
      const refused = replies.find(({ kind }) => kind === 'refused')!;
      expect(refused).toMatchObject({ account: 'key-1', limit: 'requests_per_minute', spent: false });
      const { retryAfterMs, headrooms } = refused as Extract<Reserved, { kind: 'refused' }>;
      expect(retryAfterMs).toBeGreaterThan(50_000);
      expect(retryAfterMs).toBeLessThanOrEqual(61_000);
      expect(headrooms).toMatchObject({ requests: { limit: 5, remaining: 0 }, tokens: null });
    });

    it('grant a request again when its minute is over, and never more in any 60 seconds', async () => {
      if (under.clockIsReal) return;
      const account = [key({ requests_per_minute: 2 })];
      const after = async (ms: number) => {
        await pass(under, ms);
        return (await reserve(account)).kind;
      };
      const first = [await after(0), await after(30_000), await after(100), await after(29_000)];
      expect(first).toEqual(['granted', 'granted', 'refused', 'refused']);
      expect([await after(3_000), await after(100)]).toEqual(['granted', 'refused']);
    });

    it('count reservations towards the tokens of a minute, and the usage once it is known', async () => {
      const account = [key({ tokens_per_minute: 250 })];
      const runId = newRunId();
      expect(await reserve(account, 200, { runId })).toMatchObject({ headrooms: { tokens: { limit: 250, remaining: 50 } } });
      await settle(runId, 20);
      expect(await reserve(account, 300)).toMatchObject({ kind: 'granted', headrooms: { tokens: { remaining: 0 } } });
      expect(await reserve(account, 1)).toMatchObject({ kind: 'refused', limit: 'tokens_per_minute', spent: false });
    });

    it('allow as much open work as the limit says, until the work is settled', async () => {
      const account = [key({ concurrent_runs: 2 })];
      const [first, second] = [newRunId(), newRunId()];
      expect(kinds([await reserve(account, 1, { runId: first }), await reserve(account, 1, { runId: second })])).toEqual([
        'granted',
        'granted',
      ]);
      expect(await reserve(account)).toMatchObject({ kind: 'refused', limit: 'concurrent_runs', retryAfterMs: null });
      await under.store.allowances.settle({ tenant, runId: first, usage: noUsage });
      await under.store.allowances.settle({ tenant, runId: first, usage: noUsage });
      expect(kinds([await reserve(account), await reserve(account)])).toEqual(['granted', 'refused']);
    });

    it.each(['tokens_per_day', 'tokens_per_month', 'cost_per_day', 'cost_per_month'] as const)(
      'never grant more of %s than one reservation too many, and distinguish reserved from spent amounts',
      async (limit) => {
        const account = [key({ [limit]: limit.startsWith('cost') ? 0.25 : 250 })];
        const runs = [newRunId(), newRunId(), newRunId()];
        for (const runId of runs) expect(await reserve(account, 100, { runId })).toMatchObject({ kind: 'granted' });
        expect(await reserve(account)).toMatchObject({ kind: 'refused', limit, spent: false, retryAfterMs: null });
        for (const runId of runs) await settle(runId, 80);
        const last = newRunId();
        expect(await reserve(account, 100, { runId: last })).toMatchObject({ kind: 'granted' });
        await settle(last, 20);
        const refused = await reserve(account, 1);
        expect(refused).toMatchObject({ kind: 'refused', limit, spent: true });
        expect((refused as Extract<Reserved, { kind: 'refused' }>).retryAfterMs).toBeGreaterThan(0);
      },
    );

    it('say how much is left of the budgets, the reservation included', async () => {
      const accounts = [key({ tokens_per_day: 1_000 }), all({ tokens_per_month: 700, cost_per_day: 2 })];
      expect(await reserve(accounts, 100)).toMatchObject({ room: { tokens: 700, cost: 2 } });
      const second = await reserve(accounts, 100);
      expect(second).toMatchObject({ room: { tokens: 600 }, headrooms: { requests: null, tokens: { limit: 700, remaining: 500 } } });
    });

    it('ask all accounts at once: if one refuses, no other counts the request', async () => {
      const generous = key({ requests_per_minute: 3 });
      const tight = key({ concurrent_runs: 1 }, 'key-2');
      expect(await reserve([generous, tight])).toMatchObject({ kind: 'granted' });
      for (let n = 0; n < 5; n++) expect(await reserve([generous, tight])).toMatchObject({ kind: 'refused', account: 'key-2' });
      expect(kinds([await reserve([generous]), await reserve([generous]), await reserve([generous])])).toEqual([
        'granted',
        'granted',
        'refused',
      ]);
    });

    it('count the work of every key of a tenant for the tenant', async () => {
      const ofTenant = all({ tokens_per_day: 150 });
      const [first, second] = [newRunId(), newRunId()];
      await reserve([key({}), ofTenant], 100, { runId: first });
      await reserve([key({}, 'key-2'), ofTenant], 100, { runId: second });
      await settle(first, 100);
      await settle(second, 100, 'key-2');
      expect(await reserve([key({}, 'key-3'), ofTenant])).toMatchObject({ account: 'tenant', limit: 'tokens_per_day', spent: true });
    });

    it('return the same answer if the same work asks again', async () => {
      const account = [key({ requests_per_minute: 1 })];
      const runId = newRunId();
      const first = await reserve(account, 100, { runId });
      expect(first).toMatchObject({ kind: 'granted' });
      expect(await reserve(account, 100, { runId })).toMatchObject({ kind: 'granted', room: (first as { room: object }).room });
      expect(await reserve(account)).toMatchObject({ kind: 'refused' });
    });

    it('release reservations that nobody renews, and charge the usage of their work all the same', async () => {
      const account = [key({ tokens_per_day: 100, concurrent_runs: 2 })];
      const [silent, lively] = [newRunId(), newRunId()];
      await reserve(account, 60, { runId: silent, leaseMs: 200 });
      await reserve(account, 60, { runId: lively, leaseMs: 200 });
      await call(silent, 30);
      expect(await reserve(account)).toMatchObject({ kind: 'refused' });
      await under.store.allowances.renew({ tenant, runId: lively, usage: noUsage, leaseMs: 60_000 });
      await pass(under, 300);
      // This request finds the lost reservation; the charge for it is visible for the next request at the latest.
      const third = newRunId();
      expect(await reserve(account, 1, { runId: third })).toMatchObject({ kind: 'granted' });
      await under.store.allowances.settle({ tenant, runId: third, usage: noUsage });
      expect(await reserve(account, 1)).toMatchObject({ kind: 'granted', room: { tokens: 10 } });
    });

    it('count the usage of work if it is more than was reserved', async () => {
      const account = [key({ tokens_per_day: 1_000 })];
      const runId = newRunId();
      await reserve(account, 100, { runId });
      await call(runId, 400);
      await under.store.allowances.renew({ tenant, runId, usage: used(400), leaseMs: 60_000 });
      expect(await reserve(account, 50)).toMatchObject({ room: { tokens: 600 } });
    });

    it('charge the difference when more was spent than was known at the end', async () => {
      const account = [key({ tokens_per_day: 1_000 })];
      const runId = newRunId();
      await reserve(account, 100, { runId });
      await settle(runId, 40);
      await call(runId, 60, 'key-1', 2);
      await under.store.allowances.settle({ tenant, runId, usage: { ...used(100), calls: 2 } });
      expect(await reserve(account, 50)).toMatchObject({ room: { tokens: 900 } });
    });

    it('reserve for a kind of work what it was seen to need, and at least what the request needs', async () => {
      const account = [key({ tokens_per_day: 10_000 })];
      const kind = newName('kind');
      const runId = newRunId();
      await reserve(account, 5_000, { runId, kind });
      await settle(runId, 300);
      const headroom = (least: number) => reserve(account, 5_000, { kind, least: { tokens: least, cost: 0 } });
      expect(await headroom(0)).toMatchObject({ headrooms: { tokens: { remaining: 10_000 - 300 - 300 } } });
      expect(await headroom(1_000)).toMatchObject({ headrooms: { tokens: { remaining: 10_000 - 300 - 300 - 1_000 } } });
    });

    it('know what was spent before an account had limits', async () => {
      await call(newRunId(), 900);
      await call(newRunId(), 5_000, 'key-2');
      expect(await reserve([key({ tokens_per_month: 1_000 })], 10)).toMatchObject({ room: { tokens: 100 } });
      expect(await reserve([key({ tokens_per_month: 1_000 }), all({ tokens_per_day: 5_900 })], 10)).toMatchObject({
        ...{ kind: 'refused', account: 'tenant', spent: true },
      });
    });

    it('limit each end user of a key separately, in addition to the key, by the usage of that user alone', async () => {
      const user = (name: string, limits: Partial<KeyLimits>): LimitedAccount => ({ ...key(limits), id: `key-1 ${name}`, user: name });
      const spent = async (name: string | undefined, tokens: number) =>
        under.store.usage.add({
          ...{ runId: newRunId(), step: callStep(taskId(newRunId(), 0, 't1'), 0), attempt: 1, usage: used(tokens) },
          ...{ at: await under.store.now(), caller: { tenant, actor: 'key-1', ...(name === undefined ? {} : { user: name }) } },
        });
      await spent('ann', 900);
      await spent('bob', 100);
      await spent(undefined, 5_000);
      const budget = { tokens_per_day: 500 };
      const other = (await under.another()).store;
      for (const store of [under.store, other]) {
        expect(await reserve([key({}), user('ann', budget)], 10, {}, store)).toMatchObject({
          ...{ kind: 'refused', account: 'key-1 ann', limit: 'tokens_per_day', spent: true },
        });
        expect(await reserve([key({}), user('bob', { tokens_per_day: 100_000 })], 10, {}, store)).toMatchObject({ kind: 'granted' });
      }
      const eager = user('eve', { requests_per_minute: 1 });
      expect(kinds([await reserve([key({}), eager], 1), await reserve([key({}), eager], 1)])).toEqual(['granted', 'refused']);
      expect(kinds([await reserve([key({}), user('fay', { requests_per_minute: 1 })], 1)])).toEqual(['granted']);
    });

    it('never exceed a budget by more than one reservation, however many ask at two processes', async () => {
      const other = (await under.another()).store;
      const account = [key({ tokens_per_day: 5_000 })];
      const runs = Array.from({ length: 200 }, () => newRunId());
      const replies = await Promise.all(
        runs.map((runId, n) => reserve(account, 100, { runId, kind: 'same' }, n % 2 ? other : under.store)),
      );
      const granted = runs.filter((_, n) => replies[n]!.kind === 'granted');
      expect(granted).toHaveLength(50);
      await Promise.all(granted.map((runId) => settle(runId, 100)));
      expect(await reserve(account)).toMatchObject({ kind: 'refused', spent: true });
    });

    it('keep accounts apart, whatever the names of tenants and keys are', async () => {
      const asked = hostilePairs.filter((_, n) => n % 7 === 0);
      const replies = await Promise.all(
        asked.map(([owner, id]) => reserve([key({ requests_per_minute: 1 }, id)], 1, { tenant: tenant + owner, runId: newRunId() })),
      );
      expect(new Set(kinds(replies))).toEqual(new Set(['granted']));
    });
  });
}
