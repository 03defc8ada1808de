import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@conclave/ports';
import { Failure } from '@conclave/contracts';
import { makePrivate, refuseLogAlone } from './data-files.js';
import { FolderLock } from './folder-lock.js';
import { migrate, migrations, type Migration } from './migrations.js';
import { Sql } from './sql.js';
import type { StoreCounter } from './store-counter.js';
import { isSqliteError, storeFailure } from './store-failure.js';
import { TickWriter, type Statements, type Tick } from './tick-writer.js';

export type { Statements, Tick } from './tick-writer.js';

export interface DatabaseOptions {
  /** Data folder; `:memory:` keeps everything in the process. */
  readonly home: string;
  /** What an acknowledged write survives: the death of the process (`synchronous=NORMAL`), or also a power failure (`FULL`). */
  readonly durability: 'process' | 'power';
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly logger?: StoreLogger;
  readonly migrations?: readonly Migration[];
  readonly counter?: StoreCounter;
}

export interface StoreLogger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const busyTimeoutMs = 2000;
/** Pages of 4 KB: 64 MB take a fraction of a second. */
const pagesRewrittenAtOnce = 16_384;
/** `user_version` of a file that is rewritten at the next start. */
const owesScrub = 1;

/** What the adapters use: the database, or one user's view of it that can be closed alone. */
export type Store = Pick<
  Database,
  'opening' | 'diedBefore' | 'write' | 'order' | 'beforeCommit' | 'durable' | 'committed' | 'read' | 'scrub' | 'health'
>;

/** One of several users of a database inside the process. `close` closes only this view. */
export class DatabaseView implements Store {
  private closed = false;
  readonly opening: number;
  readonly diedBefore: boolean;

  constructor(private readonly database: Database) {
    this.opening = database.opening;
    this.diedBefore = database.diedBefore;
  }

  write<T>(write: (tick: Tick) => T): Promise<T> {
    return this.closed ? Promise.reject(closedFailure()) : this.database.write(write);
  }

  order<T>(write: (tick: Tick) => T): Promise<T> {
    return this.closed ? Promise.reject(closedFailure()) : this.database.order(write);
  }

  beforeCommit(owner: object, write: (sql: Statements) => void): void {
    this.database.beforeCommit(owner, write);
  }

  durable(): Promise<void> {
    return this.database.durable();
  }

  committed(): Promise<void> {
    return this.database.committed();
  }

  read<T>(read: (sql: Sql) => T): T {
    if (this.closed) throw closedFailure();
    return this.database.read(read);
  }

  async scrub(): Promise<void> {
    if (this.closed) throw closedFailure();
    return this.database.scrub();
  }

  health(): string | null {
    return this.closed ? closedFailure().message : this.database.health();
  }

  close(): void {
    this.closed = true;
  }
}

const closedFailure = (): Failure => new Failure('STORE_UNAVAILABLE', 'It is closed.');

/**
 * The embedded store: one file, one connection, one process. All writes of one tick of the event loop form one transaction; of these, only
 * a write that throws is rolled back. `order` acknowledges at once: later writes are committed with it or after it. `write` acknowledges
 * after the commit.
 */
export class Database {
  private readonly sql: Sql;
  private readonly lock: FolderLock | null;
  private readonly writer: TickWriter;
  private closed = false;
  /** Counts the openings of the file, from 1: anything an earlier opening left unfinished is dead. */
  readonly opening: number;
  /** Whether the previous opening was never closed: its process died. */
  readonly diedBefore: boolean;

  private constructor(
    sql: Sql,
    lock: FolderLock | null,
    now: number,
    readonly counter?: StoreCounter,
  ) {
    this.sql = sql;
    this.lock = lock;
    this.writer = new TickWriter(sql, counter);
    this.diedBefore = sql.get('SELECT 1 AS found FROM opening') !== undefined;
    sql.run('INSERT INTO opening (at) VALUES (?)', now);
    sql.run('DELETE FROM opening WHERE n < (SELECT MAX(n) FROM opening)');
    this.opening = sql.get<{ n: number }>('SELECT MAX(n) AS n FROM opening')!.n;
  }

  /** Throws Failure DATA_FOLDER_IN_USE, DATA_FOLDER_NEWER, DATA_FOLDER_OLDER, STORE_FULL, STORE_UNAVAILABLE. */
  static open(options: DatabaseOptions): Database {
    const { home, durability, now } = options;
    const inMemory = home === ':memory:';
    let lock: FolderLock | null = null;
    let sql: Sql | null = null;
    try {
      if (!inMemory) {
        makeFolder(home, 0o700);
        lock = FolderLock.take(join(home, 'conclave.lock'), home, new Date(now()));
        refuseLogAlone(home);
        makePrivate(join(home, 'conclave.db'));
      }
      sql = new Sql(inMemory ? ':memory:' : join(home, 'conclave.db'), busyTimeoutMs, options.counter);
      sql.all('PRAGMA journal_mode = WAL');
      sql.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
      sql.exec('PRAGMA cache_size = -16000');
      sql.all('PRAGMA secure_delete = ON');
      sql.all('PRAGMA journal_size_limit = 67108864');
      const opened = sql;
      migrate(sql, options.migrations ?? migrations, now(), (oldVersion) => {
        if (inMemory) return;
        const copy = backUp(opened, home, oldVersion, now());
        options.logger?.info('The data folder is older than this program: it was copied before its tables are changed.', {
          copy,
          oldVersion,
        });
      });
      const owing = sql.get<{ user_version: number }>('PRAGMA user_version')?.user_version === owesScrub;
      const database = new Database(sql, lock, now(), options.counter);
      if (owing) database.rewrite();
      return database;
    } catch (error) {
      sql?.close();
      lock?.release();
      throw inMemory ? storeFailure(error, home) : openingFailure(error, home);
    }
  }

