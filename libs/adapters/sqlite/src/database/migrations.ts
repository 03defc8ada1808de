import { Failure } from '@conclave/contracts';
import { graphSchema, originSchema } from '../graph/graph-schema.js';
import { textSchema, vectorSchema } from '../vectors/schema.js';
import { attachedSchema, edgeSchema, firstSchema, secondSchema, usageSchema } from './schema.js';
import { erasedSchema, itemisedSchema, packedSchema, sparingSchema } from './sparing-schema.js';
import type { Sql } from './sql.js';

/** Upgrades from the previous version to this one. Versions are dense from 1; a released step never changes. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
  /**
   * Tables whose older rows can no longer be read: a folder with such rows is refused unchanged. A folder that was never used is
   * upgraded like any other.
   */
  readonly refusesOlder?: readonly string[];
}

export const migrations: readonly Migration[] = [
  { version: 1, sql: firstSchema },
  { version: 2, sql: secondSchema },
  { version: 3, sql: vectorSchema },
  { version: 4, sql: graphSchema },
  { version: 5, sql: originSchema },
  { version: 6, sql: textSchema },
  { version: 7, sql: attachedSchema },
  // Earlier runs are missing in the accounts, and their states belong to another engine.
  { version: 8, sql: usageSchema, refusesOlder: ['run', 'log'] },
  // Everything is stored once; earlier runs have rows of another form.
  { version: 9, sql: edgeSchema, refusesOlder: ['run', 'log'] },
  { version: 10, sql: sparingSchema },
  { version: 11, sql: packedSchema },
  { version: 12, sql: erasedSchema },
  { version: 13, sql: itemisedSchema },
];

/**
 * Upgrades the tables to the newest version in one transaction. Calls `backUp` with the old version before it changes a folder with
 * data. Throws Failure DATA_FOLDER_NEWER for a folder of a newer program, and DATA_FOLDER_OLDER for one whose records this program
 * can no longer read; then nothing is changed.
 */
export function migrate(sql: Sql, steps: readonly Migration[], now: number, backUp: (oldVersion: number) => void): void {
  const present = versionOf(sql);
  const newest = steps.at(-1)?.version ?? 0;
  if (present > newest) throw new Failure('DATA_FOLDER_NEWER', `Its version is ${present}, this program reads up to ${newest}.`);
  if (present === newest) return;
  if (present > 0) {
    refuseOlder(sql, steps, present);
    backUp(present);
  }
  sql.exec('BEGIN IMMEDIATE');
  try {
    sql.exec('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT');
    for (const step of steps.filter(({ version }) => version > present)) {
      sql.exec(step.sql);
      sql.run('INSERT INTO schema_version (version, applied_at) VALUES (?, ?)', step.version, now);
    }
    sql.exec('COMMIT');
  } catch (error) {
    if (sql.inTransaction) sql.exec('ROLLBACK');
    throw error;
  }
}

function refuseOlder(sql: Sql, steps: readonly Migration[], present: number): void {
  const refusing = steps.filter(({ version, refusesOlder }) => version > present && refusesOlder !== undefined);
  const isThere = (table: string): boolean =>
    sql.get(`SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?`, table) !== undefined;
  const holds = (table: string): boolean => isThere(table) && sql.get(`SELECT 1 AS found FROM ${table} LIMIT 1`) !== undefined;
  if (refusing.some(({ refusesOlder }) => refusesOlder!.some(holds)))
    throw new Failure('DATA_FOLDER_OLDER', `Its version is ${present}, this program reads from version ${refusing.at(-1)!.version} on.`);
}

/** 0 for a new file. */
export function versionOf(sql: Sql): number {
  const table = sql.get(`SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'`);
  if (!table) return 0;
  return sql.get<{ version: number | null }>('SELECT MAX(version) AS version FROM schema_version')?.version ?? 0;
}
