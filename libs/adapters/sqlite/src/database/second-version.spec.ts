import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { openSqlite, type Sqlite } from '../open-sqlite.js';
import { Database } from './database.js';
import { migrations } from './migrations.js';
import { Sql } from './sql.js';

describe('a data folder of version 1', () => {
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
  /** What a program of version 1 left behind: an open run, and two settings of which one was changed before. */
  async function leaveFirstVersion(): Promise<void> {
    const old = Database.open({ home, durability: 'process', now: Date.now, migrations: migrations.slice(0, 1) });
    await old.write(({ sql }) =>
      sql.run(`INSERT INTO setting (name, version, value) VALUES ('templates', 3, '{"a":1}'), ('limits', 1, '5')`),
    );
    await old.write(({ sql }) =>
      sql.run(
        `INSERT INTO run (run_id, tenant, accepted_at, version, state, status) VALUES ('run_old', 'acme', 1, 4, '"state"', 'collecting')`,
      ),
    );
    await old.close();
  }

  it('is copied, then carries the new tables, with the present versions of its settings as their history', async () => {
    await leaveFirstVersion();
    const before = Date.now();
    const { runs, settings, caches, scores, once } = open().state;
    expect(await runs.read('run_old')).toEqual({ version: 4, state: 'state', status: 'collecting', terminal: false });
    expect(await settings.list('')).toEqual([
      { name: 'limits', version: 1 },
      { name: 'templates', version: 3 },
    ]);
    const [present] = await settings.versions('templates');
    expect(present!.version).toBe(3);
    expect(Math.abs(present!.at - before)).toBeLessThan(60_000);
    expect(await settings.readVersion('templates', 3)).toEqual({ ...present, value: { a: 1 } });
    expect(await settings.write('templates', 3, { a: 2 })).toBe(true);
    expect((await settings.versions('templates')).map(({ version }) => version)).toEqual([4, 3]);
    expect(await caches.write({ tenant: 'acme', key: 'k', value: 1, ttlMs: 1_000, tags: [] })).toBe(true);
    expect(await scores.all('acme')).toEqual([]);
    expect(await once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: null })).toMatchObject({ mine: true });

    const [copy] = readdirSync(home).filter((name) => /^conclave\.v1\..*\.bak\.db$/.test(name));
    const old = new Sql(join(home, copy!), 0);
    expect(old.all('SELECT name, version, value FROM setting ORDER BY name')).toEqual([
      { name: 'limits', version: 1, value: '5' },
      { name: 'templates', version: 3, value: '{"a":1}' },
    ]);
    expect(old.get(`SELECT name FROM sqlite_master WHERE name = 'cache'`)).toBeUndefined();
    old.close();
  });

  it('keeps, once changed, what was acknowledged when the process is killed, except claims of keys', async () => {
    await leaveFirstVersion();
    const { settings, caches, scores, once } = open().state;
    const claim = { tenant: 'acme', key: 'k', owner: 'before', ttlMs: 60_000 };
    await caches.write({ tenant: 'acme', key: 'k', value: 'kept', ttlMs: 60_000, tags: ['t'] });
    await caches.removeTagged('acme', 'bad', 60_000);
    await caches.claim(claim);
    await scores.add({ eventId: 'e', tenant: 'acme', updates: [{ category: 'c', model: 'm', positive: 1, negative: 0 }] });
    await once.claim({ tenant: 'acme', name: 'n', holder: 'h', ttlMs: null });
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
