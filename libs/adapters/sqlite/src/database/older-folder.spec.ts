import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nthInput } from '@conclave/ports/suites';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';
import { Database, type Tick } from './database.js';
import { migrations } from './migrations.js';

describe('a data folder', () => {
  let home: string;
  const opened: Sqlite[] = [];
  beforeEach(() => {
    home = newFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sqlite) => sqlite.close()));
    removeFolder(home);
  });
  const open = (folder = home): Sqlite => {
    const sqlite = openSqlite({ home: folder, processId: 'standalone', durability: 'process' });
    opened.push(sqlite);
    return sqlite;
  };
  /** Leaves a folder as a program with tables up to `version` does. */
  async function leave(version: number, write: (tick: Tick) => void): Promise<void> {
    const old = Database.open({ home, durability: 'process', now: Date.now, migrations: migrations.slice(0, version) });
    await old.write(write);
    await old.close();
  }
  const insertRun = ({ sql }: Tick) =>
    sql.run(
      `INSERT INTO run (run_id, tenant, accepted_at, version, state, status) VALUES ('run_old', 'acme', 1, 4, '"state"', 'collecting')`,
    );
  const insertRecord = ({ sql }: Tick) =>
    sql.run(`INSERT INTO log (topic, key, event_id, headers, body, appended_at) VALUES ('audit', 'run_old', 'e', '{}', x'7b7d', 1)`);

  it.each([
    [1, 'a run', insertRun],
    [7, 'a run', insertRun],
    [7, 'a record of the log', insertRecord],
  ] as const)(
    'of version %i that contains %s is refused unchanged, with a sentence that says what to do',
    async (version, _what, insert) => {
      await leave(version, insert);
      const files = readdirSync(home);
      expect(() => open()).toThrow(
        expect.objectContaining({
          code: 'DATA_FOLDER_OLDER',
          message: `The data folder holds runs of an older version of Conclave, which this version does not read. Set CONCLAVE_HOME to another folder, or move this one away; the older version still reads it. Its version is ${version}, this program reads from version 9 on.`,
        }) as never,
      );
      expect(readdirSync(home)).toEqual(files);
      const again = Database.open({ home, durability: 'process', now: Date.now, migrations: migrations.slice(0, version) });
      expect(again.read((sql) => sql.get('SELECT MAX(version) AS version FROM schema_version'))).toMatchObject({ version });
      await again.close();
    },
  );

  it('of version 9 that contains a run of its time is converted: the run is listed, its state can be read, and it goes on', async () => {
    const { header, state, ...row } = JSON.parse(
      readFileSync(new URL('./__fixtures__/run-of-version-9.json', import.meta.url), 'utf8'),
    ) as Record<string, unknown> & { run_id: string; tenant: string; version: number; status: string };
    const columns = { ...row, header: JSON.stringify(header), state: JSON.stringify(state) } as Record<string, string | number | null>;
    const names = Object.keys(columns);
    await leave(9, ({ sql }) =>
      sql.run(`INSERT INTO run (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, ...Object.values(columns)),
    );
    const { runs } = open().state;
    const { run_id: runId, tenant, version, status } = row;
    expect(await runs.list({ tenant, limit: 5 })).toMatchObject([{ runId, status, terminal: false }]);
    expect(await runs.header(runId)).toEqual(header);
    expect(await runs.read(runId)).toEqual({ version, state, status, terminal: false });
    const next = { version: 'newer' };
    const event = nthInput(runId, 1);
    const end = { next, outputs: [], entries: [], arm: [], disarm: [], cancels: [], terminal: true, status: 'failed' };
    await runs.commit<unknown>(event, (before) => {
      expect(before).toEqual(state);
      return end;
    });
    expect(await runs.read(runId)).toEqual({ version: version + 1, state: next, status: 'failed', terminal: true });
  });

  it('of version 1 that contains no run gets the new tables, with the present versions of its settings as their history', async () => {
    await leave(1, ({ sql }) =>
      sql.run(`INSERT INTO setting (name, version, value) VALUES ('templates', 3, '{"a":1}'), ('limits', 1, '5')`),
    );
    const { settings } = open().state;
    expect(await settings.list('')).toEqual([
      { name: 'limits', version: 1 },
      { name: 'templates', version: 3 },
    ]);
    const [present] = await settings.versions('templates');
    expect(await settings.readVersion('templates', 3)).toEqual({ ...present, value: { a: 1 } });
    expect(await settings.write('templates', 3, { a: 2 })).toBe(true);
    expect((await settings.versions('templates')).map(({ version }) => version)).toEqual([4, 3]);
    expect(readdirSync(home).filter((name) => /^conclave\.v1\..*\.bak\.db$/.test(name))).toHaveLength(1);
  });

  it('keeps what was acknowledged when the process is killed, except claims of keys', async () => {
    const { settings, caches, scores, once } = open().state;
    const claim = { tenant: 'acme', key: 'k', owner: 'before', ttlMs: 60_000 };
    await caches.write({ tenant: 'acme', key: 'k', value: 'kept', ttlMs: 60_000, tags: ['t'] });
    await caches.removeTagged('acme', 'bad', 60_000);
    await caches.claim(claim);
    await scores.add({ eventId: 'e', tenant: 'acme', updates: [{ category: 'c', model: 'm', positive: 1, negative: 0 }] });
    await once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: null });
    await settings.write('limits', 0, 5);
    await settings.write('limits', 1, 6);
    const life = newFolder();
    copyAsKilled(home, life);
    const heir = open(life).state;
    expect(await heir.caches.read('acme', 'k')).toMatchObject({ value: 'kept', tags: ['t'] });
    expect(await heir.caches.write({ tenant: 'acme', key: 'k2', value: 1, ttlMs: 1_000, tags: ['bad'] })).toBe(false);
    expect(await heir.caches.claim({ ...claim, owner: 'after' })).toBe('mine');
    expect(await heir.scores.add({ eventId: 'e', tenant: 'acme', updates: [] })).toBe(false);
    expect(await heir.once.claim({ tenant: 'acme', name: 'n', holder: 'other', ttlMs: null })).toEqual({ mine: false, holder: 'h' });
    expect((await heir.settings.versions('limits')).map(({ version }) => version)).toEqual([2, 1]);
    await opened.pop()!.close();
    removeFolder(life);
  });
});
