import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, isOutage } from '@conclave/contracts';
import { FolderLock } from './folder-lock.js';
import { migrate, migrations, type Migration } from './migrations.js';
import { Sql } from './sql.js';
import type { StoreCounter } from './store-counter.js';
import { isSqliteError, storeFailure } from './store-failure.js';

export interface DatabaseOptions {
  /** Data folder; `:memory:` keeps everything in the process. */
  readonly home: string;
  /** What an acknowledgement survives: the death of the process (`synchronous=NORMAL`), or a power failure too (`FULL`). */
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

/** What a queued write works with. */
export interface Tick {
  readonly sql: Sql;
  /** Called once everything of the tick is durable, and not if this write is undone. Must not throw. */
  afterCommit(call: () => void): void;
}

interface Queued {
  readonly write: (tick: Tick) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}
type Outcome =
  { readonly ok: true; readonly value: unknown; readonly after: readonly (() => void)[] } | { readonly ok: false; readonly error: unknown };

const faultOf = (outcome: Outcome): Failure | null =>
  !outcome.ok && outcome.error instanceof Failure && isOutage(outcome.error) ? outcome.error : null;

const busyTimeoutMs = 2000;

/** What the adapters work with: the database, or a process' view of it that can be closed alone. */
export type Store = Pick<Database, 'opening' | 'write' | 'read' | 'health'>;

/** One of several users of a database inside the process. After `close` only this view refuses to work. */
export class DatabaseView implements Store {
  private closed = false;
  readonly opening: number;

  constructor(private readonly database: Database) {
    this.opening = database.opening;
  }

  write<T>(write: (tick: Tick) => T): Promise<T> {
    return this.closed ? Promise.reject(closedFailure()) : this.database.write(write);
  }

  read<T>(read: (sql: Sql) => T): T {
    if (this.closed) throw closedFailure();
    return this.database.read(read);
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
 * The embedded store: one file, one connection, one process. All writes that are queued in one tick of the event loop
 * become one transaction; each is undone alone if it throws, and all are acknowledged after the commit.
 */
export class Database {
  private readonly sql: Sql;
  private readonly lock: FolderLock | null;
  private queue: Queued[] = [];
  private closed = false;
  /** Why the newest transaction failed; null while writing works. */
  private fault: Failure | null = null;
  /** Number of this opening of the file, from 1: whatever an earlier one left open died with it. */
  readonly opening: number;

  private constructor(
    sql: Sql,
    lock: FolderLock | null,
    now: number,
    readonly counter?: StoreCounter,
  ) {
    this.sql = sql;
    this.lock = lock;
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
        mkdirSync(home, { recursive: true, mode: 0o700 });
        lock = FolderLock.take(join(home, 'conclave.lock'), home, new Date(now()));
      }
      sql = new Sql(inMemory ? ':memory:' : join(home, 'conclave.db'), busyTimeoutMs, options.counter);
      sql.all('PRAGMA journal_mode = WAL');
      sql.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
      sql.exec('PRAGMA cache_size = -16000');
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
      return new Database(sql, lock, now(), options.counter);
    } catch (error) {
      sql?.close();
      lock?.release();
      throw isSqliteError(error) || error instanceof Failure
        ? storeFailure(error)
        : new Failure('STORE_UNAVAILABLE', `The data folder ${home} cannot be opened.`, { cause: error });
    }
  }

  /**
   * Queues a synchronous write. Resolves with its result after the commit of its tick. Rejects with what it threw, with
   * STORE_FULL or STORE_UNAVAILABLE; nothing of it is stored then.
   */
  write<T>(write: (tick: Tick) => T): Promise<T> {
    if (this.closed) return Promise.reject(closedFailure());
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ write, resolve: resolve as (value: unknown) => void, reject });
      if (this.queue.length === 1) setImmediate(() => this.flush());
    });
  }

  /** Reads what is committed. Throws Failure STORE_UNAVAILABLE. */
  read<T>(read: (sql: Sql) => T): T {
    if (this.closed) throw closedFailure();
    try {
      return read(this.sql);
    } catch (error) {
      throw storeFailure(error);
    }
  }

  /** Null while reading and writing work, otherwise a sentence. */
  health(): string | null {
    if (this.closed) return closedFailure().message;
    if (this.fault) return this.fault.message;
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
    this.flush();
    this.closed = true;
    try {
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

  private flush(): void {
    const queued = this.queue;
    this.queue = [];
    if (queued.length === 0 || this.closed) return;
    let outcomes: readonly Outcome[];
    try {
      outcomes = this.transaction(queued);
      this.fault = outcomes.map(faultOf).find((fault) => fault !== null) ?? null;
    } catch (error) {
      const failure = storeFailure(error);
      if (failure instanceof Failure) this.fault = failure;
      for (const { reject } of queued) reject(failure);
      return;
    }
    for (const outcome of outcomes) if (outcome.ok) for (const call of outcome.after) call();
    outcomes.forEach((outcome, index) => (outcome.ok ? queued[index]!.resolve(outcome.value) : queued[index]!.reject(outcome.error)));
  }

  private transaction(queued: readonly Queued[]): readonly Outcome[] {
    const sql = this.sql;
    sql.run('BEGIN IMMEDIATE');
    try {
      const outcomes = queued.length === 1 ? [this.alone(queued[0]!.write)] : queued.map(({ write }) => this.apply(write));
      if (queued.length > 1 || outcomes[0]!.ok) {
        sql.run('COMMIT');
        this.counter?.committed(true);
      }
      return outcomes;
    } catch (error) {
      if (sql.inTransaction) sql.exec('ROLLBACK');
      throw error;
    }
  }

  /** The only write of its transaction: undone with it, so it needs no savepoint. Throws when SQLite has given up by itself. */
  private alone(write: (tick: Tick) => unknown): Outcome {
    const sql = this.sql;
    const after: (() => void)[] = [];
    try {
      return { ok: true, value: write({ sql, afterCommit: (call) => after.push(call) }), after };
    } catch (error) {
      if (!sql.inTransaction) throw error;
      sql.run('ROLLBACK');
      return { ok: false, error: storeFailure(error) };
    }
  }

  /** One write inside its savepoint. Throws only when SQLite has given up the whole transaction. */
  private apply(write: (tick: Tick) => unknown): Outcome {
    const sql = this.sql;
    const after: (() => void)[] = [];
    sql.run('SAVEPOINT one');
    try {
      const value = write({ sql, afterCommit: (call) => after.push(call) });
      sql.run('RELEASE one');
      return { ok: true, value, after };
    } catch (error) {
      if (!sql.inTransaction) throw error;
      sql.run('ROLLBACK TO one');
      sql.run('RELEASE one');
      return { ok: false, error: storeFailure(error) };
    }
  }
}

/** A consistent copy beside the original; gives its path. */
function backUp(sql: Sql, home: string, oldVersion: number, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  let path = join(home, `conclave.v${oldVersion}.${stamp}.bak.db`);
  for (let n = 2; existsSync(path); n += 1) path = join(home, `conclave.v${oldVersion}.${stamp}.${n}.bak.db`);
  sql.run('VACUUM INTO ?', path);
  return path;
}
