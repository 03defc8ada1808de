import { Failure } from '@conclave/contracts';
import { isDamaged, isSqliteError } from './store-failure.js';
import { Sql } from './sql.js';

interface Owner {
  readonly pid: number;
  readonly started: string;
}

/**
 * One process at a time owns a data folder. The owner holds an operating system write lock on `conclave.lock` while it lives, so a dead
 * process leaves no stale lock, even if its pid is reused. Pid and start time are in the file only for the error message of a
 * second process.
 */
export class FolderLock {
  private constructor(private readonly sql: Sql) {}

  /**
   * Throws Failure DATA_FOLDER_IN_USE at once when another process, or this one, already has the folder open, and STORE_UNAVAILABLE if the
   * file is damaged.
   */
  static take(path: string, folder: string, startedAt: Date): FolderLock {
    const sql = new Sql(path, 0);
    try {
      sql.exec('PRAGMA synchronous = OFF');
      sql.exec('BEGIN IMMEDIATE');
      sql.exec('CREATE TABLE IF NOT EXISTS owner (pid INTEGER NOT NULL, started TEXT NOT NULL) STRICT');
      sql.exec('DELETE FROM owner');
      sql.run('INSERT INTO owner (pid, started) VALUES (?, ?)', process.pid, startedAt.toISOString());
      sql.exec('COMMIT');
      // The actual lock: a write transaction that stays open. Others can still read who owns the folder.
      sql.exec('BEGIN IMMEDIATE');
      return new FolderLock(sql);
    } catch (error) {
      const inUse = isSqliteError(error) && error.code.startsWith('SQLITE_BUSY');
      const failure = inUse ? new Failure('DATA_FOLDER_IN_USE', sentence(folder, ownerOf(sql)), { cause: error }) : damaged(error, path);
      sql.close();
      throw failure;
    }
  }

  release(): void {
    if (!this.sql.open) return;
    if (this.sql.inTransaction) this.sql.exec('ROLLBACK');
    this.sql.close();
  }
}

function ownerOf(sql: Sql): Owner | undefined {
  try {
    if (sql.inTransaction) sql.exec('ROLLBACK');
    return sql.get<Owner>('SELECT pid, started FROM owner');
  } catch (error) {
    // The owner is just writing its name: the folder is in use, by an owner not yet known.
    if (isSqliteError(error)) return undefined;
    throw error;
  }
}

/** A power failure can damage the lock, which is written without syncing; the data beside it is whole then. */
const damaged = (error: unknown, path: string): unknown =>
  isSqliteError(error) && isDamaged.test(error.code)
    ? new Failure(
        'STORE_UNAVAILABLE',
        `The lock ${path} is damaged (${error.code}). It holds no data: make sure that no Conclave uses the folder, and delete it.`,
        { cause: error },
      )
    : error;

const sentence = (folder: string, owner: Owner | undefined): string =>
  owner ? `Folder: ${folder}, process ${owner.pid}, running since ${owner.started}.` : `Folder: ${folder}.`;
