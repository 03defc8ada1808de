/** Versioned JSON documents: templates, prompts, skills, providers, limits. */
export interface Settings {
  read(name: string): Promise<{ readonly version: number; readonly value: unknown } | null>;
  /** Compare-and-set on the version (0 = absent); returns false if another writer was faster. */
  write(name: string, version: number, value: unknown): Promise<boolean>;
  /**
   * Removes the document with its versions, so that it starts again. Returns false and changes nothing if `version` is not the current one.
   */
  remove(name: string, version: number): Promise<boolean>;
  /** Names with the prefix (all for ''), in code unit order, each with its current version. */
  list(prefix: string): Promise<readonly { readonly name: string; readonly version: number }[]>;
  /** The last `settingVersions` versions, newest first, each with its write time (milliseconds since 1970 by the store's clock). */
  versions(name: string): Promise<readonly { readonly version: number; readonly at: number }[]>;
  /** One of `versions`; null for any other. To roll back, write its value as the next version. */
  readVersion(name: string, version: number): Promise<SettingVersion | null>;
}

export interface SettingVersion {
  readonly version: number;
  readonly at: number;
  readonly value: unknown;
}
