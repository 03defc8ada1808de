import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { growthRefusals } from '@conclave/ports';

/** Bytes of a trial write: more than one page with the head of its frame. */
const trialBytes = 8_192;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Why the files of a database may not grow, as a sentence with the code of the operating system; null if they may. SQLite reports only a
 * full disk as such, and a quota or a limit of a file's size as "disk I/O error". So a file beside it is written where the longest file of
 * the database ends, and removed again.
 */
export function refusedGrowth(database: string): string | null {
  const trial = `${database}-trial`;
  try {
    const from = Math.max(sizeOf(database), sizeOf(`${database}-wal`));
    const file = openSync(trial, 'w', 0o600);
    try {
      // A write up to a limit is accepted in part.
      for (let at = 0; at < trialBytes;) at += writeSync(file, Buffer.alloc(trialBytes - at, 0xa5), 0, trialBytes - at, from + at);
      return null;
    } finally {
      closeSync(file);
      rmSync(trial, { force: true });
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    return Object.hasOwn(growthRefusals, code) ? `${growthRefusals[code]} (${code})` : null;
  }
}
