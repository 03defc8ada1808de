import { writeSync } from 'node:fs';
import { Database } from '../database/database.js';

/**
 * Writes settings of 20,000 characters until one is refused, then prints a line of JSON: how many were acknowledged, the refusal, the health,
 * and how many are stored.
 */
const home = process.argv[2]!;
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const codeOf = (error: unknown) => ({ code: (error as { code?: unknown }).code, message: (error as Error).message });

try {
  const database = Database.open({ home, durability: 'process', now: Date.now });
  const values = Array.from({ length: 200 }, (_, n) => n);
  let acknowledged = 0;
  try {
    for (const n of values) {
      await database.write(({ sql }) => sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?)', `${n}`, 'x'.repeat(20_000)));
      acknowledged += 1;
    }
    say({ acknowledged });
  } catch (error) {
    const stored = database.read((sql) => sql.all('SELECT name FROM setting').length);
    say({ acknowledged, stored, ...codeOf(error), health: database.health() });
  }
} catch (error) {
  say({ opened: false, ...codeOf(error) });
}
