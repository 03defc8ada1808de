import { callStep, taskId } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { counting, ending, nthInput, type Tally } from './__fixtures__/samples.js';
import { newName, newRunId, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { busyRetryMs } from './limits.js';
import type { CallOutcome } from './state.js';

const reply = (text: string): CallOutcome => ({ ok: true, reply: { text, usage: { calls: 1 }, list: [] } });

/** Prevents a finished call from being paid twice. */
export function describeJournal({ open }: StoreHarness): void {
  describe('journal', () => {
    let under: StoreUnderTest;
    let runId: string;
    let task: string;
    let step: string;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
      task = taskId(runId, 0, 't1');
      step = callStep(task, 0);
    });
    afterEach(() => under.dispose());

    /** A process with a lease of `ttlMs`. */
    const process = async (ttlMs = 60_000): Promise<string> => {
      const id = newName('worker');
      await under.store.leases.renewProcess({ id, service: 'experts', classes: ['expert'], ttlMs });
      return id;
    };
    const begin = (owner: string, nonce = newName('nonce')) => under.store.journal.begin({ runId, step, nonce, owner });
    const finish = (attempt: number, outcome: CallOutcome) => under.store.journal.finish({ runId, step, attempt }, outcome);

    it('returns the flags that were set when a step is begun, if it checks flags, and all of them once the run is over', async () => {
      const flags = [runId, task, `${task}0`];
      const flagged = async (nonce: string) => {
        const begun = await under.store.journal.begin({ runId, step: `${task}/call/${nonce}`, nonce, owner: await process(), flags });
        return begun.kind === 'begun' ? begun.flagged : begun.kind;
      };
      await under.store.runs.cancel(task);
      expect([undefined, [task]]).toContainEqual(await flagged('1'));
      const event = nthInput(runId, 1);
      await under.store.runs.commit<Tally>(event, counting(event, ending));
      expect([undefined, flags]).toContainEqual(await flagged('2'));
    });

    it('returns the state of the run when a step is begun and it is requested, if it reads the state', async () => {
      const stateAt = async (nonce: string, withState = true) => {
        const begun = await under.store.journal.begin({ runId, step: `${task}/call/${nonce}`, nonce, owner: await process(), withState });
        return begun.kind === 'begun' ? begun.state : begun.kind;
      };
      expect([undefined, null]).toContainEqual(await stateAt('1'));
      const event = nthInput(runId, 1);
      await under.store.runs.commit<Tally>(event, counting(event));
      expect([undefined, (await under.store.runs.read<Tally>(runId))!.state]).toContainEqual(await stateAt('2'));
      expect(await stateAt('3', false)).toBeUndefined();
    });

    it('lets the first caller begin, and returns the reply to all once it is finished', async () => {
      const owner = await process();
      expect(await begin(owner)).toEqual({ kind: 'begun', attempt: 1, repeated: false });
      expect(await finish(1, reply('blue'))).toBe('stored');
      const other = (await under.another()).store.journal;
      const found = await other.begin({ runId, step, nonce: newName('nonce'), owner: await process() });
      expect(found).toEqual({ kind: 'done', outcome: reply('blue'), attempt: 1 });
    });

    it('keeps a failed call too, because it was paid for', async () => {
      const outcome: CallOutcome = {
        ok: false,
        failure: { code: 'CALL_TIMEOUT', message: 'No answer came in time.', retriable: true },
      };
      await begin(await process());
      await finish(1, outcome);
      expect(await begin(await process())).toEqual({ kind: 'done', outcome, attempt: 1 });
    });

    it('is busy while the lease of the owner is valid, also for the owner itself', async () => {
      const owner = await process();
      await begin(owner);
      for (const asker of [await process(), owner]) {
        const busy = await begin(asker);
        expect(busy).toEqual({ kind: 'busy', retryInMs: expect.any(Number) });
        expect(busy.kind === 'busy' && busy.retryInMs).toBeGreaterThan(0);
        expect(busy.kind === 'busy' && busy.retryInMs).toBeLessThanOrEqual(busyRetryMs);
      }
    });

    it('returns the same answer for the same nonce', async () => {
      const owner = await process();
      await begin(owner, 'n1');
      expect(await begin(owner, 'n1')).toEqual({ kind: 'begun', attempt: 1, repeated: false });
      await under.store.leases.endProcess(owner);
      const next = await process();
      expect(await begin(next, 'n2')).toEqual({ kind: 'begun', attempt: 2, repeated: true });
      expect(await begin(next, 'n2')).toEqual({ kind: 'begun', attempt: 2, repeated: true });
    });

    it('begins a repeated attempt if the lease of the owner expired', async () => {
      await begin(await process(120));
      await pass(under, 200);
      expect(await begin(await process())).toEqual({ kind: 'begun', attempt: 2, repeated: true });
    });

    it('begins a repeated attempt when the owner never had a lease', async () => {
      await begin('nobody');
      expect(await begin(await process())).toEqual({ kind: 'begun', attempt: 2, repeated: true });
    });

    it('counts the attempts that follow a death, by what they are for, for every process to see', async () => {
      const { journal } = under.store;
      expect(await journal.repeats()).toEqual({});
      for (const [attempt, purpose] of [
        [2, 'plan'],
        [3, 'plan'],
        [2, 'expert.general'],
      ] as const) {
        const asked = callStep(taskId(runId, 0, purpose === 'plan' ? 't1' : 't2'), 0);
        await journal.begin({ runId, step: asked, nonce: newName('nonce'), owner: await process() });
        await journal.noteRepeat({ runId, step: asked, attempt, purpose });
      }
      expect(await (await under.another()).store.journal.repeats()).toEqual({ plan: 2, 'expert.general': 1 });
    });

    it('lets one of several begin at the same time', async () => {
      const other = await under.another();
      const owners = await Promise.all([process(), process(), process(), process()]);
      const answers = await Promise.all(
        owners.map((owner, n) => (n % 2 ? under : other).store.journal.begin({ runId, step, nonce: newName('nonce'), owner })),
      );
      expect(answers.map(({ kind }) => kind).sort()).toEqual(['begun', 'busy', 'busy', 'busy']);
    });

    it('refuses the outcome of an overtaken attempt, and keeps the later one', async () => {
      const paused = await process();
      await begin(paused);
      await under.store.leases.endProcess(paused);
      await begin(await process());
      expect(await finish(1, reply('too late'))).toBe('refused');
      expect(await finish(2, reply('in time'))).toBe('stored');
      expect(await finish(1, reply('much too late'))).toBe('refused');
      expect(await begin(await process())).toEqual({ kind: 'done', outcome: reply('in time'), attempt: 2 });
    });

    it('keeps the first outcome of an attempt if it is finished again', async () => {
      await begin(await process());
      expect(await finish(1, reply('first'))).toBe('stored');
      expect(await finish(1, reply('second'))).toBe('stored');
      expect(await begin(await process())).toMatchObject({ kind: 'done', outcome: reply('first') });
    });

    it('frees an abandoned step at once; the next attempt has a higher number and repeats nothing', async () => {
      await begin(await process());
      await under.store.journal.abandon({ runId, step, attempt: 1 });
      await under.store.journal.abandon({ runId, step, attempt: 1 });
      expect(await begin(await process())).toEqual({ kind: 'begun', attempt: 2, repeated: false });
      await under.store.journal.abandon({ runId, step, attempt: 1 });
      expect(await begin(await process())).toMatchObject({ kind: 'busy' });
    });

    it('counts an attempt that was not sent as if it had not begun, whoever gives up its number again', async () => {
      const owner = await process();
      expect(await begin(owner, 'n1')).toMatchObject({ attempt: 1 });
      await under.store.journal.abandon({ runId, step, attempt: 1 }, undefined, 'n1');
      expect(await begin(owner, 'n2')).toEqual({ kind: 'begun', attempt: 1, repeated: false });
      // The same abandonment arrives again, after another attempt has begun under its number.
      await under.store.journal.abandon({ runId, step, attempt: 1 }, undefined, 'n1');
      expect(await begin(await process())).toMatchObject({ kind: 'busy' });
      await under.store.journal.abandon({ runId, step, attempt: 1 });
      expect(await begin(owner, 'n3')).toEqual({ kind: 'begun', attempt: 2, repeated: false });
      expect(await under.store.journal.started(task)).toBe(true);
    });

    it('does not let an abandonment undo an outcome', async () => {
      await begin(await process());
      await finish(1, reply('paid'));
      await under.store.journal.abandon({ runId, step, attempt: 1 });
      expect(await begin(await process())).toMatchObject({ kind: 'done', outcome: reply('paid') });
    });

    it('keeps steps, tasks and runs apart', async () => {
      const owner = await process();
      const others = [callStep(task, 1), callStep(taskId(runId, 0, 't10'), 0), callStep(taskId(runId, 1, 't1'), 0)];
      await begin(owner);
      await finish(1, reply('only here'));
      for (const other of others) {
        const answer = await under.store.journal.begin({ runId, step: other, nonce: newName('nonce'), owner });
        expect(answer).toEqual({ kind: 'begun', attempt: 1, repeated: false });
      }
    });

    it('knows which tasks were started: a step was begun, whatever its outcome', async () => {
      const { journal } = under.store;
      expect(await journal.started(task)).toBe(false);
      const owner = await process();
      await journal.begin({ runId, step: callStep(taskId(runId, 0, 't10'), 2), nonce: 'n', owner });
      expect(await journal.started(task)).toBe(false);
      await begin(owner);
      expect(await journal.started(task)).toBe(true);
      await journal.abandon({ runId, step, attempt: 1 });
      expect(await journal.started(task)).toBe(true);
      expect(await journal.started(taskId(newRunId(), 0, 't1'))).toBe(false);
    });
  });
}
