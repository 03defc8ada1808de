import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withPairs } from '@conclave/contracts';
import type { SearchHit } from '@conclave/ports';
import { isCode } from '@conclave/ports/passages';
import { Sql } from '../database/sql.js';
import { isSqliteError } from '../database/store-failure.js';
import { parseDocument } from './document.js';

/** Raise it with every change of the tables or of document parsing: an older index is rebuilt. */
const indexVersion = 6;
/** Longest time of a transaction, in milliseconds, apart from the step that it ends with. */
const sliceMs = 10;
/** Passages that one step removes. */
const removedAtOnce = 50;
/** The tables of full text. Source code has one of its own, so that its words do not change how rare a word of the documents is. */
type Indexed = 'passage' | 'code';
const tableOf = (path: string): Indexed => (isCode(path) ? 'code' : 'passage');
/** Weights of title, headings and text in the ranking (BM25 per column). */
const ranking = (table: Indexed): string => `bm25(${table}, 4.0, 2.0, 1.0)`;
/** A passage of a few words says little, although BM25 ranks the shortest first if its title or heading has the words of the query. */
const lengthWeight = 'min(1.0, (length(body) + 200) / 400.0)';
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

  /**
   * Removes and adds documents, in transactions of at most about `sliceMs`: nothing else runs in one. A document of which only some
   * passages are written has no stamp, so it is read again if the process ends meanwhile. The passages of one document are found as they
   * are written. Ends early if the index is closed.
   */
  async update(changed: readonly (IndexedFile & { readonly source: string })[], gone: readonly string[]): Promise<void> {
    if (changed.length === 0 && gone.length === 0) return;
    const work = this.changes(changed, gone);
    for (let done = false; !done && this.sql.open;) {
      const until = performance.now() + sliceMs;
      this.hashed = null;
      this.sql.exec('BEGIN IMMEDIATE');
      try {
        while (!done && performance.now() < until) done = work.next().done === true;
        this.sql.exec('COMMIT');
      } catch (error) {
        if (this.sql.inTransaction) this.sql.exec('ROLLBACK');
        throw error;
      }
      await nextTurn();
    }
  }

  /** Best first, of documents or of source code. `expression` comes from `matchExpression`. */
  find(expression: string, limit: number, table: Indexed = 'passage'): readonly SearchHit[] {
    const found = this.sql.all<{ path: string; title: string; url: string | null; section: string; body: string }>(
      `WITH found AS (SELECT rowid AS id, ${ranking(table)} AS score FROM ${table} WHERE ${table} MATCH ? ORDER BY score LIMIT ?),
         hit AS (SELECT id, path, section, body, score * ${lengthWeight} AS score FROM found JOIN passage_of USING (id)),
         once AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY section, body ORDER BY score, path, id) AS copy FROM hit),
         best AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY path ORDER BY score, id) AS place FROM once WHERE copy = 1)
       SELECT path, document.title, document.url, best.section, best.body FROM best JOIN document USING (path)
       WHERE place <= ${passagesPerDocument} ORDER BY score, path, id LIMIT ?`,
      expression,
      limit * 20,
      limit,
    );
    return found.map(({ path, title, url, section, body }) => ({
      title,
      url,
      document: path,
      snippet: section === '' ? body : `${section}: ${body}`,
    }));
  }

  close(): void {
    this.sql.close();
  }

  /** Changes the tables step by step; a transaction may end after each step. */
  private *changes(changed: readonly (IndexedFile & { readonly source: string })[], gone: readonly string[]): Generator<void> {
    for (const path of gone) {
      yield* this.emptied(path);
      this.sql.run('DELETE FROM document WHERE path = ?', path);
    }
    for (const file of changed) yield* this.put(file);
  }

  private *put({ path, stamp, source }: IndexedFile & { readonly source: string }): Generator<void> {
    const hash = createHash('sha256').update(source).digest('hex');
    yield;
    const known = this.sql.get<{ hash: string }>('SELECT hash FROM document WHERE path = ?', path);
    if (known?.hash === hash) {
      this.sql.run('UPDATE document SET stamp = ? WHERE path = ?', stamp, path);
      return;
    }
    yield* this.emptied(path);
    const table = tableOf(path);
    const { title, url, passages } = parseDocument(source, path);
    this.sql.run("INSERT OR REPLACE INTO document (path, stamp, hash, title, url) VALUES (?, '', '', ?, ?)", path, title, url);
    for (const { headings, text } of passages) {
      const { id } = this.sql.get<{ id: number }>(
        'INSERT INTO passage_of (path, section, body) VALUES (?, ?, ?) RETURNING id',
        path,
        sectionOf(headings, text, title),
        text,
      )!;
      const indexed = [title, headings.join(' / '), table === 'code' ? withParts(text) : text].map(withPairs);
      this.sql.run(`INSERT INTO ${table} (rowid, title, heading, body) VALUES (?, ?, ?, ?)`, id, ...indexed);
      yield;
    }
    this.sql.run('UPDATE document SET stamp = ?, hash = ? WHERE path = ?', stamp, hash, path);
    yield;
  }

  /** Removes the passages of a document. */
  private *emptied(path: string): Generator<void> {
    this.sql.run("UPDATE document SET stamp = '', hash = '' WHERE path = ?", path);
    for (;;) {
      const ids = this.sql.all<{ id: number }>('SELECT id FROM passage_of WHERE path = ? LIMIT ?', path, removedAtOnce);
      if (ids.length === 0) return;
      for (const { id } of ids) {
        this.sql.run(`DELETE FROM ${tableOf(path)} WHERE rowid = ?`, id);
        this.sql.run('DELETE FROM passage_of WHERE id = ?', id);
      }
      yield;
    }
  }
}

/** The heading right above a passage, which a hit shows before the text; empty if title or text say it. */
function sectionOf(headings: readonly string[], text: string, title: string): string {
  const section = headings.at(-1) ?? '';
  return section.length > longestSection || title.includes(section) || text.startsWith(section) ? '' : section;
}
const longestSection = 120;

/** A name in source code also as the words that it consists of: `retryDelay` as "retry Delay". */
function withParts(code: string): string {
  const names = new Set(code.match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]*[\p{Ll}\p{N}]\p{Lu}[\p{L}\p{N}]*/gu));
  return `${code}\n${[...names].map((name) => name.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')).join('\n')}`;
}

/** A merge of the index because many of its rows were deleted would take long in a single step; they leave it with the usual merges. */
const created = (table: Indexed): string => `
  CREATE VIRTUAL TABLE ${table} USING fts5 (
    title, heading, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
  );
  INSERT INTO ${table} (${table}, rank) VALUES ('deletemerge', 0);`;

function prepared(path: string): Sql {
  const sql = new Sql(path, 2000);
  try {
    sql.all('PRAGMA journal_mode = WAL');
    sql.exec('PRAGMA synchronous = NORMAL');
    const { user_version: version } = sql.get<{ user_version: number }>('PRAGMA user_version')!;
    if (version === indexVersion) return sql;
    sql.exec(`
      BEGIN IMMEDIATE;
      DROP TABLE IF EXISTS passage; DROP TABLE IF EXISTS code; DROP TABLE IF EXISTS passage_of; DROP TABLE IF EXISTS document;
      CREATE TABLE document (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL, url TEXT) STRICT;
      CREATE TABLE passage_of (id INTEGER PRIMARY KEY, path TEXT NOT NULL, section TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE INDEX passage_by_path ON passage_of (path);
      ${(['passage', 'code'] as const).map(created).join('')}
      PRAGMA user_version = ${indexVersion};
      COMMIT;
    `);
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}
