import { Failure } from '@conclave/contracts';
import { graphSchema, originSchema } from '../graph/graph-schema.js';
import { textSchema, vectorSchema } from '../vectors/schema.js';
import { attachedSchema, edgeSchema, firstSchema, secondSchema, usageSchema } from './schema.js';
import type { Sql } from './sql.js';

/** A step from the version before to this one; versions are dense from 1 and a released step never changes. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
  /**
   * Tables whose rows of an older version cannot be read any more: a folder that holds one is refused as it is. One that was started
   * and never used is brought forward like any other.
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
  // What ran before would be missing in the accounts, and its states are those of another engine.
  { version: 8, sql: usageSchema, refusesOlder: ['run', 'log'] },
  // One copy of everything: what ran before has rows of another form.
  { version: 9, sql: edgeSchema, refusesOlder: ['run', 'log'] },
];

/**
 * Brings the tables to the newest version in one transaction. `backUp` is called with the old version before a folder that
 * holds data is changed. Throws Failure DATA_FOLDER_NEWER for a folder of a newer program, and DATA_FOLDER_OLDER for one whose records
 * this program does not read any more; nothing is changed then.
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
function versionOf(sql: Sql): number {
  const table = sql.get(`SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'`);
  if (!table) return 0;
  return sql.get<{ version: number | null }>('SELECT MAX(version) AS version FROM schema_version')?.version ?? 0;
}
