import type { Settings } from '@conclave/ports';
import type { Store } from '../database/database.js';

export class SqliteSettings implements Settings {
  constructor(private readonly database: Store) {}

  async read(name: string): Promise<{ readonly version: number; readonly value: unknown } | null> {
    const row = this.database.read((sql) =>
      sql.get<{ version: number; value: string }>('SELECT version, value FROM setting WHERE name = ?', name),
    );
    return row ? { version: row.version, value: JSON.parse(row.value) } : null;
  }

  write(name: string, version: number, value: unknown): Promise<boolean> {
    const text = JSON.stringify(value) ?? 'null';
    return this.database.write(({ sql }) =>
      version === 0
        ? sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?) ON CONFLICT DO NOTHING', name, text) > 0
        : sql.run('UPDATE setting SET version = version + 1, value = ? WHERE name = ? AND version = ?', text, name, version) > 0,
    );
  }
}
