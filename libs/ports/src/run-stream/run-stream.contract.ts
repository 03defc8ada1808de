import type { StreamEntry, WorkerEntry } from '@conclave/contracts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { completed, counting, ending, nthInput, planning, type Tally } from '../state/__fixtures__/samples.js';
import { clockLagMs, listen, newRunId, pass, until, type StoreHarness, type StoreUnderTest } from '../state/__fixtures__/store-harness.js';

/** Every promise of `RunStream`; each test gets a new, empty store. */
export function describeRunStream(name: string, { open }: StoreHarness): void {
  describe(`${name} is a run stream`, () => {
    let under: StoreUnderTest;
    let runId: string;
    let task: string;
    let inputs = 0;
    beforeEach(async () => {
      under = await open();
      runId = newRunId();
      task = `${runId}/0/judge.synthesis`;
    });
    afterEach(() => under.dispose());

    const chunk = (attempt: number, offset: number, text: string): WorkerEntry => ({ kind: 'chunk', taskId: task, attempt, offset, text });
    const line = (attempt: number, n: number): Extract<WorkerEntry, { kind: 'progress' }> => ({
      kind: 'progress',
      taskId: task,
      attempt,
      n,
      code: 'research.query',
      text: `line ${n}`,
    });
    const append = (...entries: WorkerEntry[]) => under.stream.append(runId, entries);
    const commit = (entries: Parameters<typeof counting>[1]) => {
      inputs += 1;
      const event = nthInput(runId, inputs);
      return under.store.runs.commit<Tally>(event, counting(event, entries));
    };
    const end = () => commit(ending);
    const read = async (after = 0, limit = 1_000) => (await under.stream.read(runId, after, limit)).entries;
    /** Entries without the fields that the stream adds. */
    const bare = (entries: readonly StreamEntry[]) => entries.map(({ id: _id, at: _at, ...body }) => body);

    it('is empty for a run it does not know', async () => {
      expect(await under.stream.read(newRunId(), 0, 10)).toEqual({ entries: [], first: 0, last: 0, ended: false });
    });

    it('numbers the entries of engine and workers densely from 1, in the order they came', async () => {
      await commit({ entries: [planning(0), planning(1)] });
      expect(await append(line(1, 0), chunk(1, 0, 'The sky'))).toBe('appended');
      await commit({ entries: [planning(2)] });
      await append(chunk(1, 7, ' is blue.'));
      const entries = await read();
      expect(entries.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(bare(entries)).toEqual([planning(0), planning(1), line(1, 0), chunk(1, 0, 'The sky'), planning(2), chunk(1, 7, ' is blue.')]);
    });

    it('stamps every entry with the time of the store', async () => {
      const before = await under.store.now();
      await commit({ entries: [planning(0)] });
      await append(line(1, 0));
      const after = await under.store.now();
      for (const { at } of await read()) {
        expect(at).toBeGreaterThanOrEqual(before);
        expect(at).toBeLessThanOrEqual(after + clockLagMs);
      }
    });

    it('stays dense and whole when processes append at the same time', async () => {
      const other = await under.another();
      const workers = Array.from({ length: 10 }, (_, n) => ({ ...line(1, 0), taskId: `${runId}/0/t${n}` }));
      await Promise.all([
        ...workers.map((entry, n) => (n % 2 ? under : other).stream.append(runId, [entry, { ...entry, n: 1 }])),
        ...[0, 1, 2, 3].map((n) => commit({ entries: [planning(n)] })),
      ]);
      const entries = await read();
      expect(entries.map(({ id }) => id)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
      expect(new Set(entries.map((entry) => JSON.stringify(bare([entry])))).size).toBe(24);
    });

    it('keeps each chunk once when a process appends many without waiting', async () => {
      const text = 'abcdefghijklmnopqrstuvwxyz';
      await Promise.all([...text].map((letter, offset) => append(chunk(1, offset, letter))));
      expect((await read()).map((entry) => (entry.kind === 'chunk' ? entry.text : '')).join('')).toBe(text);
    });

    it('adds nothing for a repeat, of chunks and of progress', async () => {
      const entries = [line(1, 0), chunk(1, 0, 'blue'), line(1, 1)];
      await append(...entries);
      expect(await append(...entries)).toBe('appended');
      expect(await (await under.another()).stream.append(runId, entries)).toBe('appended');
      expect(bare(await read())).toEqual(entries);
    });

    it('cuts an overlap, counted in UTF-16 units', async () => {
      await append(chunk(1, 0, 'sky 😀'));
      await append(chunk(1, 0, 'sky 😀 is blue'));
      expect(bare(await read())).toEqual([chunk(1, 0, 'sky 😀'), chunk(1, 6, ' is blue')]);
    });

    it('refuses to leave a hole in a text', async () => {
      await append(chunk(1, 0, 'sky'));
      await expect(append(chunk(1, 9, 'blue'))).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await read()).toHaveLength(1);
    });

    it('says once that a new attempt supersedes text, and how many characters of it', async () => {
      await append(chunk(1, 0, 'wrong'), line(1, 0));
      await append(line(2, 0));
      await append(chunk(2, 0, 'right'));
      const superseded = { kind: 'superseded', taskId: task, attempt: 2, discarded: 5 };
      expect(bare(await read())).toEqual([chunk(1, 0, 'wrong'), line(1, 0), superseded, line(2, 0), chunk(2, 0, 'right')]);
      await append(chunk(3, 0, 'again'));
      expect(bare(await read(5))).toEqual([{ ...superseded, attempt: 3 }, chunk(3, 0, 'again')]);
    });

    it('supersedes nothing if no text was shown', async () => {
      await append(line(1, 0));
      await append(line(2, 0), chunk(2, 0, 'first text'));
      expect(bare(await read())).toEqual([line(1, 0), line(2, 0), chunk(2, 0, 'first text')]);
    });

    it('keeps the attempts of different tasks apart', async () => {
      const other = { ...chunk(1, 0, 'elsewhere'), taskId: `${runId}/0/t2` };
      await append(chunk(2, 0, 'here'));
      expect(await append(other)).toBe('appended');
      expect(bare(await read())).toEqual([chunk(2, 0, 'here'), other]);
    });

    it('refuses an attempt that was overtaken, with all that came beside it', async () => {
      await append(chunk(2, 0, 'new'));
      expect(await append(chunk(2, 3, 'er'), chunk(1, 0, 'old'))).toBe('refused');
      expect(await append(line(1, 7))).toBe('refused');
      expect(bare(await read())).toEqual([chunk(2, 0, 'new')]);
    });

    it('refuses everything after the terminal entry, and says that it ended', async () => {
      await append(chunk(1, 0, 'blue'));
      expect((await under.stream.read(runId, 0, 10)).ended).toBe(false);
      await end();
      expect(await append(chunk(1, 4, ' and late'))).toBe('refused');
      expect(await append(chunk(2, 0, 'later attempt'))).toBe('refused');
      const page = await under.stream.read(runId, 0, 10);
      expect(page).toMatchObject({ first: 1, last: 2, ended: true });
      expect(bare(page.entries)).toEqual([chunk(1, 0, 'blue'), completed()]);
    });

    it('is read from any id, no more than requested, with its first and last id', async () => {
      await append(...[0, 1, 2, 3, 4].map((n) => line(1, n)));
      const page = await (await under.another()).stream.read(runId, 1, 2);
      expect(page).toMatchObject({ first: 1, last: 5, ended: false });
      expect(page.entries.map(({ id }) => id)).toEqual([2, 3]);
      expect(await under.stream.read(runId, 5, 10)).toEqual({ entries: [], first: 1, last: 5, ended: false });
      expect(await under.stream.read(runId, 99, 10)).toEqual({ entries: [], first: 1, last: 5, ended: false });
    });

    it('tells by the hint `stream` which run has news, from workers and from the engine', async () => {
      const { heard } = await listen(await under.another(), 'stream');
      await append(line(1, 0));
      await until('the worker was heard', () => heard.includes(runId));
      heard.length = 0;
      await commit({ entries: [planning(0)] });
      await until('the engine was heard', () => heard.includes(runId));
    });

    it('keeps runs apart', async () => {
      const other = newRunId();
      await append(line(1, 0));
      await under.stream.append(other, [{ ...line(1, 0), taskId: `${other}/0/t1` }]);
      expect(await read()).toHaveLength(1);
      expect((await under.stream.read(other, 0, 10)).entries.map(({ id }) => id)).toEqual([1]);
    });

    it('expires some time after its terminal entry, not before, and the run outlives it', async () => {
      await under.dispose();
      under = await open({ streamMs: 300 });
      await append(chunk(1, 0, 'blue'));
      await pass(under, 350);
      expect(await read()).toHaveLength(1);
      await end();
      expect(await read()).toHaveLength(2);
      await pass(under, 350);
      await until('the stream is gone', async () => (await under.stream.read(runId, 0, 10)).last === 0);
      expect(await append(chunk(1, 4, ' and late'))).toBe('refused');
      expect(await under.store.runs.read(runId)).toMatchObject({ terminal: true });
    });
  });
}
