import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CallRecorded, ownEvent, type Event } from '@conclave/contracts';
import { systemClock } from '@conclave/ports';
import { newRunId } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Database } from '../database/database.js';
import { migrations } from '../database/migrations.js';
import { Sql } from '../database/sql.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';
import { packedFromBytes } from './packed-body.js';

const prompt = 'You are an expert. "Say" plainly\nwhat you do not know. '.repeat(10);
const hour = 60 * 60 * 1000;

let calls = 0;
function call(system: unknown, content: string, more: object = {}): Event {
  const runId = newRunId();
  calls += 1;
  return ownEvent(
    CallRecorded,
    { id: `${runId}/0/x1/call/0/${calls}`, runId, source: 'experts', time: 1 },
    {
      step: `${runId}/0/x1/call/0`,
      attempt: calls,
      purpose: 'expert.general',
      model: 'm@p',
      reportedModel: null,
      status: 'ok',
      requestHash: 'h',
      request: {
        model: 'm@p',
        messages: [
          { role: 'system', content: system },
          { role: 'user', content },
        ],
        ...more,
      },
      reply: null,
      failure: null,
      usage: { calls: 1, prompt: 1, completion: 1, reasoning: 0, cost: 0, estimated: false },
      startedAt: 1,
      durationMs: 1,
      firstTokenMs: null,
    },
  );
}

