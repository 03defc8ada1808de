import { Failure, withPairs } from '@conclave/contracts';
import {
  byDistance,
  checkChoice,
  checkChoices,
  checkDimension,
  checkedRecords,
  checkIds,
  checkMetadata,
  checkScope,
  checkTenant,
  checkVector,
  clampDistance,
  collectionMissing,
  hitLimit,
  metadataText,
  metadataTexts,
  otherDimension,
  fieldWeights,
  indexedText,
  type TextAnswer,
  type TextQuery,
  type VectorAnswer,
  type VectorChoice,
  type VectorChoices,
  type VectorCollection,
  type VectorMetadata,
  type VectorQuery,
  type VectorRecord,
  type Vectors,
  type VectorScope,
} from '@conclave/ports';
import type { Store } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import type { Statements } from '../database/tick-writer.js';
import { matchExpression } from '../search/match-expression.js';

interface CollectionRow {
  readonly n: number;
  readonly dimension: number;
}

/** Records per queued write; the event loop does other work between two writes. */
const recordsPerWrite = 250;

/**
 * Vectors in the tables of the embedded store. Every search is exact: it compares with each record that passes the filter, which takes
 * about 1.5 ms per 1,000 records of 256 numbers and blocks the process during that time.
 */
export class SqliteVectors implements Vectors {
  private closed = false;

  constructor(private readonly store: Store) {}

  create(scope: VectorScope, dimension: number): Promise<void> {
    return this.guarded(async () => {
      checkScope(scope);
      checkDimension(dimension);
      await this.store.write(({ sql }) => {
        const { tenant, collection } = scope;
        sql.run(
          'INSERT INTO vector_collection (tenant, name, dimension) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          tenant,
          collection,
          dimension,
        );
        const row = rowOf(sql, scope)!;
        if (row.dimension !== dimension) throw otherDimension(collection, row.dimension, dimension);
      });
    });
  }

  upsert(scope: VectorScope, records: readonly VectorRecord[]): Promise<void> {
    return this.guarded(async () => {
      checkScope(scope);
      const known = this.store.read((sql) => rowOf(sql, scope));
      if (!known) throw collectionMissing(scope);
      const checked = checkedRecords(records, known.dimension);
      for (const chunk of chunks(checked)) {
        const some = chunk.map((record) => ({ ...record, vector: blobOf(record.vector) }));
        await this.store.write(({ sql }) => {
          const row = rowOf(sql, scope);
          if (row?.n !== known.n) throw collectionMissing(scope);
          for (const record of some) put(sql, row.n, record);
        });
      }
    });
  }

  query(scope: VectorScope, { vector, limit, where = {}, anyOf, signal }: VectorQuery): Promise<VectorAnswer> {
    return this.guarded(async () => {
      signal?.throwIfAborted();
      checkScope(scope);
      checkMetadata(where, 'where');
      checkChoices(anyOf);
      return this.store.read((sql) => {
        const row = rowOf(sql, scope);
        if (!row) return { hits: [], unknownKeys: Object.keys(where) };
        checkVector(vector, row.dimension);
        const hits = nearest(sql, row, { vector, limit: hitLimit(limit), filter: filterOf(row.n, where, anyOf) });
        const unknownKeys = Object.keys(where).filter(
          (key) => !sql.get('SELECT 1 AS found FROM vector_field WHERE collection = ? AND key = ? LIMIT 1', row.n, key),
        );
        return { hits, unknownKeys };
      });
    });
  }

  match(scope: VectorScope, { words, limit, where = {}, anyOf, signal }: TextQuery): Promise<TextAnswer> {
    return this.guarded(async () => {
      signal?.throwIfAborted();
      checkScope(scope);
      checkMetadata(where, 'where');
      checkChoices(anyOf);
      const expression = matchExpression(words);
      const most = hitLimit(limit);
      return this.store.read((sql) => {
        const row = rowOf(sql, scope);
        return {
          hits:
            row && expression !== null && most > 0
              ? matchesOf(sql, row.n, { expression, limit: most, filter: filterOf(row.n, where, anyOf) })
              : [],
        };
      });
    });
  }

  get(scope: VectorScope, ids: readonly string[]): Promise<readonly VectorRecord[]> {
    return this.guarded(async () => {
      checkScope(scope);
      checkIds(ids);
      return this.store.read((sql) => {
        const row = rowOf(sql, scope);
        if (!row) return [];
        return [...new Set(ids)].flatMap((id): VectorRecord | [] => {
          const found = sql.get<{ vector: unknown; text: string; metadata: string }>(
            'SELECT vector, text, metadata FROM vector_record WHERE collection = ? AND id = ?',
            row.n,
            id,
          );
          return found
            ? { id, vector: vectorOf(found.vector), text: JSON.parse(found.text) as string, metadata: metadataFrom(found.metadata) }
            : [];
        });
      });
    });
  }

