import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { acceptance, counting, ending, nthInput, type Tally } from './__fixtures__/samples.js';
import { listen, newRunId, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';

/** Cancel flags and the hints beside them. */
export function describeCancel({ open }: StoreHarness): void {
  describe('cancel', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    it('flags a run before it exists, and the flag stays when the run is created', async () => {
      const { runs } = under.store;
      const runId = newRunId();
      await runs.cancel(runId);
      await runs.cancel(runId);
      await runs.accept(acceptance(runId));
      await runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1)));
      expect(await (await under.another()).store.runs.cancelled([runId])).toEqual(new Set([runId]));
    });

    it('flags one task and not its neighbours', async () => {
      const runId = newRunId();
      const { runs } = under.store;
      await runs.cancel(`${runId}/0/t1`);
      expect(await runs.cancelled([runId, `${runId}/0/t1`, `${runId}/0/t10`, `${runId}/1/t1`])).toEqual(new Set([`${runId}/0/t1`]));
    });

    it('counts a run that ended, and every task of it, as cancelled', async () => {
      const [ended, open] = [newRunId(), newRunId()];
      const { runs } = under.store;
      await runs.commit<Tally>(nthInput(open, 1), counting(nthInput(open, 1)));
      await runs.commit<Tally>(nthInput(ended, 1), counting(nthInput(ended, 1), ending));
      const asked = [ended, `${ended}/0/t1`, open, `${open}/0/t1`, newRunId()];
      expect(await runs.cancelled(asked)).toEqual(new Set([ended, `${ended}/0/t1`]));
    });

    it('returns an empty set for no ids', async () => {
      expect(await under.store.runs.cancelled([])).toEqual(new Set());
    });

    it('notifies every process with the hint `cancel`, also of a flag that a step sets', async () => {
      const runId = newRunId();
      const others = [await listen(await under.another(), 'cancel'), await listen(under, 'cancel')];
      await under.store.runs.cancel(runId);
      await under.store.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), { cancels: [`${runId}/0/late`] }));
      for (const { heard, stop } of others) {
        await until('both hints arrived', () => heard.includes(runId) && heard.includes(`${runId}/0/late`));
        await stop();
      }
    });
  });
}
