import { join } from 'node:path';
import { systemClock, type Clock, type Folding } from '@conclave/ports';
import { counting, namedOutput, newRunId, nthInput, type Tally } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Sql } from '../database/sql.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';
import { ShiftedClock } from '../__fixtures__/shifted-clock.js';

describe('the steps of a run', () => {
  let folder: string;
  let sqlite: Sqlite;
  const open = () => openSqlite({ home: folder, processId: 'standalone', durability: 'process', prunes: false });
  beforeEach(() => {
    folder = newFolder();
    sqlite = open();
  });
  afterEach(async () => {
    await sqlite.close();
    removeFolder(folder);
  });

  const commit = (runId: string, n: number, by = sqlite.state) => {
    const event = nthInput(runId, n);
    return by.runs.commit<Tally>(event, counting(event, { outputs: [namedOutput(runId, `${n}`)] }));
  };
  const published = async (topic: string): Promise<number> => {
    let found = 0;
    for await (const _record of sqlite.log.read(topic)) found += 1;
    return found;
  };

  it('continue from the state in the file if another process wrote it', async () => {
    const runId = newRunId();
    const other = sqlite.connect('other').state;
    await commit(runId, 1);
    await commit(runId, 2, other);
    await commit(runId, 3);
    expect((await commit(runId, 4, other)).state).toMatchObject({ count: 4 });
    expect(await sqlite.state.runs.read<Tally>(runId)).toMatchObject({ version: 4, state: { count: 4 } });
  });

  it('never continue from a state whose write was undone', async () => {
    const runId = newRunId();
    await commit(runId, 1);
    const event = nthInput(runId, 2);
    const broken = sqlite.state.runs.commit<Tally>(event, (current) => ({
      ...counting(event)(current, { now: 0, version: 1 })!,
      next: { count: 99, seen: [] },
      entries: [
        {
          toJSON: () => {
            throw new Error('no JSON');
          },
        } as never,
      ],
    }));
    await expect(broken).rejects.toThrow('no JSON');
    expect((await commit(runId, 2)).state).toMatchObject({ count: 2 });
  });

  it('refuse a stored state that cannot be read', async () => {
    const runId = newRunId();
    await commit(runId, 1);
    await sqlite.close();
    const file = new Sql(join(folder, 'conclave.db'), 1_000);
    file.run('UPDATE run SET state = ? WHERE run_id = ?', '{"count":', runId);
    file.close();
    sqlite = open();
    await expect(commit(runId, 2)).rejects.toThrow(SyntaxError);
  });

  describe('whose record is on the log', () => {
    const recordOf = (runId: string, version: number) => namedOutput(runId, `step-${version}`);
    const folding: Folding = {
      recordAt: (runId, version) => recordOf(runId, version),
      fold: (_runId, state, record) => {
        const { count, seen } = (state ?? { count: 0, seen: [] }) as Tally;
        return { count: count + 1, seen: [...seen, (record as { actor: string }).actor] };
      },
    };
    const openFolding = (home: string, clock: Clock = systemClock) =>
      openSqlite({ home, processId: 'standalone', durability: 'process', prunes: false, folding, clock });
    const take = (runId: string, n: number, more: { readonly terminal?: boolean; readonly recorded?: boolean } = {}) => {
      const event = nthInput(runId, n);
      const { id, topic, ...rest } = recordOf(runId, n);
      const record = { ...rest, id, topic, data: { ...(rest.data as object), actor: event.id } };
      const outputs = [namedOutput(runId, `out-${n}`), ...(more.recorded === false ? [] : [record])];
      return sqlite.state.runs.commit<Tally>(event, counting(event, { outputs, terminal: more.terminal ?? false }));
    };
    const storedVersion = (home: string, runId: string): number => {
      const file = new Sql(join(home, 'conclave.db'), 1_000);
      const row = file.get<{ version: number }>('SELECT state_version AS version FROM run WHERE run_id = ?', runId);
      file.close();
      return row!.version;
    };
    const dead: string[] = [];
    const killed = async (): Promise<string> => {
      await sqlite.durable();
      const home = newFolder();
      dead.push(home);
      copyAsKilled(folder, home);
      return home;
    };
    beforeEach(async () => {
      await sqlite.close();
      sqlite = openFolding(folder);
    });
    afterEach(() => dead.splice(0).forEach(removeFolder));

    it('leave no state in the file at first, and lose none when the process dies', async () => {
      const runId = newRunId();
      for (const n of [1, 2, 3]) await take(runId, n);
      const home = await killed();
      expect(storedVersion(home, runId)).toBe(0);
      const next = openFolding(home);
      const state = { count: 3, seen: [1, 2, 3].map((n) => nthInput(runId, n).id) };
      expect(await next.state.runs.read(runId)).toEqual({ version: 3, state, status: 'collecting', terminal: false });
      const event = nthInput(runId, 4);
      expect((await next.state.runs.commit<Tally>(event, counting(event))).state).toMatchObject({ count: 4 });
      expect((await next.state.runs.commit<Tally>(nthInput(runId, 2), counting(event))).repeated).toBe(true);
      await next.close();
    });

    it('can be read only by a store that can fold them', async () => {
      const runId = newRunId();
      await take(runId, 1);
      const other = openSqlite({ home: await killed(), processId: 'standalone', durability: 'process', prunes: false });
      await expect(other.state.runs.read(runId)).rejects.toThrow('step 1');
      await other.close();
    });

    it('write their state ten seconds later, however slowly they follow each other, and when the store is closed', async () => {
      await sqlite.close();
      const clock = new ShiftedClock();
      sqlite = openFolding(folder, clock);
      const [runId, other] = [newRunId(), newRunId()];
      const stored: number[] = [];
      for (const n of [1, 2, 3, 4, 5, 6]) {
        await take(runId, n);
        await sqlite.durable();
        stored.push(storedVersion(folder, runId));
        clock.shift(2_000);
      }
      expect(stored).toEqual([0, 0, 0, 0, 0, 6]);
      await take(runId, 7);
      await take(other, 1);
      await sqlite.close();
      expect([storedVersion(folder, runId), storedVersion(folder, other)]).toEqual([7, 1]);
      sqlite = openFolding(folder);
    });

    it('write their state ten seconds later even if no other step follows', async () => {
      await sqlite.close();
      const due: (() => void)[] = [];
      const after: Clock['after'] = (ms, call) => (ms === 10_000 ? (due.push(call), () => undefined) : systemClock.after(ms, call));
      sqlite = openFolding(folder, { ...systemClock, after });
      const runId = newRunId();
      await take(runId, 1);
      await sqlite.durable();
      const before = storedVersion(folder, runId);
      for (const call of due) call();
      await sqlite.durable();
      expect([before, storedVersion(folder, runId)]).toEqual([0, 1]);
    });

    it('write the state of the end immediately, and that of a step without a record', async () => {
      const [runId, other] = [newRunId(), newRunId()];
      await take(runId, 1);
      await take(runId, 2, { terminal: true });
      await take(other, 1, { recorded: false });
      const home = await killed();
      expect([storedVersion(home, runId), storedVersion(home, other)]).toEqual([2, 1]);
      const next = openFolding(home);
      expect(await next.state.runs.read(runId)).toMatchObject({ version: 2, state: { count: 2 }, terminal: true });
      expect(await next.state.runs.read(other)).toMatchObject({ version: 1, state: { count: 1 } });
      await next.close();
    });
  });

  it('are on the log once when their outputs are published after the commit, whatever else is published with them', async () => {
    const runId = newRunId();
    const { outputs } = await commit(runId, 1);
    const [more] = [namedOutput(runId, 'more')];
    await sqlite.log.publish([...outputs, more]);
    await sqlite.log.publish([...outputs, more]);
    expect(await published(more.topic)).toBe(2);
  });
});
