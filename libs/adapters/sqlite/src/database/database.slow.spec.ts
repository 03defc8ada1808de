import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Child } from '../__fixtures__/killed-child.js';
import { Database, type DatabaseOptions } from './database.js';
import { firstSchema } from './schema.js';
import { Sql } from './sql.js';

describe('Database', () => {
  let root: string;
  const opened: Database[] = [];
  const children: Child[] = [];
  beforeEach(() => {
    root = newFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
    await Promise.all(children.splice(0).map((child) => child.kill()));
    removeFolder(root);
  });

  const open = (home = join(root, 'home'), more: Partial<DatabaseOptions> = {}): Database => {
    const database = Database.open({ home, durability: 'process', now: Date.now, ...more });
    opened.push(database);
    return database;
  };
  const put = (database: Database, name: string, value = '1') =>
    database.write(({ sql }) => sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?)', name, value));
  const names = (database: Database): readonly string[] =>
    database.read((sql) => sql.all<{ name: string }>('SELECT name FROM setting ORDER BY rowid').map(({ name }) => name));

  describe('writing', () => {
    it('combines everything queued in one tick into one transaction, and acknowledges after its commit', async () => {
      const database = open();
      const other = new Sql(join(root, 'home', 'conclave.db'), 1000);
      const order: string[] = [];
      const write = (name: string) =>
        database.write(({ sql, afterCommit }) => {
          sql.run(`INSERT INTO setting (name, version, value) VALUES (?, 1, '1')`, name);
          order.push(`${name} written, others see ${other.all('SELECT 1 FROM setting').length}`);
          afterCommit(() => order.push(`${name} committed, others see ${other.all('SELECT 1 FROM setting').length}`));
        });
      await Promise.all([write('a'), Promise.resolve().then(() => write('b')), write('c')]);
      other.close();
      expect(order).toEqual([
        ...['a', 'c', 'b'].map((name) => `${name} written, others see 0`),
        ...['a', 'c', 'b'].map((name) => `${name} committed, others see 3`),
      ]);
    });

    it('undoes only the write that throws, and skips the callbacks that wait for its commit', async () => {
      const database = open();
      let called = false;
      const failing = database.write(({ sql, afterCommit }) => {
        sql.run(`INSERT INTO setting (name, version, value) VALUES ('half', 1, '1')`);
        afterCommit(() => (called = true));
        throw new TypeError('a bug');
      });
      const outcomes = await Promise.allSettled([put(database, 'before'), failing, put(database, 'before'), put(database, 'after')]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
      expect(outcomes[1]).toMatchObject({ reason: expect.any(TypeError) });
      expect(outcomes[2]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
      expect(names(database)).toEqual(['before', 'after']);
      expect(called).toBe(false);
      expect(database.health()).toBeNull();
    });

    it('returns to each write its own result', async () => {
      const database = open(':memory:');
      expect(await Promise.all([1, 2, 3].map((n) => database.write(() => n)))).toEqual([1, 2, 3]);
    });

    it('refuses a value that would crash the native binding', async () => {
      const database = open(':memory:');
      for (const value of [true, undefined, {}, Symbol('x')]) {
        await expect(database.write(({ sql }) => sql.run('SELECT ?', value as never))).rejects.toThrow(TypeError);
      }
    });

    it('writes everything queued before it closes, and refuses everything afterwards', async () => {
      const database = open();
      const last = put(database, 'last');
      await database.close();
      await database.close();
      await expect(last).resolves.toBe(1);
      await expect(put(database, 'late')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(() => names(database)).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as never);
      expect(database.health()).toEqual(expect.any(String));
      expect(names(open())).toEqual(['last']);
    });
  });

  describe('ordering', () => {
    const order = (database: Database, name: string, value = '1') =>
      database.order(({ sql }) => sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?)', name, value));
    const seenByOthers = (): readonly string[] => {
      const other = new Sql(join(root, 'home', 'conclave.db'), 1000);
      const seen = other.all<{ name: string }>('SELECT name FROM setting ORDER BY rowid').map(({ name }) => name);
      other.close();
      return seen;
    };

    it('shows a write to the whole process immediately, and to others when its tick is durable', async () => {
      const database = open();
      const said: string[] = [];
      await database.order(({ sql, afterWrite, afterCommit }) => {
        sql.run(`INSERT INTO setting (name, version, value) VALUES ('a', 1, '1')`);
        afterWrite(() => said.push('written'));
        afterCommit(() => said.push('committed'));
      });
      await order(database, 'b');
      expect([names(database), seenByOthers(), said]).toEqual([['a', 'b'], [], ['written']]);
      await database.durable();
      expect([seenByOthers(), said]).toEqual([
        ['a', 'b'],
        ['written', 'committed'],
      ]);
    });

    it('combines all writes of a tick, ordered and queued, into one transaction, and opens none for a tick that only reads', async () => {
      let committed = 0;
      const counter = { statement: () => undefined, committed: () => void (committed += 1), stateStored: () => undefined };
      const database = open(undefined, { counter });
      await Promise.all([order(database, 'a'), put(database, 'c'), order(database, 'b')]);
      expect([names(database), committed]).toEqual([['a', 'b', 'c'], 1]);
      await database.order(({ sql }) => sql.get('SELECT 1 AS one'));
      await database.durable();
      expect(committed).toBe(1);
    });

    it('undoes only the write that throws, and keeps what was built on the others', async () => {
      const database = open();
      await order(database, 'before');
      const failing = database.order(({ sql }) => {
        sql.run(`INSERT INTO setting (name, version, value) VALUES ('half', 1, '1')`);
        throw new TypeError('a bug');
      });
      await expect(failing).rejects.toThrow('a bug');
      await expect(order(database, 'before')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
      await order(database, 'after');
      await database.durable();
      expect([names(database), seenByOthers(), database.health()]).toEqual([['before', 'after'], ['before', 'after'], null]);
    });

    it('repeats writes for which the disk had no room until they are stored, and accepts no others in the meantime', async () => {
      const database = open();
      await put(database, 'long ago');
      const limit = (pages: number) => database.read((sql) => sql.all(`PRAGMA max_page_count = ${pages}`));
      await order(database, 'small');
      limit(1);
      const large = order(database, 'large', 'x'.repeat(200_000));
      let isDurable = false;
      const durable = database.durable().then(() => (isDurable = true));
      await expect(large).rejects.toMatchObject({ code: 'STORE_FULL' });
      await expect(order(database, 'later', 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'STORE_FULL' });
      await expect(put(database, 'queued', 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'STORE_FULL' });
      limit(1_000_000);
      await durable;
      await order(database, 'after', 'x'.repeat(200_000));
      await database.durable();
      expect([isDurable, seenByOthers(), database.health()]).toEqual([true, ['long ago', 'small', 'after'], null]);
    });

    it('tells readers that the disk is full instead of letting them wait until there is room', async () => {
      const database = open();
      await put(database, 'long ago');
      const limit = (pages: number) => database.read((sql) => sql.all(`PRAGMA max_page_count = ${pages}`));
      limit(1);
      database.beforeCommit({}, (sql) => sql.run(`INSERT INTO setting (name, version, value) VALUES ('large', 1, ?)`, 'x'.repeat(200_000)));
      const writer = database.durable().then(
        () => 'durable',
        () => 'refused',
      );
      await expect(database.committed()).rejects.toMatchObject({ code: 'STORE_FULL' });
      await expect(database.committed()).rejects.toMatchObject({ code: 'STORE_FULL' });
      limit(1_000_000);
      expect(await writer).toBe('durable');
      await expect(database.committed()).resolves.toBeUndefined();
      expect(seenByOthers()).toEqual(['long ago', 'large']);
    });

    it('reports at the next opening whether the previous one was closed', async () => {
      const first = open();
      await order(first, 'a');
      await first.durable();
      const killed = join(root, 'killed');
      copyAsKilled(join(root, 'home'), killed);
      await first.close();
      expect([first.diedBefore, open(killed).diedBefore, open().diedBefore]).toEqual([false, true, false]);
    });

    it('commits open writes when it is closed', async () => {
      const first = open();
      const ordered = order(first, 'last');
      const durable = first.durable();
      await first.close();
      await expect(Promise.all([ordered, durable])).resolves.toEqual([1, undefined]);
      expect(names(open())).toEqual(['last']);
    });
  });

  describe('a full disk', () => {
    it('is reported as STORE_FULL, acknowledges nothing, loses nothing, and ends when there is room', async () => {
      const database = open();
      await put(database, 'before');
      const limit = (pages: number) => database.read((sql) => sql.all(`PRAGMA max_page_count = ${pages}`));
      limit(1);
      const outcomes = await Promise.allSettled(Array.from({ length: 4 }, (_, n) => put(database, `full ${n}`, 'x'.repeat(200_000))));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORE_FULL' } });
      expect(names(database)).toEqual(['before']);
      expect(database.health()).toContain('store is full');
      limit(1_000_000);
      await put(database, 'after', 'x'.repeat(200_000));
      expect(database.health()).toBeNull();
      expect(names(database)).toEqual(['before', 'after']);
    });
  });

  describe('durability', () => {
    it('keeps every acknowledged tick of a killed process, and each tick whole', async () => {
      const home = join(root, 'home');
      const child = new Child('acknowledging-writer.ts', home);
      children.push(child);
      await child.said(300);
      await child.kill();
      const acknowledged = child.lines.length;
      const kept = new Map<string, number>();
      for (const name of names(open(home))) kept.set(name.split('.')[0]!, (kept.get(name.split('.')[0]!) ?? 0) + 1);
      expect(new Set(kept.values())).toEqual(new Set([5]));
      const ticks = [...kept.keys()].map(Number);
      expect(ticks).toEqual(Array.from({ length: ticks.length }, (_, n) => n + 1));
      // One tick may have been committed and not yet acknowledged.
      expect([acknowledged, acknowledged + 1]).toContain(ticks.length);
    });

    it('reads exactly the ticks before a torn tail, wherever it was torn', async () => {
      const home = join(root, 'home');
      const database = open(home);
      const ticks = 40;
      const walBytes = () => readFileSync(join(home, 'conclave.db-wal')).byteLength;
      const before = walBytes();
      for (let n = 0; n < ticks; n += 1) await Promise.all([put(database, `${n}.a`), put(database, `${n}.b`)]);
      const whole = walBytes();
      const found: number[] = [];
      const cuts = 30;
      for (let cut = 0; cut <= cuts; cut += 1) {
        const torn = join(root, `torn ${cut}`);
        copyAsKilled(home, torn);
        truncateSync(join(torn, 'conclave.db-wal'), before + Math.floor(((whole - before) * cut) / cuts));
        const copy = open(torn);
        const present = names(copy);
        expect(present).toEqual(Array.from({ length: present.length / 2 }, (_, n) => [`${n}.a`, `${n}.b`]).flat());
        found.push(present.length / 2);
        await put(copy, 'and goes on');
        await copy.close();
      }
      expect(found).toEqual([...found].sort((a, b) => a - b));
      expect([found[0], found.at(-1)]).toEqual([0, ticks]);
      expect(new Set(found).size).toBeGreaterThan(20);
    });

    it('reads the ticks before damaged bytes', async () => {
      const home = join(root, 'home');
      const database = open(home);
      for (let n = 0; n < 20; n += 1) await put(database, `${n}`);
      const torn = join(root, 'damaged');
      copyAsKilled(home, torn);
      const path = join(torn, 'conclave.db-wal');
      const bytes = readFileSync(path);
      bytes.fill(0xa5, bytes.byteLength - 9_000);
      writeFileSync(path, bytes);
      const present = names(open(torn));
      expect(present).toEqual(Array.from({ length: present.length }, (_, n) => `${n}`));
      expect(present.length).toBeGreaterThan(10);
      expect(present.length).toBeLessThan(20);
    });

    it('syncs every commit to the disk when a power failure must lose nothing', () => {
      const level = (database: Database) => database.read((sql) => sql.get<{ synchronous: number }>('PRAGMA synchronous')!.synchronous);
      expect(level(open(join(root, 'process')))).toBe(1);
      expect(level(open(join(root, 'power'), { durability: 'power' }))).toBe(2);
    });
  });

  describe('the data folder', () => {
    it('is refused with what to do if its file is damaged', () => {
      const home = join(root, 'home');
      mkdirSync(home);
      writeFileSync(join(home, 'conclave.db'), 'no database, and long enough to be read as the head of one: '.repeat(100));
      expect(() => open(home)).toThrow(
        /SQLITE_NOTADB: .* is damaged\. Restore a backup \(`conclave restore .* begin a new folder with CONCLAVE_HOME\./,
      );
    });

    it('is refused to a second user in the same process, with the name of the owner', async () => {
      const first = open();
      expect(() => open()).toThrow(
        expect.objectContaining({ code: 'DATA_FOLDER_IN_USE', message: expect.stringContaining(`process ${process.pid}`) }) as never,
      );
      await put(first, 'still works');
      await first.close();
      expect(names(open())).toEqual(['still works']);
    });

    it('is refused while another process uses it, and taken over immediately when that process was killed', async () => {
      const home = join(root, 'home');
      const child = new Child('acknowledging-writer.ts', home);
      children.push(child);
      await child.said(1);
      expect(() => open(home)).toThrow(
        expect.objectContaining({ code: 'DATA_FOLDER_IN_USE', message: expect.stringContaining(`process ${child.pid},`) }) as never,
      );
      await child.said(50);
      await child.kill();
      expect(existsSync(join(home, 'conclave.lock'))).toBe(true);
      expect(names(open(home)).length).toBeGreaterThanOrEqual(250);
    });

    it('counts its openings', async () => {
      const first = open();
      await first.close();
      expect(open().opening).toBeGreaterThan(first.opening);
    });

    it('that cannot be used is reported as unavailable', () => {
      writeFileSync(join(root, 'file'), 'not a folder');
      expect(() => open(join(root, 'file'))).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as never);
      expect(() => open(join(root, 'file', 'below'))).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as never);
    });
  });

  describe('migrations', () => {
    const one = { version: 1, sql: firstSchema };
    const two = { version: 2, sql: 'ALTER TABLE setting ADD COLUMN note TEXT; CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;' };
    const backups = (home: string) => readdirSync(home).filter((name) => name.endsWith('.bak.db'));

    it('bring an older folder to the newest version after copying it', async () => {
      const home = join(root, 'home');
      const old = open(home, { migrations: [one] });
      await put(old, 'kept');
      await old.close();
      expect(backups(home)).toEqual([]);
      const migrated = open(home, { migrations: [one, two] });
      expect(migrated.read((sql) => sql.all('SELECT name, note FROM setting'))).toEqual([{ name: 'kept', note: null }]);
      expect(backups(home)).toEqual([expect.stringMatching(/^conclave\.v1\.\d{4}-\d\d-\d\dT.*\.bak\.db$/)]);
      const copy = new Sql(join(home, backups(home)[0]!), 0);
      expect(copy.all('SELECT name FROM setting')).toEqual([{ name: 'kept' }]);
      expect(copy.get<{ version: number }>('SELECT MAX(version) AS version FROM schema_version')!.version).toBe(1);
      copy.close();
      await migrated.close();
      await open(home, { migrations: [one, two] }).close();
      expect(backups(home)).toHaveLength(1);
    });

    it('refuse a folder of a newer program and leave it unchanged', async () => {
      const home = join(root, 'home');
      await open(home, { migrations: [one, two] }).close();
      expect(() => open(home, { migrations: [one] })).toThrow(expect.objectContaining({ code: 'DATA_FOLDER_NEWER' }) as never);
      const again = open(home, { migrations: [one, two] });
      expect(again.read((sql) => sql.all('SELECT version FROM schema_version'))).toEqual([{ version: 1 }, { version: 2 }]);
    });

    it('refuse a folder whose records of an older version can no longer be read, and leave it unchanged', async () => {
      const home = join(root, 'home');
      const old = open(home, { migrations: [one] });
      await put(old, 'kept');
      await old.close();
      const barrier = { ...two, refusesOlder: ['setting'] };
      const three = { version: 3, sql: 'CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;' };
      expect(() => open(home, { migrations: [one, barrier, three] })).toThrow(
        expect.objectContaining({
          code: 'DATA_FOLDER_OLDER',
          message: expect.stringContaining('Its version is 1, this program reads from version 2 on.'),
        }) as never,
      );
      expect(backups(home)).toEqual([]);
      const again = open(home, { migrations: [one] });
      expect(again.read((sql) => sql.all('SELECT name, version, value FROM setting'))).toEqual([{ name: 'kept', version: 1, value: '1' }]);
    });

    it('upgrade a folder without such records, and one that was written after that version', async () => {
      const home = join(root, 'home');
      await open(home, { migrations: [one] }).close();
      const barrier = { ...two, refusesOlder: ['setting', 'extra'] };
      const migrated = open(home, { migrations: [one, barrier] });
      await put(migrated, 'kept');
      await migrated.close();
      const again = open(home, { migrations: [one, barrier, { version: 3, sql: 'CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;' }] });
      expect(again.read((sql) => sql.all('SELECT name FROM setting'))).toEqual([{ name: 'kept' }]);
    });

    it('leave the old version intact if a step fails', async () => {
      const home = join(root, 'home');
      const old = open(home, { migrations: [one] });
      await put(old, 'kept');
      await old.close();
      const broken = { version: 2, sql: 'ALTER TABLE setting ADD COLUMN note TEXT; CREATE TABLE oops (;' };
      expect(() => open(home, { migrations: [one, broken] })).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as never);
      const again = open(home, { migrations: [one] });
      expect(again.read((sql) => sql.all('SELECT * FROM setting'))).toEqual([{ name: 'kept', version: 1, value: '1' }]);
    });
  });
});
