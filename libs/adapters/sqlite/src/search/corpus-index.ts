import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { withPairs } from '@conclave/contracts';
import type { SearchHit } from '@conclave/ports';
import { Sql } from '../database/sql.js';
import { isSqliteError } from '../database/store-failure.js';
import { parseDocument } from './document.js';

/** Raise it with every change of the tables or of document parsing: an older index is rebuilt. */
const indexVersion = 2;
/** Weights of title, headings and text in the ranking (BM25 per column). */
const ranking = 'bm25(passage, 4.0, 2.0, 1.0)';
/** Most hits from one document, so that a long document does not hide the others. */
const passagesPerDocument = 2;

export interface IndexedFile {
  readonly path: string;
  /** Modification time and size; equal stamps mean an unchanged file. */
  readonly stamp: string;
}

/** Full-text index of documents, in its own file: it can be deleted at any time and is rebuilt from the documents. */
export class CorpusIndex {
  /** Until documents change. */
  private hashed: string | null = null;

  private constructor(private readonly sql: Sql) {}

  /** Replaces a broken file, or one of another version, by an empty index. */
  static open(path: string): CorpusIndex {
    try {
      return new CorpusIndex(prepared(path));
    } catch (error) {
      if (path === ':memory:' || !isSqliteError(error)) throw error;
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      return new CorpusIndex(prepared(path));
    }
  }

  files(): readonly IndexedFile[] {
    return this.sql.all<IndexedFile>('SELECT path, stamp FROM document ORDER BY path');
  }

  /** Number of documents. */
  get size(): number {
    return this.sql.get<{ size: number }>('SELECT COUNT(*) AS size FROM document')!.size;
  }

  /** One hash of all documents, by their paths and texts: touching a file does not change it. */
  contents(): string {
    if (this.hashed !== null) return this.hashed;
    const all = createHash('sha256');
    for (const { path, hash } of this.sql.all<{ path: string; hash: string }>('SELECT path, hash FROM document ORDER BY path'))
      all.update(`${path}\0${hash}\n`);
    return (this.hashed = all.digest('hex'));
  }

  /** Adds and removes documents in one transaction. */
  update(changed: readonly (IndexedFile & { readonly source: string })[], gone: readonly string[]): void {
    if (changed.length === 0 && gone.length === 0) return;
    this.hashed = null;
    this.sql.exec('BEGIN IMMEDIATE');
    try {
      for (const path of gone) this.remove(path);
      for (const file of changed) this.put(file);
      this.sql.exec('COMMIT');
    } catch (error) {
      if (this.sql.inTransaction) this.sql.exec('ROLLBACK');
      throw error;
    }
  }

  /** Best first. `expression` comes from `matchExpression`. */
  find(expression: string, limit: number): readonly SearchHit[] {
    return this.sql.all<{ title: string; url: string | null; snippet: string }>(
      `WITH found AS (SELECT rowid AS id, ${ranking} AS score FROM passage WHERE passage MATCH ? ORDER BY score LIMIT ?),
         hit AS (SELECT id, path, body, score FROM found JOIN passage_of USING (id)),
         best AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY path ORDER BY score, id) AS place FROM hit)
       SELECT document.title, document.url, best.body AS snippet FROM best JOIN document USING (path)
       WHERE place <= ${passagesPerDocument} ORDER BY score, path, id LIMIT ?`,
      expression,
      limit * 20,
      limit,
    );
  }

  close(): void {
    this.sql.close();
  }

  private put({ path, stamp, source }: IndexedFile & { readonly source: string }): void {
    const hash = createHash('sha256').update(source).digest('hex');
    const known = this.sql.get<{ hash: string }>('SELECT hash FROM document WHERE path = ?', path);
    if (known?.hash === hash) {
      this.sql.run('UPDATE document SET stamp = ? WHERE path = ?', stamp, path);
      return;
    }
    this.remove(path);
    const { title, url, passages } = parseDocument(source, path.split('/').at(-1)!);
    this.sql.run('INSERT INTO document (path, stamp, hash, title, url) VALUES (?, ?, ?, ?, ?)', path, stamp, hash, title, url);
    for (const { heading, text } of passages) {
      const { id } = this.sql.get<{ id: number }>('INSERT INTO passage_of (path, body) VALUES (?, ?) RETURNING id', path, text)!;
      const indexed = [title, heading, text].map(withPairs);
      this.sql.run('INSERT INTO passage (rowid, title, heading, body) VALUES (?, ?, ?, ?)', id, ...indexed);
    }
  }

  private remove(path: string): void {
    this.sql.run('DELETE FROM passage WHERE rowid IN (SELECT id FROM passage_of WHERE path = ?)', path);
    this.sql.run('DELETE FROM passage_of WHERE path = ?', path);
    this.sql.run('DELETE FROM document WHERE path = ?', path);
  }
}

function prepared(path: string): Sql {
  const sql = new Sql(path, 2000);
  try {
    sql.all('PRAGMA journal_mode = WAL');
    sql.exec('PRAGMA synchronous = NORMAL');
    const { user_version: version } = sql.get<{ user_version: number }>('PRAGMA user_version')!;
    if (version === indexVersion) return sql;
    sql.exec(`
      BEGIN IMMEDIATE;
      DROP TABLE IF EXISTS passage; DROP TABLE IF EXISTS passage_of; DROP TABLE IF EXISTS document;
      CREATE TABLE document (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL, url TEXT) STRICT;
      CREATE TABLE passage_of (id INTEGER PRIMARY KEY, path TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE INDEX passage_by_path ON passage_of (path);
      CREATE VIRTUAL TABLE passage USING fts5 (
        title, heading, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
      );
      PRAGMA user_version = ${indexVersion};
      COMMIT;
    `);
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}
