import { callStep, CallRecorded, noUsage, ownEvent, StepRecorded, taskId, type Event, type Service } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { completed, counting, ending, namedOutput, nthInput, type Tally } from './__fixtures__/samples.js';
import { newName, newRunId, until, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import type { CallOutcome } from './state.js';

const outcome: CallOutcome = { ok: true, reply: { text: 'blue' } };

/** The record of the step that applied `input`. */
export const stepRecord = (input: Event, version = 1): Event =>
  ownEvent(StepRecorded, { id: `${input.runId}/step/${version}`, runId: input.runId, source: 'merger', time: input.time }, {
    version,
    input,
    now: input.time,
    facts: [],
    rule: null,
    ruleSentence: null,
    outputs: [],
    hash: '',
    stateHash: null,
  } as never);

/** The record of a call. */
export const callRecord = (runId: string, step: string, { attempt = 1, source = 'experts' as Service } = {}): Event =>
  ownEvent(
    CallRecorded,
    { id: `${step}/${attempt}`, runId, source, time: 1_700_000_000_000 },
    {
      ...{ step, attempt, purpose: 'expert.general', model: 'm@p', reportedModel: null, status: 'ok', requestHash: '', request: null },
      ...{ reply: null, failure: null, usage: noUsage, startedAt: 1_700_000_000_000, durationMs: 0, firstTokenMs: null },
    },
  );

/** Promises of stores that forget what is known to be on the log. */
export function describePublished(name: string, { open }: StoreHarness): void {
  describe(`${name} forgets what is on the log`, () => {
    let under: StoreUnderTest;
    let runId: string;
    let step: string;
    let owner: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
      step = callStep(taskId(runId, 0, 't1'), 0);
      owner = await leased(under);
    });
    afterEach(() => under.dispose());

    const leased = async ({ store }: Pick<StoreUnderTest, 'store'>): Promise<string> => {
      const id = newName('worker');
      await store.leases.renewProcess({ id, service: 'experts', classes: ['expert'], ttlMs: 60_000 });
      return id;
    };
    const told = (outputs: readonly Event[]): void => under.store.published!(outputs);
    const applied = (event: Event, more: Parameters<typeof counting>[1] = {}) =>
      under.store.runs.commit<Tally>(event, counting(event, { outputs: [namedOutput(runId, event.id)], ...more }));
    const again = (event: Event) =>
      under.store.runs.commit<Tally>(event, () => {
        throw new Error('the step was called again');
      });
    const called = async (at = step): Promise<void> => {
      await under.store.journal.begin({ runId, step: at, nonce: newName('nonce'), owner });
      await under.store.journal.finish({ runId, step: at, attempt: 1 }, outcome);
    };
    const begin = (at = step) => under.store.journal.begin({ runId, step: at, nonce: newName('nonce'), owner });

    it('outputs of a step: the event stays applied, and the other steps keep theirs', async () => {
      const [first, second] = [nthInput(runId, 1), nthInput(runId, 2)];
      await applied(first);
      await applied(second);
      told([namedOutput(runId, first.id), stepRecord(first)]);
      await until('they are forgotten', async () => (await again(first)).outputs.length === 0);
      expect(await again(first)).toEqual({ outputs: [], repeated: true, state: { count: 2, seen: [first.id, second.id] } });
      expect((await again(second)).outputs).toEqual([namedOutput(runId, second.id)]);
      expect(await under.store.runs.read(runId)).toMatchObject({ version: 2 });
    });

    it('outputs of the last step, and a run that has ended still accepts late events', async () => {
      const [last, late] = [nthInput(runId, 1), nthInput(runId, 2)];
      await applied(last, { ...ending, outputs: [namedOutput(runId, 'end')] });
      told([namedOutput(runId, 'end'), stepRecord(last)]);
      await until('they are forgotten', async () => (await again(last)).outputs.length === 0);
      const { store, stream } = await under.another();
      expect(await store.runs.commit<Tally>(late, counting(late, { terminal: true }))).toMatchObject({
        repeated: false,
        state: { count: 2 },
      });
      expect((await stream.read(runId, 0, 10)).entries).toMatchObject([completed()]);
    });

    it('the outcome of a call: a process that begins it again learns that nothing is left to do', async () => {
      await called();
      told([callRecord(runId, step)]);
      await until('it is forgotten', async () => (await begin()).kind === 'published');
      const { store } = await under.another();
      expect(await store.journal.begin({ runId, step, nonce: newName('nonce'), owner })).toEqual({ kind: 'published' });
      expect(await store.journal.started(taskId(runId, 0, 't1'))).toBe(true);
    });

    it('and accepts no outcome of an attempt that was overtaken', async () => {
      await called();
      told([callRecord(runId, step)]);
      await until('it is forgotten', async () => (await begin()).kind === 'published');
      await under.store.journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: 'late' });
      expect(await begin()).toEqual({ kind: 'published' });
    });

    it('but neither a call that is not on the log, nor another attempt, nor a call of the knowledge graph', async () => {
      const others = [1, 2, 3].map((n) => callStep(taskId(runId, 0, `t${n + 1}`), 0));
      for (const at of [step, ...others]) await called(at);
      const [unknown, retried, learned] = others as [string, string, string];
      told([callRecord(runId, retried, { attempt: 2 }), callRecord(runId, learned, { source: 'graph-ingest' }), callRecord(runId, step)]);
      await until('it is forgotten', async () => (await begin()).kind === 'published');
      for (const at of [unknown, retried, learned]) expect(await begin(at)).toEqual({ kind: 'done', outcome, attempt: 1 });
    });

    it('a call that has no outcome yet is not ended by the record of another', async () => {
      await begin();
      told([callRecord(runId, step)]);
      await called(callStep(taskId(runId, 0, 't2'), 0));
      told([callRecord(runId, callStep(taskId(runId, 0, 't2'), 0))]);
      await until('the other is forgotten', async () => (await begin(callStep(taskId(runId, 0, 't2'), 0))).kind === 'published');
      expect(await under.store.journal.finish({ runId, step, attempt: 1 }, outcome)).toBe('stored');
      expect((await begin()).kind).toBe('done');
    });
  });
}
