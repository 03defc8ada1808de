import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new, empty folder. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'conclave-sqlite-'));

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/**
 * Copies the data folder as it is on disk: what a process would leave behind if it were killed now. Its locks die with it, so they are
 * not copied.
 */
export function copyAsKilled(home: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of ['conclave.db', 'conclave.db-wal']) {
    if (existsSync(join(home, file))) copyFileSync(join(home, file), join(to, file));
  }
}
