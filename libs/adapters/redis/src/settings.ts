import { randomUUID } from 'node:crypto';
import type { Settings } from '@conclave/ports';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { readSetting, writeSetting } from './scripts/store.js';

export class RedisSettings implements Settings {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
  ) {}

  async read(name: string): Promise<{ version: number; value: unknown } | null> {
    const [version, value] = await this.connection.run(readSetting, [this.keys.setting(name)], []);
    return version === null || value === null ? null : { version: Number(version), value: JSON.parse(value) as unknown };
  }

  async write(name: string, version: number, value: unknown): Promise<boolean> {
    const parameters = [version, JSON.stringify(value), randomUUID()];
    return (await this.connection.run(writeSetting, [this.keys.setting(name)], parameters)) === 1;
  }
}
