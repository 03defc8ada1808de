import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@conclave/contracts';

/** Whether a data folder has a write-ahead log whose file is missing or empty. */
export function hasLogAlone(home: string): boolean {
  const bytes = (name: string): number => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes('conclave.db') === 0 && bytes('conclave.db-wal') > 0;
}

/** SQLite would begin an empty file and delete such a log, with everything in it. Throws Failure STORE_UNAVAILABLE. */
export function refuseLogAlone(home: string): void {
  if (!hasLogAlone(home)) return;
  throw new Failure(
    'STORE_UNAVAILABLE',
    `The file conclave.db of the data folder ${home} is missing or empty, but its write-ahead log conclave.db-wal is there and would be lost. Put conclave.db back beside it, restore a backup, or begin a new folder with CONCLAVE_HOME.`,
  );
}

/**
 * Creates a missing file that only this user can read: it will hold questions and answers, in a folder that may have existed before and be open
 * to others. SQLite itself would let everyone read it, and gives its other files the mode of this one.
 */
export function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}
