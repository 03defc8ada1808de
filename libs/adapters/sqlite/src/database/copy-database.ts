import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '@conclave/contracts';
import { FolderLock } from './folder-lock.js';
import { migrations, versionOf } from './migrations.js';
import { Sql } from './sql.js';
import { storeFailure } from './store-failure.js';

/** What a file of an embedded store contains. */
export interface InspectedDatabase {
  /** Version of its tables. */
  readonly version: number;
  /** Whether this program reads that version. */
  readonly readable: boolean;
  /** Null if the pages and indexes are consistent, otherwise SQLite's message. */
  readonly damage: string | null;
  readonly runs: number;
}

const busyTimeoutMs = 10_000;

/**
 * Writes a consistent copy of the store in a data folder, even while a server works on it: everything acknowledged when this begins is in the copy.
 * The original does not change. Throws STORE_UNAVAILABLE, STORE_FULL.
 */
export function copyDatabase(home: string, target: string): void {
  const source = join(home, 'conclave.db');
  if (!existsSync(source)) throw new Failure('STORE_UNAVAILABLE', `There is no ${source}.`);
  rmSync(target, { force: true });
  let sql: Sql | null = null;
  try {
    sql = new Sql(source, busyTimeoutMs);
    sql.run('VACUUM INTO ?', target);
  } catch (error) {
    throw storeFailure(error, target);
  } finally {
    sql?.close();
  }
}

/** Reads version and integrity of a file of an embedded store. Throws STORE_UNAVAILABLE for any other file. */
export function inspectDatabase(file: string): InspectedDatabase {
  if (!existsSync(file)) throw new Failure('STORE_UNAVAILABLE', `There is no ${file}.`);
  let sql: Sql | null = null;
  try {
    sql = new Sql(file, busyTimeoutMs);
    const said = sql.all<{ integrity_check: string }>('PRAGMA integrity_check(5)').map((row) => row.integrity_check);
    const version = versionOf(sql);
    const runs = version === 0 ? 0 : sql.get<{ n: number }>('SELECT COUNT(*) AS n FROM run')!.n;
    const newest = migrations.at(-1)!.version;
    return { version, readable: version > 0 && version <= newest, damage: said.join('; ') === 'ok' ? null : said.join('; '), runs };
  } catch (error) {
    throw new Failure('STORE_UNAVAILABLE', `${file} is not a store of Conclave, or it is damaged.`, { cause: error });
  } finally {
    sql?.close();
  }
}

/** Locks a data folder while `work` changes its files. Throws DATA_FOLDER_IN_USE while a server has it. */
export async function holdingFolder<T>(home: string, now: Date, work: () => T | Promise<T>): Promise<T> {
  const lock = FolderLock.take(join(home, 'conclave.lock'), dirname(join(home, 'conclave.lock')), now);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
