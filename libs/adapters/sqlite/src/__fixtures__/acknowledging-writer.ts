import { writeSync } from 'node:fs';
import { Database } from '../database/database.js';

/** Settings that each tick writes. */
const perTick = 5;

/** Writes ticks of settings `<n>.<i>` forever and prints each n once its tick is acknowledged. Runs until killed. */
const database = Database.open({ home: process.argv[2]!, durability: 'process', now: Date.now });
for (let n = 1; ; n += 1) {
  const writes = Array.from({ length: perTick }, (_, i) =>
    database.write(({ sql }) =>
      sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?)', `${n}.${i}`, JSON.stringify('x'.repeat(300))),
    ),
  );
  await Promise.all(writes);
  writeSync(1, `${n}\n`);
}