describe('the record of a call', () => {
  let folder: string;
  let sqlite: Sqlite;
  let now: number;
  const open = (): Sqlite =>
    openSqlite({
      home: folder,
      processId: 'one',
      durability: 'process',
      prunes: false,
      clock: { ...systemClock, now: () => now },
    });
  beforeEach(() => {
    now = 1_000_000;
    folder = newFolder();
    sqlite = open();
  });
  afterEach(async () => {
    await sqlite.close();
    removeFolder(folder);
  });

  const read = async (): Promise<readonly (Event | null)[]> => {
    const events: (Event | null)[] = [];
    for await (const { event } of sqlite.log.read(CallRecorded.topic)) events.push(event);
    return events;
  };
  /** Reads what was published, by this process and by the next. */
  async function expectRead(events: readonly (Event | null)[]): Promise<void> {
    expect(await read()).toEqual(events);
    await sqlite.close();
    sqlite = open();
    expect(await read()).toEqual(events);
  }
  const rows = <T>(source: string): readonly T[] => {
    const sql = new Sql(join(folder, 'conclave.db'), 1_000);
    try {
      return sql.all<T>(source);
    } finally {
      sql.close();
    }
  };
  const stored = (): readonly number[] =>
    rows<{ bytes: number }>('SELECT coalesce(length(body), 0) + coalesce(length(packed), 0) AS bytes FROM log ORDER BY seq').map(
      ({ bytes }) => bytes,
    );

  it('with a long body is deflated, and read back unchanged', async () => {
    const events = [call('', 'Which town is it? '.repeat(200)), call('', 'ä "quoted" \u0000 '.repeat(200))];
    await sqlite.log.publish(events);
    for (const bytes of stored()) expect(bytes).toBeLessThan(packedFromBytes / 4);
    await expectRead(events);
  });

  it('with a short body, or one that deflating does not shrink, stays unchanged', async () => {
    const short = call('', 'Which town is it?');
    await sqlite.log.publish([short]);
    const noise = { topic: CallRecorded.topic, key: null, headers: { a: 'b' }, raw: randomBytes(packedFromBytes) };
    await sqlite.log.publishRaw!(noise);
    expect(rows('SELECT body IS NULL AS moved, packed FROM log')).toEqual([
      { moved: 0, packed: null },
      { moved: 0, packed: null },
    ]);
    for await (const { raw, headers } of sqlite.log.read(CallRecorded.topic)) if (headers['a']) expect(raw).toEqual(noise.raw);
  });

  it('whose deflated body was damaged in the file is the only one that cannot be read', async () => {
    const events = [call('', 'x'.repeat(packedFromBytes)), call('', 'y'.repeat(packedFromBytes))];
    await sqlite.log.publish(events);
    await sqlite.close();
    const sql = new Sql(join(folder, 'conclave.db'), 1_000);
    sql.run('UPDATE log SET packed = ? WHERE event_id = ?', Buffer.from('damaged'), events[0]!.id);
    sql.close();
    sqlite = open();
    expect(await read()).toEqual([null, events[1]]);
  });

  it('omits a system prompt that an earlier record contained, and is read together with it', async () => {
    const events = [1, 2, 3].map((n) => call(prompt, `Question ${n}`, { temperature: n }));
    for (const event of events) await sqlite.log.publish([event]);
    const [first, second, third] = stored();
    expect(first! - second!).toBeGreaterThan(prompt.length);
    expect(third).toBe(second);
    expect(rows('SELECT sha256 FROM blob')).toHaveLength(1);
    await expectRead(events);
  });

  it.each([
    ['that occurs once', (n: number) => `${prompt} ${n}`],
    ['that is short', () => 'You are an expert.'],
    ['that is long', () => 'x'.repeat(20_000)],
    ['of parts', () => [{ type: 'text', text: prompt }]],
  ])('contains a system prompt %s', async (_which, system) => {
    const events = [1, 2].map((n) => call(system(n), `Question ${n}`));
    await sqlite.log.publish(events);
    expect(rows('SELECT sha256 FROM blob')).toEqual([]);
    await expectRead(events);
  });

  it('is stored whole when it contains the mark for the place of the prompt', async () => {
    const events = [1, 2, 3].map((n) => call(prompt, `\u0000body\u0000 ${n}`));
    await sqlite.log.publish(events);
    await expectRead(events);
  });

  it('is stored unchanged when it is damaged or shows no prompts', async () => {
    const whole = call(prompt, 'Question');
    const without = { ...whole, id: `${whole.id}0`, data: { ...(whole.data as CallRecorded['data']), request: null } };
    const damaged = { ...whole, id: `${whole.id}1`, data: null };
    const odd = { ...whole, id: `${whole.id}2`, data: { ...(whole.data as CallRecorded['data']), request: { messages: [null] } } };
    await sqlite.log.publish([without, damaged as never, odd] as Event[]);
    await expectRead([without, null, odd] as Event[]);
  });

  it('keeps its prompt for as long as records refer to it: the retention starts again with those of a later hour', async () => {
    const at = (): number | undefined => rows<{ at: number }>('SELECT at FROM blob')[0]?.at;
    await sqlite.log.publish([call(prompt, '1')]);
    await sqlite.log.publish([call(prompt, '2')]);
    expect(at()).toBe(1_000_000);
    now += hour - 1;
    await sqlite.log.publish([call(prompt, '3')]);
    expect(at()).toBe(1_000_000);
    now += 1;
    await sqlite.log.publish([call(prompt, '4')]);
    expect(at()).toBe(1_000_000 + hour);
  });

  it('of version 10 of the tables is read beside newer ones', async () => {
    const events = [call(prompt, 'x'.repeat(packedFromBytes)), call(prompt, 'y'.repeat(packedFromBytes))];
    await sqlite.close();
    removeFolder(folder);
    folder = newFolder();
    const older = Database.open({ home: folder, durability: 'process', now: () => now, migrations: migrations.slice(0, 10) });
    const [{ topic, key, id, runId, type, source, time, data }] = events as [Event];
    const headers = JSON.stringify([type, source, time]);
    expect(key).toBe(runId);
    await older.write(({ sql }) =>
      sql.run(
        'INSERT INTO log (topic, key, event_id, headers, body, appended_at) VALUES (?, ?, ?, ?, ?, 1)',
        ...[topic, key, id, headers, Buffer.from(JSON.stringify(data))],
      ),
    );
    await older.close();
    sqlite = open();
    await sqlite.log.publish([events[1]!]);
    await expectRead(events);
  });
});
