import { Failure } from '@conclave/contracts';
import { refusedGrowth } from './room-to-grow.js';

interface SqliteError extends Error {
  readonly code: string;
}

export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string' && (error as SqliteError).code.startsWith('SQLITE_');

const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

/** Whether the statement or a value was wrong: a bug, not an outage that ends by waiting. */
const isMistake = (code: string): boolean => /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);

/** No wait and no new try repairs these. */
export const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/;
const damaged =
  'The file conclave.db of the data folder is damaged. Restore a backup (`conclave restore <backup> --force`, which moves the damaged folder aside), or begin a new folder with CONCLAVE_HOME.';

/** Errors of the file system, behind which there may be a limit. */
const isOfFiles = /^SQLITE_(IOERR|CANTOPEN)/;

/**
 * STORE_FULL if the disk is full or a limit forbids `file`, the path of the database, to grow; STORE_UNAVAILABLE for other errors of SQLite;
 * bugs and other errors pass through.
 */
export function storeFailure(error: unknown, file: string): unknown {
  if (!isSqliteError(error) || isMistake(error.code)) return error;
  const refused = isOfFiles.test(error.code) && file !== ':memory:' ? refusedGrowth(file) : null;
  const remedy = refused ? ` ${refused}` : isDamaged.test(error.code) ? ` ${damaged}` : '';
  return new Failure(
    refused || fullCodes.has(error.code) ? 'STORE_FULL' : 'STORE_UNAVAILABLE',
    `SQLite says ${error.code}: ${error.message}.${remedy}`,
    { cause: error },
  );
}
