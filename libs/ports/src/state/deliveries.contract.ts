import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newName, pass, type StoreHarness, type StoreProcess, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** The ledger of deliveries that began and did not end. */
export function describeDeliveries({ open }: StoreHarness): void {
  describe('deliveries', () => {
    let under: StoreUnderTest;
    let delivery: { group: string; record: string };
    beforeEach(async () => {
      under = await open();
      delivery = { group: 'merger', record: `results.ready/0/${newName('offset')}` };
    });
    afterEach(() => under.dispose());

    /** A process with a lease of `ttlMs`. */
    const living = async (ttlMs = 60_000): Promise<StoreProcess> => {
      const process = await under.another();
      await renew(process, ttlMs);
      return process;
    };
    const renew = ({ processId, store }: StoreProcess, ttlMs = 60_000) =>
      store.leases.renewProcess({ id: processId, service: 'experts', classes: [], ttlMs });
    const begin = ({ store }: StoreProcess, of = delivery) => store.deliveries.begin(of);

    it('count the first attempt as 1, without deaths and suspects', async () => {
      expect(await begin(await living())).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
    });

    it('count an opener whose lease is gone as a death', async () => {
      const [victim, heir] = [await living(), await living()];
      await begin(victim);
      await victim.store.leases.endProcess(victim.processId);
      expect(await begin(heir)).toEqual({ attempts: 2, deaths: 1, suspects: 0 });
    });

    it('count an opener whose lease ran out as a death, and one that never had a lease', async () => {
      const [victim, leaseless, heir] = [await living(150), await under.another(), await living()];
      await begin(victim);
      await begin(leaseless);
      await pass(under, 200);
      expect(await begin(heir)).toEqual({ attempts: 3, deaths: 2, suspects: 0 });
    });

    it('count an opener that lives and is not ours as a suspect, and as a death once its lease is gone', async () => {
      const [slow, second, third] = [await living(), await living(), await living()];
      await begin(slow);
      expect(await begin(second)).toEqual({ attempts: 2, deaths: 0, suspects: 1 });
      await slow.store.leases.endProcess(slow.processId);
      expect(await begin(third)).toEqual({ attempts: 3, deaths: 1, suspects: 1 });
    });

    it('add up the deaths of several processes', async () => {
      for (let deaths = 0; deaths < 3; deaths += 1) {
        const victim = await living();
        expect(await begin(victim)).toEqual({ attempts: deaths + 1, deaths, suspects: 0 });
        await victim.store.leases.endProcess(victim.processId);
      }
      expect(await begin(await living())).toEqual({ attempts: 4, deaths: 3, suspects: 0 });
    });

    it('keep the attempt of a handler that failed, and blame no process', async () => {
      const [first, second] = [await living(), await living()];
      await begin(first);
      await first.store.deliveries.failed(delivery);
      await first.store.deliveries.failed(delivery);
      expect(await begin(first)).toEqual({ attempts: 2, deaths: 0, suspects: 0 });
      await first.store.deliveries.failed(delivery);
      expect(await begin(second)).toEqual({ attempts: 3, deaths: 0, suspects: 0 });
    });

    it('take back attempt and opener of a handler that asked to be called later', async () => {
      const [first, second] = [await living(), await living()];
      await begin(first);
      await first.store.deliveries.released(delivery);
      await first.store.deliveries.released(delivery);
      expect(await begin(first)).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
      await first.store.deliveries.released(delivery);
      expect(await begin(second)).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
    });

    it('keep the deaths and attempts of others when one is released', async () => {
      const [victim, heir] = [await living(), await living()];
      await begin(victim);
      await victim.store.leases.endProcess(victim.processId);
      await begin(heir);
      await heir.store.deliveries.released(delivery);
      expect(await begin(heir)).toEqual({ attempts: 2, deaths: 1, suspects: 0 });
    });

    it('do not count a second attempt if a process begins again what it has not ended', async () => {
      const process = await living();
      await begin(process);
      expect(await begin(process)).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
    });

    it('forget everything about a record that is done', async () => {
      const [victim, heir] = [await living(), await living()];
      await begin(victim);
      await victim.store.leases.endProcess(victim.processId);
      await begin(heir);
      await heir.store.deliveries.done(delivery);
      await heir.store.deliveries.done(delivery);
      expect(await begin(heir)).toEqual({ attempts: 1, deaths: 0, suspects: 0 });
    });

    it('tell how many others began it and did not end it, dead or alive, and count nothing for that', async () => {
      const [victim, slow, failing, heir] = [await living(), await living(), await living(), await living()];
      const unended = () => heir.store.deliveries.unended!(delivery);
      expect(await unended()).toBe(0);
      await begin(victim);
      await begin(slow);
      await begin(failing);
      await victim.store.leases.endProcess(victim.processId);
      expect(await unended()).toBe(3);
      await failing.store.deliveries.failed(delivery);
      expect(await unended()).toBe(2);
      expect(await begin(heir)).toEqual({ attempts: 4, deaths: 1, suspects: 1 });
      expect(await unended()).toBe(2);
      await slow.store.deliveries.released(delivery);
      expect(await unended()).toBe(1);
      await heir.store.deliveries.done(delivery);
      expect(await unended()).toBe(0);
    });

    it('keep groups and records apart', async () => {
      const process = await living();
      await begin(process);
      await process.store.deliveries.failed(delivery);
      expect(await begin(process, { ...delivery, group: 'planner' })).toMatchObject({ attempts: 1 });
      expect(await begin(process, { ...delivery, record: `${delivery.record}0` })).toMatchObject({ attempts: 1 });
      expect(await begin(process)).toMatchObject({ attempts: 2 });
    });

    it('give each of two processes that begin at the same time a separate attempt', async () => {
      const processes = [await living(), await living(), await living()];
      const counts = await Promise.all(processes.map((process) => begin(process)));
      expect(counts.map(({ attempts }) => attempts).sort()).toEqual([1, 2, 3]);
    });
  });
}
