import { settingVersions } from './limits.js';
import type { Settings, SettingVersion } from './settings.js';

interface Written {
  readonly version: number;
  readonly at: number;
  readonly text: string;
}

export class MemorySettings implements Settings {
  /** Name -> versions, newest first. */
  private readonly documents = new Map<string, readonly Written[]>();

  constructor(private readonly now: () => number) {}

  async read(name: string): Promise<{ readonly version: number; readonly value: unknown } | null> {
    const newest = this.documents.get(name)?.[0];
    return newest ? { version: newest.version, value: JSON.parse(newest.text) } : null;
  }

  /** For tests: the current value; null if absent. */
  newest(name: string): unknown {
    const text = this.documents.get(name)?.[0]?.text;
    return text === undefined ? null : JSON.parse(text);
  }

  /** For tests: the values of all kept versions, newest first. */
  history(name: string): readonly unknown[] {
    return (this.documents.get(name) ?? []).map(({ text }): unknown => JSON.parse(text));
  }

  async write(name: string, version: number, value: unknown): Promise<boolean> {
    const written = this.documents.get(name) ?? [];
    if ((written[0]?.version ?? 0) !== version) return false;
    const next = { version: version + 1, at: this.now(), text: JSON.stringify(value) ?? 'null' };
    this.documents.set(name, [next, ...written].slice(0, settingVersions));
    return true;
  }

  async remove(name: string, version: number): Promise<boolean> {
    const present = this.documents.get(name)?.[0]?.version;
    if (present !== undefined && present !== version) return false;
    this.documents.delete(name);
    return true;
  }

  async list(prefix: string): Promise<readonly { readonly name: string; readonly version: number }[]> {
    const names = [...this.documents.keys()].filter((name) => name.startsWith(prefix)).sort();
    return names.map((name) => ({ name, version: this.documents.get(name)![0]!.version }));
  }

  async versions(name: string): Promise<readonly { readonly version: number; readonly at: number }[]> {
    return (this.documents.get(name) ?? []).map(({ version, at }) => ({ version, at }));
  }

  async readVersion(name: string, version: number): Promise<SettingVersion | null> {
    const found = this.documents.get(name)?.find((written) => written.version === version);
    return found ? { version, at: found.at, value: JSON.parse(found.text) } : null;
  }
}
