import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { counting, nthInput, timer, type Tally } from './__fixtures__/samples.js';
import {
  newRunId,
  pass,
  patienceMs,
  until,
  type StoreHarness,
  type StoreProcess,
  type StoreUnderTest,
} from './__fixtures__/store-harness.js';
import type { Step } from './state.js';

/** Timers: armed by steps, kept until removed. */
export function describeTimers({ open }: StoreHarness): void {
  describe('timers', () => {
    let under: StoreUnderTest;
    let n = 0;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    const step = (runId: string, more: Partial<Step<Tally>>, at: StoreProcess = under) => {
      n += 1;
      const event = nthInput(runId, n);
      return at.store.runs.commit<Tally>(event, counting(event, more));
    };
    const dueNames = async () => (await under.store.timers.due(100)).map(({ name }) => name);
    const timed = async (wait: Promise<void>): Promise<number> => {
      const start = performance.now();
      await wait;
      return performance.now() - start;
    };
    const never = () => new AbortController().signal;

    it('become due by the clock of the store, earliest first, over all runs, and no more than requested', async () => {
      const now = await under.store.now();
      const [a, b] = [newRunId(), newRunId()];
      await step(a, { arm: [timer('third', now - 10), timer('first', now - 30), timer('later', now + 60_000)] });
      await step(b, { arm: [timer('second', now - 20)] });
      expect(await dueNames()).toEqual(['first', 'second', 'third']);
      expect(await under.store.timers.due(2)).toEqual([
        { runId: a, name: 'first', arm: 1, dueAt: now - 30 },
        { runId: b, name: 'second', arm: 1, dueAt: now - 20 },
      ]);
    });

    it('are not due before their time', async () => {
      await step(newRunId(), { arm: [timer('soon', (await under.store.now()) + 150)] });
      expect(await dueNames()).toEqual([]);
      await pass(under, 160);
      expect(await dueNames()).toEqual(['soon']);
    });

    it('stay due until they are removed, in every process', async () => {
      await step(newRunId(), { arm: [timer('wall', (await under.store.now()) - 1)] });
      const [due] = await under.store.timers.due(10);
      const other = (await under.another()).store.timers;
      expect(await other.due(10)).toEqual([due]);
      await other.remove(due!);
      await other.remove(due!);
      expect(await dueNames()).toEqual([]);
    });

    it('survive the removal of an earlier arm', async () => {
      const runId = newRunId();
      const now = await under.store.now();
      await step(runId, { arm: [timer('wall', now - 2, 1)] });
      const [old] = await under.store.timers.due(10);
      await step(runId, { arm: [timer('wall', now - 1, 2)] });
      await under.store.timers.remove(old!);
      expect(await under.store.timers.due(10)).toEqual([{ runId, name: 'wall', arm: 2, dueAt: now - 1 }]);
    });

    it('move when they are armed again', async () => {
      const runId = newRunId();
      const now = await under.store.now();
      await step(runId, { arm: [timer('wall', now - 2, 1)] });
      await step(runId, { arm: [timer('wall', now + 60_000, 2)] });
      expect(await dueNames()).toEqual([]);
    });

    it('are disarmed by name, in their own run only', async () => {
      const [a, b] = [newRunId(), newRunId()];
      const now = await under.store.now();
      await step(a, { arm: [timer('wall', now - 3), timer('planning', now - 2)] });
      await step(b, { arm: [timer('wall', now - 1)] });
      await step(a, { disarm: ['wall', 'unheard of'] });
      expect((await under.store.timers.due(10)).map(({ runId, name }) => [runId, name])).toEqual([
        [a, 'planning'],
        [b, 'wall'],
      ]);
    });

    it('are armed by a step that disarms the same name', async () => {
      const runId = newRunId();
      const now = await under.store.now();
      await step(runId, { arm: [timer('planning', now - 2, 1)] });
      await step(runId, { disarm: ['planning'], arm: [timer('planning', now - 1, 2)] });
      expect(await under.store.timers.due(10)).toEqual([{ runId, name: 'planning', arm: 2, dueAt: now - 1 }]);
    });

    it('are not armed a second time by a repeated event', async () => {
      const runId = newRunId();
      const event = nthInput(runId, 1);
      const armed = counting(event, { arm: [timer('wall', (await under.store.now()) - 1)] });
      await under.store.runs.commit<Tally>(event, armed);
      await under.store.timers.remove((await under.store.timers.due(1))[0]!);
      await under.store.runs.commit<Tally>(event, armed);
      expect(await dueNames()).toEqual([]);
    });

    it('let a waiter sleep its whole time if nothing becomes due', async () => {
      expect(await timed(under.store.timers.wait(250, never()))).toBeGreaterThan(200);
      await step(newRunId(), { arm: [timer('far', (await under.store.now()) + 600_000)] });
      expect(await timed(under.store.timers.wait(250, never()))).toBeGreaterThan(200);
    });

    it('do not let a waiter sleep while one is due', async () => {
      await step(newRunId(), { arm: [timer('wall', (await under.store.now()) - 1)] });
      expect(await timed(under.store.timers.wait(60_000, never()))).toBeLessThan(patienceMs);
    });

    it('wake a waiter no later than the next one is due', async () => {
      await step(newRunId(), { arm: [timer('soon', (await under.store.now()) + 200)] });
      const waited = await timed(under.store.timers.wait(60_000, never()));
      expect(waited).toBeGreaterThan(100);
      expect(waited).toBeLessThan(patienceMs);
      if (under.clockIsReal) await until('the timer is due', async () => (await dueNames()).includes('soon'));
    });

    it('wake a waiter when another process arms an earlier one', async () => {
      const other = await under.another();
      await step(newRunId(), { arm: [timer('far', (await under.store.now()) + 600_000)] });
      const woken = timed(under.store.timers.wait(60_000, never()));
      // The waiter must sleep by now: otherwise it would find the timer without being woken.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const now = await under.store.now();
      await step(newRunId(), { arm: [timer('near', now + 150)] }, other);
      expect(await woken).toBeLessThan(patienceMs);
    });

    it('let a waiter go when its signal is aborted, before or while it waits', async () => {
      const aborted = new AbortController();
      aborted.abort();
      expect(await timed(under.store.timers.wait(60_000, aborted.signal))).toBeLessThan(patienceMs);
      const later = new AbortController();
      const waiting = timed(under.store.timers.wait(60_000, later.signal));
      setTimeout(() => later.abort(), 50);
      expect(await waiting).toBeLessThan(patienceMs);
    });
  });
}
