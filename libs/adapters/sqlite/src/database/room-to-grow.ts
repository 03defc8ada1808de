import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { growthRefusal } from '@conclave/ports';

/** Bytes of a trial write: more than one page with the head of its frame. */
const trialBytes = 8_192;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Why the files of a database may not grow, as a sentence with the code of the operating system; null if they may. SQLite reports only a
 * full disk as such, and a quota or a limit of a file's size as "disk I/O error". So a file beside it is written where the longest file of
 * the database ends, and removed again. It is also synchronised: network file systems such as NFS accept a write and refuse it then, or when
 * the file is closed.
 */
export function refusedGrowth(database: string, { sync = fsyncSync, close = closeSync } = {}): string | null {
  const trial = `${database}-trial`;
  try {
    const from = Math.max(sizeOf(database), sizeOf(`${database}-wal`));
    const file = openSync(trial, 'w', 0o600);
    try {
      // A write up to a limit is accepted in part.
      for (let at = 0; at < trialBytes;) at += writeSync(file, Buffer.alloc(trialBytes - at, 0xa5), 0, trialBytes - at, from + at);
      sync(file);
    } finally {
      try {
        close(file);
      } finally {
        rmSync(trial, { force: true });
      }
    }
    return null;
  } catch (error) {
    const refusal = growthRefusal(error);
    return refusal && `${refusal.sentence} (${refusal.code})`;
  }
}
