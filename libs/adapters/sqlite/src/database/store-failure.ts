import { Failure } from '@conclave/contracts';

interface SqliteError extends Error {
  readonly code: string;
}

export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string' && (error as SqliteError).code.startsWith('SQLITE_');

const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

/** What a wrong statement or value earns: our own mistake, no state of the store, so no outage that ends by waiting. */
const isMistake = (code: string): boolean => /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);

/** STORE_FULL where the disk has no room, STORE_UNAVAILABLE for other errors of SQLite; mistakes of the caller and what is none of its errors stay as they are. */
export function storeFailure(error: unknown): unknown {
  if (!isSqliteError(error) || isMistake(error.code)) return error;
  return new Failure(fullCodes.has(error.code) ? 'STORE_FULL' : 'STORE_UNAVAILABLE', `SQLite says ${error.code}: ${error.message}.`, {
    cause: error,
  });
}
