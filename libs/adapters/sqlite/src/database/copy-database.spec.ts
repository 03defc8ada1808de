import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyDatabase, holdingFolder, inspectDatabase } from './copy-database.js';
import { Database } from './database.js';
import { migrations } from './migrations.js';
import { Sql } from './sql.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-copy-database-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => Database.open({ home: folder, durability: 'process', now: () => 1 });
const marked = (file: string): number => {
  const sql = new Sql(file, 100);
  try {
    return sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM identity WHERE store_id LIKE 'row%'")!.n;
  } finally {
    sql.close();
  }
};

describe('the copy of a store', () => {
  it('contains everything acknowledged, even while its owner keeps writing, and leaves the original unchanged', async () => {
    const database = open();
    await database.write(({ sql }) => sql.run("INSERT INTO identity (side, store_id, generation) VALUES ('log', 'row1', 1)"));
    const target = join(folder, 'copy.db');
    copyDatabase(folder, target);
    await database.write(({ sql }) => sql.run("INSERT INTO identity (side, store_id, generation) VALUES ('state', 'row2', 1)"));
    expect([marked(target), inspectDatabase(target)]).toEqual([
      1,
      { version: migrations.at(-1)!.version, readable: true, damage: null, runs: 0 },
    ]);
    // Overwritten by a later copy.
    copyDatabase(folder, target);
    expect(marked(target)).toBe(2);
    expect(database.health()).toBeNull();
    await database.close();
  });

  it('is refused when there is no store, and a file of a newer version or another kind is reported', async () => {
    expect(() => copyDatabase(folder, join(folder, 'copy.db'))).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }));
    expect(existsSync(join(folder, 'copy.db'))).toBe(false);
    await open().close();
    const file = join(folder, 'conclave.db');
    const sql = new Sql(file, 100);
    sql.run('INSERT INTO schema_version (version, applied_at) VALUES (999, 1)');
    sql.close();
    expect(inspectDatabase(file)).toMatchObject({ version: 999, readable: false });
    writeFileSync(file, 'no database');
    expect(() => inspectDatabase(file)).toThrow(/not a store of Conclave, or it is damaged/);
  });

  it('is put in place only while no process owns the folder', async () => {
    const database = open();
    await expect(holdingFolder(folder, new Date(), () => 'held')).rejects.toMatchObject({ code: 'DATA_FOLDER_IN_USE' });
    await database.close();
    expect(await holdingFolder(folder, new Date(), () => 'held')).toBe('held');
  });
});