  /**
   * Queues a synchronous write. Resolves with its result after the commit of its tick. Rejects with what it threw, with
   * STORE_FULL or STORE_UNAVAILABLE; then nothing is stored.
   */
  write<T>(write: (tick: Tick) => T): Promise<T> {
    return this.closed ? Promise.reject(closedFailure()) : this.writer.queued(write);
  }

  /**
   * Runs a synchronous write at once, in the transaction of the tick. Resolves with its result: the whole process sees it from then on,
   * and only the death of the process before the commit loses it. Rejects as `write` does.
   */
  async order<T>(write: (tick: Tick) => T): Promise<T> {
    if (this.closed) throw closedFailure();
    return this.writer.order(write);
  }

  /** Runs `write` once before the next commit, where several ordered writes would write the same row. */
  beforeCommit(owner: object, write: (sql: Statements) => void): void {
    if (!this.closed) this.writer.beforeCommit(owner, write);
  }

  /** Resolves when all ordered writes are durable; await it before showing their effects outside. Rejects if closed earlier. */
  durable(): Promise<void> {
    return this.writer.durable(true);
  }

  /** Like `durable`, for readers, which wrote nothing themselves. Rejects with STORE_FULL or STORE_UNAVAILABLE while nothing can be written. */
  committed(): Promise<void> {
    return this.writer.durable(false);
  }

  /** Reads ordered writes, committed or not. Throws Failure STORE_UNAVAILABLE. */
  read<T>(read: (sql: Sql) => T): T {
    if (this.closed) throw closedFailure();
    try {
      return read(this.sql);
    } catch (error) {
      throw storeFailure(error, this.sql.path);
    }
  }

  /**
   * Removes what deleted rows have left in the pages of the file, in the index of texts and in the write-ahead log. A small file is rewritten
   * immediately, a large one at the next start, because nothing else can run during that. Throws STORE_*.
   */
  async scrub(): Promise<void> {
    if (this.closed) throw closedFailure();
    await this.write(({ sql }) => sql.run("INSERT INTO vector_text (vector_text) VALUES ('optimize')"));
    const pages = this.read((sql) => sql.get<{ page_count: number }>('PRAGMA page_count'))!.page_count;
    try {
      this.writer.flush();
      if (pages <= pagesRewrittenAtOnce) this.rewrite();
      else {
        this.sql.exec(`PRAGMA user_version = ${owesScrub}`);
        this.sql.all('PRAGMA wal_checkpoint(TRUNCATE)');
      }
    } catch (error) {
      throw storeFailure(error, this.sql.path);
    }
  }

  private rewrite(): void {
    this.sql.exec('VACUUM');
    this.sql.exec('PRAGMA user_version = 0');
    this.sql.all('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** Null while reading and writing work, else the reason as a sentence. */
  health(): string | null {
    if (this.closed) return closedFailure().message;
    if (this.writer.fault) return this.writer.fault.message;
    try {
      this.sql.get('SELECT 1 AS one');
      return null;
    } catch (error) {
      return `The store cannot be read: ${(error as Error).message}`;
    }
  }

  /** Writes what is queued, empties the write-ahead log and frees the folder. Safe to call twice. */
  close(): Promise<void> {
    if (this.closed) return Promise.resolve();
    this.closed = true;
    const kept = this.writer.close();
    try {
      // A missing row marks a clean close; the row stays when the last writes failed.
      if (kept) this.sql.run('DELETE FROM opening');
      this.sql.all('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      // Everything acknowledged is in the write-ahead log, and the next start reads it from there.
      if (!isSqliteError(error)) throw error;
    } finally {
      this.sql.close();
      this.lock?.release();
    }
    return Promise.resolve();
  }
}

const unusable = /^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/;

/** Says what to do about a folder that cannot be created, or in which nothing can be written. */
function openingFailure(error: unknown, home: string): unknown {
  const failure = storeFailure(error, join(home, 'conclave.db'));
  if (failure instanceof Failure && !(isSqliteError(error) && unusable.test(error.code) && failure.code !== 'STORE_FULL')) return failure;
  // SQLite gives no code if it cannot even open the file.
  const said = (error as { readonly code?: string }).code || 'no file can be opened in it';
  const shown = home.length > 200 ? `${home.slice(0, 200)}...` : home;
  return new Failure(
    'STORE_UNAVAILABLE',
    `The data folder ${shown} cannot be opened (${said}). Name a folder in CONCLAVE_HOME that this user may create and write.`,
    { cause: error },
  );
}

/** Writes a consistent copy beside the original; returns its path. */
function backUp(sql: Sql, home: string, oldVersion: number, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  let path = join(home, `conclave.v${oldVersion}.${stamp}.bak.db`);
  for (let n = 2; existsSync(path); n += 1) path = join(home, `conclave.v${oldVersion}.${stamp}.${n}.bak.db`);
  makePrivate(path);
  sql.run('VACUUM INTO ?', path);
  return path;
}
