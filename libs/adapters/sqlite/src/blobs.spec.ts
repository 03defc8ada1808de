import { describeBlobs } from '@conclave/ports/suites';
import { SqliteBlobs } from './blobs.js';
import { Database } from './database/database.js';

describeBlobs('SQLite', async () => {
  const database = Database.open({ home: ':memory:', durability: 'process', now: Date.now });
  const another = async () => new SqliteBlobs(database, Date.now);
  return {
    blobs: await another(),
    another,
    corrupt: ({ sha256 }) =>
      database.write(({ sql }) => {
        sql.run('UPDATE blob SET body = ? WHERE sha256 = ?', Buffer.from('something else'), sha256);
      }),
    dispose: () => database.close(),
  };
});