  delete(scope: VectorScope, which: VectorChoice): Promise<void> {
    return this.guarded(async () => {
      checkScope(scope);
      checkChoice(which);
      if ('ids' in which) for (const ids of chunks([...new Set(which.ids)])) await this.remove(scope, (sql, n) => numbersOf(sql, n, ids));
      else while (await this.remove(scope, (sql, n) => matching(sql, n, which.where, recordsPerWrite)));
    });
  }

  scrub(): Promise<void> {
    return this.guarded(() => this.store.scrub());
  }

  count(scope: VectorScope): Promise<number> {
    return this.guarded(async () => {
      checkScope(scope);
      return this.store.read((sql) => {
        const row = rowOf(sql, scope);
        return row ? sql.get<{ count: number }>('SELECT COUNT(*) AS count FROM vector_record WHERE collection = ?', row.n)!.count : 0;
      });
    });
  }

  list(tenant: string): Promise<readonly VectorCollection[]> {
    return this.guarded(async () => {
      checkTenant(tenant);
      return this.store.read((sql) => {
        const rows = sql.all<{ name: string; dimension: number }>('SELECT name, dimension FROM vector_collection WHERE tenant = ?', tenant);
        return rows.map(({ name, dimension }) => ({ name, dimension })).sort((a, b) => (a.name < b.name ? -1 : 1));
      });
    });
  }

  drop(scope: VectorScope): Promise<void> {
    return this.guarded(async () => {
      checkScope(scope);
      // The collection row goes first, so that nothing reads it while its records are removed in batches.
      const row = await this.store.write(({ sql }) => {
        const found = rowOf(sql, scope);
        if (found) sql.run('DELETE FROM vector_collection WHERE n = ?', found.n);
        return found;
      });
      if (row) await this.sweep();
    });
  }

  async health(): Promise<string | null> {
    return this.closed ? 'The vectors are closed.' : this.store.health();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  /** Removes the records chosen during the write; returns whether there were any. */
  private remove({ tenant, collection }: VectorScope, choose: (sql: Statements, n: number) => readonly number[]): Promise<boolean> {
    return this.store.write(({ sql }) => {
      const row = rowOf(sql, { tenant, collection });
      const chosen = row ? choose(sql, row.n) : [];
      remove(sql, chosen);
      return chosen.length > 0;
    });
  }

  /** Removes the records of every dropped collection, including interrupted removals. */
  private async sweep(): Promise<void> {
    const dropped = this.store.read((sql) =>
      sql.all<{ n: number }>(
        'SELECT DISTINCT collection AS n FROM vector_record WHERE collection NOT IN (SELECT n FROM vector_collection)',
      ),
    );
    for (const { n } of dropped)
      while (
        await this.store.write(({ sql }) => {
          const some = sql.all<{ n: number }>('SELECT n FROM vector_record WHERE collection = ? LIMIT ?', n, recordsPerWrite);
          remove(
            sql,
            some.map((record) => record.n),
          );
          return some.length > 0;
        })
      );
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('VECTORS_UNAVAILABLE', 'It is closed.');
    try {
      return await work();
    } catch (error) {
      const ofTheStore = error instanceof Failure && error.code.startsWith('STORE_');
      throw ofTheStore ? new Failure('VECTORS_UNAVAILABLE', error.message, { cause: error }) : error;
    }
  }
}

const rowOf = (sql: Statements, { tenant, collection }: VectorScope): CollectionRow | undefined =>
  sql.get<CollectionRow>('SELECT n, dimension FROM vector_collection WHERE tenant = ? AND name = ?', tenant, collection);

const blobOf = (vector: Float32Array): Buffer => {
  const blob = Buffer.allocUnsafe(vector.length * 4);
  vector.forEach((value, at) => blob.writeFloatLE(value, at * 4));
  return blob;
};

const vectorOf = (blob: unknown): Float32Array => {
  const bytes = bytesOf(blob);
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
};

const metadataFrom = (json: string): VectorMetadata => JSON.parse(json) as VectorMetadata;

/** Texts are stored as JSON, because SQLite cuts returned text at a NUL character. */
function put(
  sql: Statements,
  collection: number,
  { id, vector, text, metadata }: Omit<VectorRecord, 'vector'> & { readonly vector: Buffer },
): void {
  const { n } = sql.get<{ n: number }>(
    `INSERT INTO vector_record (collection, id, vector, text, metadata) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (collection, id) DO UPDATE SET vector = excluded.vector, text = excluded.text, metadata = excluded.metadata RETURNING n`,
    collection,
    id,
    vector,
    JSON.stringify(text),
    JSON.stringify(metadata),
  )!;
  sql.run('DELETE FROM vector_field WHERE record = ?', n);
  const { title, heading, body } = indexedText(text, metadata);
  sql.run(
    'INSERT OR REPLACE INTO vector_text (rowid, title, heading, body) VALUES (?, ?, ?, ?)',
    n,
    ...[title, heading, body].map((part) => withPairs(withoutNul(part))),
  );
  for (const [key, value] of metadataTexts(metadata))
    sql.run('INSERT INTO vector_field (collection, key, value, record) VALUES (?, ?, ?, ?)', collection, key, value, n);
}

function remove(sql: Statements, records: readonly number[]): void {
  for (const n of records) {
    sql.run('DELETE FROM vector_field WHERE record = ?', n);
    sql.run('DELETE FROM vector_text WHERE rowid = ?', n);
    sql.run('DELETE FROM vector_record WHERE n = ?', n);
  }
}

const withoutNul = (text: string): string => text.replaceAll('\0', ' ');

/** Records that carry every value; each value is looked up in the index. */
const matches = `SELECT field.record FROM json_each(?) AS wanted CROSS JOIN vector_field AS field
   ON field.key = json_extract(wanted.value, '$[0]') AND field.value = json_extract(wanted.value, '$[1]')
 WHERE field.collection = ? GROUP BY field.record HAVING COUNT(*) = json_array_length(?)`;

function matching(sql: Statements, collection: number, where: VectorMetadata, limit: number): readonly number[] {
  const wanted = JSON.stringify(metadataTexts(where));
  return sql.all<{ record: number }>(`${matches} LIMIT ?`, wanted, collection, wanted, limit).map(({ record }) => record);
}

/** Conditions on a column that contains a record's number, and their parameters. */
interface Filter {
  conditions(column: string): string;
  readonly parameters: readonly (string | number)[];
}

function filterOf(collection: number, where: VectorMetadata, anyOf: VectorChoices | undefined): Filter {
  const wanted = JSON.stringify(metadataTexts(where));
  const all = Object.keys(where).length > 0 ? { sql: `IN (${matches})`, parameters: [wanted, collection, wanted] } : null;
  const some = anyOf && {
    sql: `IN (SELECT record FROM vector_field WHERE collection = ? AND key = ? AND value IN (SELECT value FROM json_each(?)))`,
    parameters: [collection, anyOf.key, JSON.stringify(anyOf.texts.map(metadataText))],
  };
  const used = [all, some].filter((one) => one !== null && one !== undefined);
  return {
    conditions: (column) => used.map(({ sql }) => ` AND ${column} ${sql}`).join(''),
    parameters: used.flatMap(({ parameters }) => parameters),
  };
}

const chunks = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / recordsPerWrite) }, (_, n) => all.slice(n * recordsPerWrite, (n + 1) * recordsPerWrite));

