import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeVectors } from '@conclave/ports/suites';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Database } from '../database/database.js';
import { SqliteVectors } from './sqlite-vectors.js';

const openDatabase = (home: string) => Database.open({ home, durability: 'process', now: Date.now });

describeVectors('SqliteVectors', {
  async open() {
    const database = openDatabase(':memory:');
    return { vectors: new SqliteVectors(database), another: async () => new SqliteVectors(database), dispose: () => database.close() };
  },
  many: 3_000,
});

describe('vectors in a data folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));
  const scope = { tenant: 'acme', collection: 'facts' };
  const records = [{ id: 'a', vector: Float32Array.of(1, 0), text: 'x', metadata: { k: 1 } }];

  it('are still there after the process was killed', async () => {
    const database = openDatabase(`${folder}/one`);
    const vectors = new SqliteVectors(database);
    await vectors.create(scope, 2);
    await vectors.upsert(scope, records);
    copyAsKilled(`${folder}/one`, `${folder}/two`);
    await database.close();
    const after = openDatabase(`${folder}/two`);
    expect(await new SqliteVectors(after).get(scope, ['a'])).toEqual(records);
    await after.close();
  });

  it('throw VECTORS_UNAVAILABLE if the store is closed while they use it', async () => {
    const database = openDatabase(`${folder}/one`);
    const vectors = new SqliteVectors(database);
    await vectors.create(scope, 2);
    await database.close();
    await expect(vectors.count(scope)).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE' });
    await expect(vectors.upsert(scope, records)).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE' });
    expect(await vectors.health()).toContain('closed');
  });

  it('leave nothing of a dropped collection', async () => {
    const database = openDatabase(`${folder}/one`);
    const vectors = new SqliteVectors(database);
    await vectors.create(scope, 2);
    await vectors.upsert(
      scope,
      Array.from({ length: 600 }, (_, n) => ({ ...records[0]!, id: `r${n}` })),
    );
    await vectors.drop(scope);
    const left = database.read((sql) =>
      ['vector_collection', 'vector_record', 'vector_field'].map(
        (table) => sql.get<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`)!.n,
      ),
    );
    expect(left).toEqual([0, 0, 0]);
    await database.close();
  });
});
