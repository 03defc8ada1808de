import { callStep, taskId } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acceptance, completed, counting, ending, namedOutput, nthInput, type Tally } from './__fixtures__/samples.js';
import { newName, newRunId, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** Erased runs leave a tombstone and nothing else. */
export function describeErasure({ open }: StoreHarness): void {
  describe('an erased run', () => {
    let under: StoreUnderTest;
    let runId: string;
    let step: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
      step = callStep(taskId(runId, 0, 't1'), 0);
    });
    afterEach(() => under.dispose());

    const tombstone = () => ({ runId, tenant: 'acme', requestedAt: 1_700_000_000_000 });
    const erase = () => under.store.runs.erase(tombstone());
    const begin = () => under.store.journal.begin({ runId, step, nonce: newName('nonce'), owner: under.processId });
    /** A run that has made a call and ended. */
    const ended = async (): Promise<void> => {
      const { runs, journal } = under.store;
      await runs.accept(acceptance(runId, { retryKey: `retry ${runId}` }));
      await begin();
      await journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: { text: 'canary' } });
      const event = nthInput(runId, 1);
      await runs.commit<Tally>(
        event,
        counting(event, { ...ending, outputs: [namedOutput(runId, 'canary')], entries: [completed('canary')] }),
      );
    };

    it('has neither header, state, stream nor outcomes, and is in no list, in every process', async () => {
      await ended();
      const before = await under.store.now();
      expect(await erase()).toBe('erased');
      for (const { store, stream } of [under, await under.another()]) {
        expect(await store.runs.header(runId)).toBeNull();
        expect(await store.runs.read(runId)).toBeNull();
        expect(await store.runs.list({ tenant: 'acme', limit: 10 })).toEqual([]);
        expect((await stream.read(runId, 0, 10)).entries).toEqual([]);
        const erased = await store.runs.erased(runId);
        expect(erased).toEqual({ ...tombstone(), erasedAt: expect.any(Number) });
        expect(erased!.erasedAt).toBeGreaterThanOrEqual(before - 1_000);
      }
      expect(await under.store.runs.openCount()).toBe(0);
      expect(await under.store.runs.unpublished(0, 10)).toEqual([]);
      expect(await begin()).toEqual({ kind: 'published' });
    });

    it('begins no call in any process, made before or not, and keeps nothing of one', async () => {
      await ended();
      await erase();
      const [task, other] = [taskId(runId, 0, 't1'), taskId(runId, 1, 't2')];
      for (const { store, processId } of [under, await under.another()])
        for (const owner of [task, other]) {
          const call = { runId, step: callStep(owner, 0), nonce: newName('nonce'), owner: processId, flags: [runId], withState: true };
          expect(await store.journal.begin(call)).toEqual({ kind: 'published' });
          expect(await store.journal.started(owner)).toBe(false);
        }
    });

    it('is erased once, however often that is requested', async () => {
      await ended();
      await erase();
      const first = await under.store.runs.erased(runId);
      expect(await (await under.another()).store.runs.erase({ ...tombstone(), tenant: 'other' })).toBe('erased');
      expect(await under.store.runs.erased(runId)).toEqual(first);
    });

    it('must have ended', async () => {
      await under.store.runs.accept(acceptance(runId));
      expect(await erase()).toBe('open');
      expect(await under.store.runs.header(runId)).not.toBeNull();
      expect(await under.store.runs.erased(runId)).toBeNull();
      expect(await under.store.runs.erased(newRunId())).toBeNull();
    });

    it('is found by a repeat of its request, and not accepted again', async () => {
      await ended();
      await erase();
      expect(await under.store.runs.findRetry(`retry ${runId}`)).toBe(runId);
      expect(await under.store.runs.accept(acceptance(runId))).toEqual({ kind: 'erased' });
      expect(await under.store.runs.header(runId)).toBeNull();
    });

    it('accepts no event, known or new, from any process, and does not return outputs of earlier ones', async () => {
      await ended();
      await erase();
      for (const { store } of [under, await under.another()])
        for (const event of [nthInput(runId, 1), nthInput(runId, 2)]) {
          const { outputs, state } = await store.runs.commit<Tally>(event, counting(event, { outputs: [namedOutput(runId, 'late')] }));
          expect({ outputs, state }).toEqual({ outputs: [], state: null });
        }
      expect(await under.store.runs.read(runId)).toBeNull();
    });

    it('takes no step: to a step, it would look like a run that has not begun', async () => {
      await ended();
      await erase();
      const step = (): never => {
        throw new Error('The run has not begun.');
      };
      for (const { store } of [under, await under.another()])
        expect(await store.runs.commit<Tally>(nthInput(runId, 2), step)).toEqual({ outputs: [], repeated: false, state: null });
    });

    it('counts as ended: its flags are set, its stream accepts nothing, and a call that ends late is paid but not stored', async () => {
      await ended();
      await erase();
      const { runs, journal, usage } = under.store;
      expect(await runs.cancelled([runId, taskId(runId, 0, 't1')])).toEqual(new Set([runId, taskId(runId, 0, 't1')]));
      const late = { kind: 'chunk', taskId: taskId(runId, 0, 't1'), attempt: 1, offset: 0, text: 'canary' } as const;
      expect(await under.stream.append(runId, [late])).toBe('refused');
      const begun = await begin();
      const attempt = begun.kind === 'begun' ? begun.attempt : 1;
      const paid = { at: await under.store.now(), usage: { calls: 1, prompt: 2, completion: 3, reasoning: 0, cost: 0, estimated: false } };
      expect(await journal.finish({ runId, step, attempt }, { ok: true, reply: 'canary' }, paid)).toBe('stored');
      expect(await begin()).toEqual({ kind: 'published' });
      expect(await usage.ofRun(runId)).toMatchObject({ calls: 1 });
    });
  });
}
