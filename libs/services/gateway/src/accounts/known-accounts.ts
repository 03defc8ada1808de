import { accountsSetting, type KeyLimits, keySetting, StoredKey, StoredTenant, tenantSetting } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { Settings } from '@conclave/ports';
import type { KeyOwner } from '../options.js';

/** Milliseconds after which every setting is read again, even if no change was announced. */
const wholeMs = 60_000;
/** Settings that are read at the same time. */
const readAtOnce = 64;

/** The owner of an issued key, from the stored values. Null if the value is no longer, or not yet, accepted. */
function ownerOf(key: StoredKey, tenant: StoredTenant | undefined, hash: string, now: number): KeyOwner | null {
  const { id, name, role, detail, templates, limits, user_limits: userLimits, former } = key;
  const isAccepted = key.hash === hash || (former !== null && former.hash === hash && now < former.until);
  if (!isAccepted || key.revoked_at !== null || (key.expires_at !== null && now >= key.expires_at)) return null;
  return {
    // Names of issued keys are free text: with the id added, no key can pass for another in the audit.
    ...{ keyId: id, actor: id, name: `${name} (${id})`, tenant: key.tenant, role, detail },
    ...(templates ? { templates } : {}),
    ...(limits ? { limits } : {}),
    ...(userLimits ? { userLimits } : {}),
    ...(tenant?.limits ? { tenantLimits: tenant.limits } : {}),
  };
}

/** Issued keys and tenants as of this process's last read of the settings. */
export class KnownAccounts {
  private readonly keys = new Map<string, { readonly version: number; readonly key: StoredKey }>();
  private readonly byHash = new Map<string, string>();
  private readonly tenants = new Map<string, { readonly version: number; readonly tenant: StoredTenant }>();
  private revision = -1;
  private wholeAt = -Infinity;

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  get wasRead(): boolean {
    return this.revision >= 0;
  }

  /** The limits of all keys of a tenant together. */
  limitsOf(tenant: string): KeyLimits | undefined {
    return this.tenants.get(tenant)?.tenant.limits ?? undefined;
  }

  get size(): number {
    return this.keys.size;
  }

  /** Whether this is the hash of a value that was ever read, valid or not. */
  has(hash: string): boolean {
    return this.byHash.has(hash);
  }

  owner(hash: string, now: number): KeyOwner | null {
    const stored = this.keys.get(this.byHash.get(hash) ?? '');
    return stored ? ownerOf(stored.key, this.tenants.get(stored.key.tenant)?.tenant, hash, now) : null;
  }

  /** Reads what has changed. Errors of the store pass through; the values read before are kept. */
  async read(): Promise<void> {
    const began = performance.now();
    // The revision is read first: a change that is announced during the rest of the read causes another read.
    const revision = (await this.settings.read(accountsSetting))?.version ?? 0;
    if (revision === this.revision && began - this.wholeAt <= wholeMs) return;
    await this.readTenants();
    await this.readKeys();
    this.revision = revision;
    this.wholeAt = began;
  }

  private async readTenants(): Promise<void> {
    const prefix = tenantSetting('');
    const listed = await this.settings.list(prefix);
    await this.each(listed, async ({ name, version }) => {
      const id = name.slice(prefix.length);
      if (this.tenants.get(id)?.version === version) return;
      const stored = await this.settings.read(name);
      const { data } = StoredTenant.safeParse(stored?.value);
      if (stored && data) this.tenants.set(id, { version: stored.version, tenant: data });
      else this.logger.warn('stored limits of a tenant are invalid and have no effect', { tenant: id });
    });
    const ids = new Set(listed.map(({ name }) => name.slice(prefix.length)));
    for (const id of this.tenants.keys()) if (!ids.has(id)) this.tenants.delete(id);
  }

  private async readKeys(): Promise<void> {
    const prefix = keySetting('');
    const listed = await this.settings.list(prefix);
    await this.each(listed, async ({ name, version }) => {
      const id = name.slice(prefix.length);
      if (this.keys.get(id)?.version === version) return;
      const stored = await this.settings.read(name);
      const { data } = StoredKey.safeParse(stored?.value);
      this.forget(id);
      if (!stored || !data) {
        this.logger.warn('a stored API key is invalid and is not accepted', { key: id });
        return;
      }
      for (const hash of hashesOf(data)) this.byHash.set(hash, id);
      this.keys.set(id, { version: stored.version, key: data });
    });
    // A store that was replaced or restored from a copy may lack keys.
    const ids = new Set(listed.map(({ name }) => name.slice(prefix.length)));
    for (const id of this.keys.keys()) if (!ids.has(id)) this.forget(id);
  }

  private forget(id: string): void {
    const known = this.keys.get(id);
    for (const hash of known ? hashesOf(known.key) : []) this.byHash.delete(hash);
    this.keys.delete(id);
  }

  private async each<T>(items: readonly T[], read: (item: T) => Promise<void>): Promise<void> {
    for (let at = 0; at < items.length; at += readAtOnce) await Promise.all(items.slice(at, at + readAtOnce).map(read));
  }
}

const hashesOf = ({ hash, former }: StoredKey): readonly string[] => [hash, ...(former ? [former.hash] : [])];