const numbersOf = (sql: Statements, collection: number, ids: readonly string[]): readonly number[] =>
  [...new Set(ids)].flatMap(
    (id) => sql.get<{ n: number }>('SELECT n FROM vector_record WHERE collection = ? AND id = ?', collection, id)?.n ?? [],
  );

const ranking = `bm25(vector_text, ${fieldWeights.map((weight) => weight.toFixed(1)).join(', ')})`;

function matchesOf(
  sql: Statements,
  collection: number,
  { expression, limit, filter }: { readonly expression: string; readonly limit: number; readonly filter: Filter },
): TextAnswer['hits'] {
  return sql
    .all<{ id: string; text: string; metadata: string; score: number }>(
      `SELECT record.id, record.text, record.metadata, -${ranking} AS score
       FROM vector_text CROSS JOIN vector_record AS record ON record.n = vector_text.rowid
       WHERE vector_text MATCH ? AND record.collection = ?${filter.conditions('record.n')} ORDER BY score DESC, record.id LIMIT ?`,
      expression,
      collection,
      ...filter.parameters,
      limit,
    )
    .map(({ id, text, metadata, score }) => ({ id, text: JSON.parse(text) as string, metadata: metadataFrom(metadata), score }));
}

function nearest(
  sql: Statements,
  { n }: CollectionRow,
  { vector, limit, filter }: Pick<VectorQuery, 'vector' | 'limit'> & { readonly filter: Filter },
): VectorAnswer['hits'] {
  if (limit === 0) return [];
  return sql
    .all<{ id: string; text: string; metadata: string; distance: number }>(
      `WITH best AS (SELECT n, id, vector_distance_cos(vector, ?) AS distance FROM vector_record
         WHERE collection = ?${filter.conditions('n')} ORDER BY distance, id LIMIT ?)
       SELECT best.id, distance, text, metadata FROM best JOIN vector_record USING (n)`,
      blobOf(vector),
      n,
      ...filter.parameters,
      limit,
    )
    .map(({ id, text, metadata, distance }) => ({
      id,
      text: JSON.parse(text) as string,
      metadata: metadataFrom(metadata),
      distance: clampDistance(distance),
    }))
    .sort(byDistance);
}
