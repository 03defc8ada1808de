import { join } from 'node:path';
import { counting, namedOutput, newRunId, nthInput, type Tally } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Sql } from '../database/sql.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';

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

  it('go on from the state in the file when another one wrote it', async () => {
    const runId = newRunId();
    const other = sqlite.connect('other').state;
    await commit(runId, 1);
    await commit(runId, 2, other);
    await commit(runId, 3);
    expect((await commit(runId, 4, other)).state).toMatchObject({ count: 4 });
    expect(await sqlite.state.runs.read<Tally>(runId)).toMatchObject({ version: 4, state: { count: 4 } });
  });

  it('never go on from a state whose write was undone', async () => {
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

  it('are on the log once when their outputs are published after the commit, whatever else is published with them', async () => {
    const runId = newRunId();
    const { outputs } = await commit(runId, 1);
    const [more] = [namedOutput(runId, 'more')];
    await sqlite.log.publish([...outputs, more]);
    await sqlite.log.publish([...outputs, more]);
    expect(await published(more.topic)).toBe(2);
  });
});
