import { Failure } from '@conclave/contracts';

interface SqliteError extends Error {
  readonly code: string;
}

export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string' && (error as SqliteError).code.startsWith('SQLITE_');

const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

/** STORE_FULL where the disk has no room, STORE_UNAVAILABLE for every other error of SQLite; what is none of its errors stays as it is. */
export function storeFailure(error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  return new Failure(fullCodes.has(error.code) ? 'STORE_FULL' : 'STORE_UNAVAILABLE', `SQLite says ${error.code}: ${error.message}.`, {
    cause: error,
  });
}
