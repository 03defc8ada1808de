import { randomUUID } from 'node:crypto';
import { settingVersions, type Settings, type SettingVersion } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { inPairs } from './scripts/script.js';
import { listSettings, listVersions, readSetting, removeSetting, readVersion, writeSetting } from './scripts/settings.js';

export class RedisSettingStore implements Settings {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async read(name: string): Promise<{ version: number; value: unknown } | null> {
    const [version, value] = await this.connection.run(this.keys.common, readSetting, [this.keys.setting(name)], []);
    return version === null || value === null ? null : { version: Number(version), value: JSON.parse(value) as unknown };
  }

  async write(name: string, version: number, value: unknown): Promise<boolean> {
    const { keys } = this;
    const written = await this.connection.run(
      keys.common,
      writeSetting,
      [keys.setting(name), keys.settingHistory(name), keys.settings],
      [name, version, JSON.stringify(value) ?? 'null', randomUUID(), settingVersions],
    );
    return written === 1;
  }

  async remove(name: string, version: number): Promise<boolean> {
    const { keys } = this;
    const at = [keys.setting(name), keys.settingHistory(name), keys.settings];
    return (await this.connection.run(keys.common, removeSetting, at, [name, version])) === 1;
  }

  async list(prefix: string): Promise<readonly { readonly name: string; readonly version: number }[]> {
    const all = inPairs(await this.connection.run(this.keys.common, listSettings, [this.keys.settings], []));
    return all
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, version]) => ({ name, version: Number(version) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async versions(name: string): Promise<readonly { readonly version: number; readonly at: number }[]> {
    const { keys } = this;
    const found = await this.connection.run(keys.common, listVersions, [keys.setting(name), keys.settingHistory(name)], [settingVersions]);
    return found.map(([version, at]) => ({ version, at }));
  }

  async readVersion(name: string, version: number): Promise<SettingVersion | null> {
    const [at, value] = await this.connection.run(this.keys.common, readVersion, [this.keys.settingHistory(name)], [version]);
    return at === null || value === null ? null : { version, at: Number(at), value: JSON.parse(value) as unknown };
  }
}
