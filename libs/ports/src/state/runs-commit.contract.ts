import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { counting, ending, nthInput, namedOutput, planning, timer, type Tally } from './__fixtures__/samples.js';
import { clockLagMs, newRunId, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import type { StepTime } from './state.js';

/** `Runs.commit` and `Runs.read`. */
export function describeCommit({ open }: StoreHarness): void {
  describe('commit', () => {
    let under: StoreUnderTest;
    let runId: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
    });
    afterEach(() => under.dispose());

    it('stores state, outputs, entries, timers and cancel flags of a step together', async () => {
      const { store, stream } = under;
      const event = nthInput(runId, 1);
      const cancelledTask = `${runId}/0/slow`;
      const done = await store.runs.commit<Tally>(
        event,
        counting(event, ({ now }) => ({
          outputs: [namedOutput(runId, 'a'), namedOutput(runId, 'b')],
          entries: [planning(0)],
          arm: [timer('wall', now - 1, 3)],
          cancels: [cancelledTask],
        })),
      );
      expect(done).toEqual({
        outputs: [namedOutput(runId, 'a'), namedOutput(runId, 'b')],
        repeated: false,
        state: { count: 1, seen: [event.id] },
      });
      expect(await store.runs.read(runId)).toEqual({ version: 1, state: done.state, status: 'collecting', terminal: false });
      expect((await stream.read(runId, 0, 10)).entries).toEqual([{ ...planning(0), id: 1, at: expect.any(Number) }]);
      expect(await store.timers.due(10)).toEqual([{ runId, name: 'wall', arm: 3, dueAt: expect.any(Number) }]);
      expect(await store.runs.cancelled([cancelledTask, `${runId}/0/other`])).toEqual(new Set([cancelledTask]));
    });

    it('leaves nothing of a step that throws', async () => {
      const { store, stream } = under;
      const first = nthInput(runId, 1);
      await store.runs.commit<Tally>(first, counting(first));
      await expect(
        store.runs.commit<Tally>(nthInput(runId, 2), () => {
          throw new TypeError('a bug in the step');
        }),
      ).rejects.toThrow('a bug in the step');
      expect(await store.runs.read(runId)).toMatchObject({ version: 1, state: { count: 1 } });
      expect((await stream.read(runId, 0, 10)).last).toBe(0);
      const again = await store.runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2)));
      expect(again).toMatchObject({ repeated: false, state: { count: 2 } });
    });

    it('leaves nothing of a step whose result cannot be stored', async () => {
      const { store, stream } = under;
      const event = nthInput(runId, 1);
      const circular: { self?: unknown } = {};
      circular.self = circular;
      const broken = { ...namedOutput(runId, 'broken'), data: circular };
      await expect(
        store.runs.commit<Tally>(
          event,
          counting(event, ({ now }) => ({
            outputs: [namedOutput(runId, 'fine'), broken],
            entries: [planning(0)],
            arm: [timer('wall', now - 1)],
            cancels: [`${runId}/0/a`],
          })),
        ),
      ).rejects.toThrow();
      expect(await store.runs.read(runId)).toBeNull();
      expect((await stream.read(runId, 0, 10)).last).toBe(0);
      expect(await store.timers.due(10)).toEqual([]);
      expect(await store.runs.cancelled([`${runId}/0/a`])).toEqual(new Set());
    });

    it('returns the stored outputs for a repeated event, calls no step and changes nothing', async () => {
      const event = nthInput(runId, 1);
      await under.store.runs.commit<Tally>(event, counting(event, { outputs: [namedOutput(runId, 'a')], entries: [planning(0)] }));
      const { store, stream } = await under.another();
      const again = await store.runs.commit<Tally>(event, () => {
        throw new Error('the step was called again');
      });
      expect(again).toEqual({ outputs: [namedOutput(runId, 'a')], repeated: true, state: { count: 1, seen: [event.id] } });
      expect(await store.runs.read(runId)).toMatchObject({ version: 1 });
      expect((await stream.read(runId, 0, 10)).last).toBe(1);
    });

    it('keeps apart the outputs of different events of a run', async () => {
      const { runs } = under.store;
      for (const n of [1, 2, 3])
        await runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n), { outputs: [namedOutput(runId, `o${n}`)] }));
      const repeated = await runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2)));
      expect(repeated.outputs).toEqual([namedOutput(runId, 'o2')]);
      expect(repeated.state).toMatchObject({ count: 3 });
    });

    it('stores nothing if the step returns null, and calls the step again for a repeated event', async () => {
      const { runs } = under.store;
      const event = nthInput(runId, 1);
      expect(await runs.commit<Tally>(event, () => null)).toEqual({ outputs: [], repeated: false, state: null });
      expect(await runs.read(runId)).toBeNull();
      expect(await runs.commit<Tally>(event, counting(event))).toMatchObject({ repeated: false, state: { count: 1 } });
    });

    it('passes the state and version to the step, and the time of the store', async () => {
      const { runs } = under.store;
      const first = nthInput(runId, 1);
      await runs.commit<Tally>(first, counting(first));
      const before = await under.store.now();
      const seen: { current: Tally | null; at: StepTime }[] = [];
      await runs.commit<Tally>(nthInput(runId, 2), (current, at) => {
        seen.push({ current, at });
        return null;
      });
      const after = await under.store.now();
      expect(seen).toEqual([{ current: { count: 1, seen: [first.id] }, at: { version: 1, now: expect.any(Number) } }]);
      expect(seen[0]!.at.now).toBeGreaterThanOrEqual(before);
      expect(seen[0]!.at.now).toBeLessThanOrEqual(after + clockLagMs);
    });

    it('loses no step of two processes that commit to one run at the same time, and computes a step again with the same time', async () => {
      const other = await under.another();
      const numbers = Array.from({ length: 24 }, (_, n) => n + 1);
      const times = new Map<string, Set<number>>();
      await Promise.all(
        numbers.map((n) => {
          const event = nthInput(runId, n);
          const { runs } = (n % 2 ? under : other).store;
          return runs.commit<Tally>(
            event,
            counting(event, ({ now }) => {
              times.set(event.id, (times.get(event.id) ?? new Set()).add(now));
              return { entries: [planning(n)], outputs: [namedOutput(runId, `o${n}`)] };
            }),
          );
        }),
      );
      const stored = await under.store.runs.read<Tally>(runId);
      expect(stored).toMatchObject({ version: numbers.length, state: { count: numbers.length } });
      expect(new Set(stored!.state.seen)).toEqual(new Set(numbers.map((n) => nthInput(runId, n).id)));
      expect([...times.values()].map((set) => set.size)).toEqual(numbers.map(() => 1));
      const { entries } = await under.stream.read(runId, 0, 100);
      expect(entries.map(({ id }) => id)).toEqual(numbers);
      expect(new Set(entries.map((entry) => (entry.kind === 'planning' ? entry.epoch : -1)))).toEqual(new Set(numbers));
    });

    it('applies an event once when two processes commit it at the same time', async () => {
      const other = await under.another();
      const event = nthInput(runId, 1);
      const step = counting(event, { outputs: [namedOutput(runId, 'a')], entries: [planning(0)] });
      const both = await Promise.all([under, other, under, other].map(({ store }) => store.runs.commit<Tally>(event, step)));
      expect(both.map(({ outputs }) => outputs)).toEqual(both.map(() => [namedOutput(runId, 'a')]));
      expect(both.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect(await under.store.runs.read(runId)).toMatchObject({ version: 1, state: { count: 1 } });
      expect((await under.stream.read(runId, 0, 10)).last).toBe(1);
    });

    it('keeps every value of a state as JSON keeps it', async () => {
      const { runs } = under.store;
      const state = {
        empty: [],
        none: null,
        nested: { map: {}, list: [[], [1, 2.5, -0.1]] },
        big: 1_700_000_000_123,
        text: 'ä😀\n"\\\u0000',
      };
      await runs.commit(nthInput(runId, 1), () => ({ ...counting(nthInput(runId, 1))(null, { now: 0, version: 0 }), next: state }));
      expect((await runs.read(runId))!.state).toEqual(state);
    });

    it('marks a run as terminal, with its last status', async () => {
      const { runs } = under.store;
      await runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)));
      await runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2), ending));
      expect(await runs.read(runId)).toMatchObject({ version: 2, status: 'completed', terminal: true });
    });

    it('leaves a run terminal, whatever a later step says', async () => {
      const { runs } = under.store;
      await runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), ending));
      await runs.commit<Tally>(nthInput(runId, 2), counting(nthInput(runId, 2), { status: 'settled', terminal: false }));
      expect(await runs.read(runId)).toMatchObject({ version: 2, status: 'settled', terminal: true });
      expect(await runs.cancelled([runId])).toEqual(new Set([runId]));
    });

    it('returns null for an unknown run', async () => {
      expect(await under.store.runs.read(newRunId())).toBeNull();
    });
  });
}
