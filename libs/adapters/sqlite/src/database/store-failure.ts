import { Failure } from '@conclave/contracts';

interface SqliteError extends Error {
  readonly code: string;
}

export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string' && (error as SqliteError).code.startsWith('SQLITE_');

const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

/** Whether the statement or a value was wrong: a bug, not an outage that ends by waiting. */
const isMistake = (code: string): boolean => /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);

/** No wait and no new try repairs these. */
const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/;
const damaged =
  'The file conclave.db of the data folder is damaged. Restore a backup (`conclave restore <backup> --force`, which moves the damaged folder aside), or begin a new folder with CONCLAVE_HOME.';

/** STORE_FULL if the disk is full, STORE_UNAVAILABLE for other errors of SQLite; bugs and other errors pass through. */
export function storeFailure(error: unknown): unknown {
  if (!isSqliteError(error) || isMistake(error.code)) return error;
  const remedy = isDamaged.test(error.code) ? ` ${damaged}` : '';
  return new Failure(
    fullCodes.has(error.code) ? 'STORE_FULL' : 'STORE_UNAVAILABLE',
    `SQLite says ${error.code}: ${error.message}.${remedy}`,
    { cause: error },
  );
}
