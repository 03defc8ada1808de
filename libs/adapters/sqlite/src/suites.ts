import { Database } from './database/database.js';
import { migrations } from './database/migrations.js';

/** Leaves a data folder behind as a program did that knew the tables up to this version and was asked one question. */
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
