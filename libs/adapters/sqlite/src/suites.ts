import { join } from 'node:path';
import { Database } from './database/database.js';
import { migrations } from './database/migrations.js';
import { Sql } from './database/sql.js';

/** Creates a data folder as a program with tables up to `version` left it after one question. */
export async function leaveOlderFolder(home: string, version: number): Promise<void> {
  const older = Database.open({ home, durability: 'process', now: Date.now, migrations: migrations.slice(0, version) });
  await older.write(({ sql }) => {
    sql.run(
      `INSERT INTO run (run_id, tenant, accepted_at, version, state, status) VALUES ('run_00000001', 'default', 1, 4, '{}', 'collecting')`,
    );
    sql.run(
      `INSERT INTO log (topic, key, event_id, headers, body, appended_at) VALUES ('plan.requested', 'run_00000001', 'run_00000001', '{}', x'7b7d', 1)`,
    );
  });
  await older.close();
}

/** A second reader of a running store's file. Sees committed data only. */
export interface StoreWatcher {
  /** Bytes of all values by table, without SQLite's own keys and pages; a number counts one byte per digit. */
  rowBytes(): Readonly<Record<string, number>>;
  /** Records that a group of the log has not finished. */
  unfinished(): number;
  close(): void;
}

/** Opens the file of a running store as a second reader. */
export function watchStore(home: string): StoreWatcher {
  const sql = new Sql(join(home, 'conclave.db'), 2_000);
  const tables = sql
    .all<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%VIRTUAL%'`)
    .map(({ name }) => ({ name, columns: sql.all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`) }));
  return {
    rowBytes: () =>
      Object.fromEntries(
        tables.map(({ name, columns }) => {
          const lengths = columns.map((column) => `coalesce(length(CAST("${column.name}" AS BLOB)), 0)`).join(' + ');
          return [name, sql.get<{ bytes: number | null }>(`SELECT SUM(${lengths}) AS bytes FROM "${name}"`)!.bytes ?? 0];
        }),
      ),
    unfinished: () =>
      sql.get<{ records: number }>(
        `SELECT COUNT(*) AS records FROM log_cursor AS c JOIN log AS l ON l.topic = c.topic AND l.seq > c.position
           WHERE NOT EXISTS (SELECT 1 FROM log_finished AS f WHERE f.group_name = c.group_name AND f.topic = c.topic AND f.seq = l.seq)`,
      )!.records,
    close: () => sql.close(),
  };
}
