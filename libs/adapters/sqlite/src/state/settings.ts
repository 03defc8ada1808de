import { settingVersions, type Settings, type SettingVersion } from '@conclave/ports';
import type { Store } from '../database/database.js';

export class SqliteSettings implements Settings {
  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  async read(name: string): Promise<{ readonly version: number; readonly value: unknown } | null> {
    const row = this.database.read((sql) =>
      sql.get<{ version: number; value: string }>('SELECT version, value FROM setting WHERE name = ?', name),
    );
    return row ? { version: row.version, value: JSON.parse(row.value) } : null;
  }

  write(name: string, version: number, value: unknown): Promise<boolean> {
    const text = JSON.stringify(value) ?? 'null';
    return this.database.write(({ sql }) => {
      const written =
        version === 0
          ? sql.run('INSERT INTO setting (name, version, value) VALUES (?, 1, ?) ON CONFLICT DO NOTHING', name, text) > 0
          : sql.run('UPDATE setting SET version = version + 1, value = ? WHERE name = ? AND version = ?', text, name, version) > 0;
      if (!written) return false;
      sql.run('INSERT INTO setting_version (name, version, at, value) VALUES (?, ?, ?, ?)', name, version + 1, this.now(), text);
      sql.run('DELETE FROM setting_version WHERE name = ? AND version <= ?', name, version + 1 - settingVersions);
      return true;
    });
  }

  remove(name: string, version: number): Promise<boolean> {
    return this.database.write(({ sql }) => {
      const present = sql.get<{ version: number }>('SELECT version FROM setting WHERE name = ?', name);
      if (present && present.version !== version) return false;
      sql.run('DELETE FROM setting WHERE name = ?', name);
      sql.run('DELETE FROM setting_version WHERE name = ?', name);
      return true;
    });
  }

  /** Sorted here: SQLite orders by UTF-8 bytes, which differs from JavaScript's order outside the basic plane. */
  async list(prefix: string): Promise<readonly { readonly name: string; readonly version: number }[]> {
    const all = this.database.read((sql) => sql.all<{ name: string; version: number }>('SELECT name, version FROM setting'));
    return all
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, version }) => ({ name, version }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async versions(name: string): Promise<readonly { readonly version: number; readonly at: number }[]> {
    return this.database
      .read((sql) =>
        sql.all<{ version: number; at: number }>('SELECT version, at FROM setting_version WHERE name = ? ORDER BY version DESC', name),
      )
      .map(({ version, at }) => ({ version, at }));
  }

  async readVersion(name: string, version: number): Promise<SettingVersion | null> {
    const row = this.database.read((sql) =>
      sql.get<{ at: number; value: string }>('SELECT at, value FROM setting_version WHERE name = ? AND version = ?', name, version),
    );
    return row ? { version, at: row.at, value: JSON.parse(row.value) } : null;
  }
}
