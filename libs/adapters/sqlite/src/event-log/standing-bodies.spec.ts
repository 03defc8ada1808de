import { commandId, CommandIssued, makeEvent, ownEvent, StepRecorded, type Event } from '@conclave/contracts';
import type { Step } from '@conclave/ports';
import { newRunId } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { join } from 'node:path';
import { Sql } from '../database/sql.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';

const command = (runId: string, text: string): CommandIssued =>
  makeEvent(
    CommandIssued,
    { id: commandId(runId, 1), runId, source: 'gateway', time: 1 },
    { seq: 1, actor: 'me', issuedAt: 1, command: { name: 'steer', text } },
  );
const stepOn = ({ id, runId, type, time, data }: Event, more: object = {}): Event =>
  ownEvent(
    StepRecorded,
    { id: `${runId}/step/1`, runId, source: 'merger', time: 2 },
    {
      version: 1,
      input: { id, type, time, data },
      now: 2,
      facts: [{ kind: 'Noted', ...more }],
      rule: null,
      ruleSentence: null,
      outputs: [],
      hash: 'h',
      stateHash: null,
    },
  );

describe('the record of a step', () => {
  let folder: string;
  let sqlite: Sqlite;
  beforeEach(() => {
    folder = newFolder();
    sqlite = openSqlite({ home: folder, processId: 'one', durability: 'process', prunes: false });
  });
  afterEach(async () => {
    await sqlite.close();
    removeFolder(folder);
  });

  const take = async (input: Event, step: Event): Promise<void> => {
    const made: Step<null> = { next: null, outputs: [step], entries: [], arm: [], disarm: [], cancels: [], terminal: false, status: 'x' };
    await sqlite.state.runs.commit(input, () => made);
    await sqlite.durable();
  };
  const read = async (): Promise<readonly (Event | null)[]> => {
    const events: (Event | null)[] = [];
    for await (const { event } of sqlite.log.read(StepRecorded.topic)) events.push(event);
    return events;
  };
  const rows = (work: (sql: Sql) => unknown): unknown => {
    const sql = new Sql(join(folder, 'conclave.db'), 1_000);
    try {
      return work(sql);
    } finally {
      sql.close();
    }
  };
  const bodyLength = (): number =>
    (rows((sql) => sql.get('SELECT length(body) AS bytes FROM log WHERE topic = ?', StepRecorded.topic)) as { bytes: number }).bytes;

  it.each([
    ['short', 'look at the roof', {}],
    ['longer than a record may be', 'x'.repeat(100_000), {}],
    ['that the step repeats elsewhere', 'ä"\\ \u0000', { text: 'ä"\\ \u0000' }],
  ])('is stored without its input, which is on the log, and is read together with it: %s', async (_what, text, more) => {
    const input = command(newRunId(), text);
    const step = stepOn(input, more);
    await sqlite.log.publish([input]);
    await take(input, step);
    expect(bodyLength()).toBeLessThan(400);
    expect(await read()).toEqual([step]);
    await sqlite.close();
    sqlite = openSqlite({ home: folder, processId: 'one', durability: 'process', prunes: false });
    expect(await read()).toEqual([step]);
  });

  it('contains an input that is not on the log in the same form', async () => {
    const [runId, other] = [newRunId(), newRunId()];
    const input = command(runId, 'look at the roof');
    await take(input, stepOn(input));
    const said = command(other, 'what was said');
    await sqlite.log.publish([said]);
    const taken = command(other, 'what was taken');
    await take(taken, stepOn(taken));
    expect(await read()).toEqual([stepOn(input), stepOn(taken)]);
  });

  it('is stored whole when it contains the mark for the place of its input', async () => {
    const input = command(newRunId(), 'look');
    const step = stepOn(input, { text: '\u0000body\u0000' });
    await sqlite.log.publish([input]);
    await take(input, step);
    expect(await read()).toEqual([step]);
  });

  it('is stored unchanged when it is damaged', async () => {
    const damaged = { ...stepOn(command(newRunId(), 'look')), data: null };
    await sqlite.log.publish([damaged]);
    expect(await read()).toEqual([null]);
  });

  it('cannot be read once its input is gone', async () => {
    const input = command(newRunId(), 'look');
    await sqlite.log.publish([input]);
    await take(input, stepOn(input));
    await sqlite.close();
    rows((sql) => sql.run('DELETE FROM log WHERE topic = ?', CommandIssued.topic));
    sqlite = openSqlite({ home: folder, processId: 'one', durability: 'process', prunes: false });
    expect(await read()).toEqual([null]);
  });
});
