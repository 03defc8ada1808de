import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { accountsSetting, Failure, type KeyLimits, keySetting, StoredKey, StoredTenant, tenantSetting } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type ApiKeys, type GatewayLimits, type GatewayOptions, type KeyOwner } from '../options.js';
import { hashOfKey, issuedPrefix } from './key-value.js';

/** Milliseconds for which this process believes what it has read: a change holds everywhere within twice this time. */
const freshMs = 1_000;
/** Milliseconds after which every setting is looked at, even if nobody said that one changed. */
const wholeMs = 60_000;

/** The owner of an issued key, from what is stored. Null if the value is no longer, or not yet, accepted. */
function ownerOf(key: StoredKey, tenant: StoredTenant | undefined, hash: string, now: number): KeyOwner | null {
  const { id, name, role, detail, templates, limits, former } = key;
  const isAccepted = key.hash === hash || (former !== null && former.hash === hash && now < former.until);
  if (!isAccepted || key.revoked_at !== null || (key.expires_at !== null && now >= key.expires_at)) return null;
  return {
    ...{ keyId: id, actor: id, name, tenant: key.tenant, role, detail },
    ...(templates ? { templates } : {}),
    ...(limits ? { limits } : {}),
    ...(tenant?.limits ? { tenantLimits: tenant.limits } : {}),
  };
}

/**
 * Issued API keys as this process knows them. They are read from the settings when a request names one, at most once a second; while the
 * store is away, those known stay valid for `keysWithoutStoreMs`. Open responses to a key that is no longer valid are cut.
 */
@Injectable()
export class IssuedKeys implements ApiKeys, OnApplicationShutdown {
  private readonly keys = new Map<string, { readonly version: number; readonly key: StoredKey }>();
  private readonly byHash = new Map<string, string>();
  private readonly tenants = new Map<string, { readonly version: number; readonly tenant: StoredTenant }>();
  private revision = -1;
  private readAt = -Infinity;
  private wholeAt = -Infinity;
  private reading: Promise<void> | null = null;
  /** Open responses by the hash of the key that asked for them. */
  private readonly open = new Map<string, Set<Response>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'keysWithoutStoreMs'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
  ) {}

  /** Null for a value that is not an issued key, or no longer a valid one. Throws STORE_UNAVAILABLE for one that cannot be looked up. */
  async identify(value: string | null): Promise<KeyOwner | null> {
    if (value === null || !value.startsWith(issuedPrefix)) return null;
    const hash = hashOfKey(value);
    await this.refresh();
    if (!this.byHash.has(hash)) await this.refresh(0);
    return this.known(hash);
  }

  /**
   * The limits of all keys of a tenant together, for keys that are not issued. Waits only for the first reading; from then on, a change
   * holds as soon as that of an issued key.
   */
  async tenantLimits(tenant: string): Promise<KeyLimits | undefined> {
    const reading = this.refresh().catch((error: unknown) => this.options.logger.warn('limits of tenants cannot be looked up', { error }));
    if (this.revision < 0) await reading;
    return this.tenants.get(tenant)?.tenant.limits ?? undefined;
  }

  /** Cuts this response when the key is no longer valid before its end. */
  watch(value: string, response: Response): void {
    const hash = hashOfKey(value);
    const open = this.open.get(hash) ?? new Set();
    if (open.has(response) || response.closed) return;
    this.open.set(hash, open.add(response));
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) this.open.delete(hash);
      if (this.open.size === 0) this.timer = void clearInterval(this.timer);
    });
    this.timer ??= setInterval(() => void this.cutInvalid(), freshMs).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private known(hash: string): KeyOwner | null {
    const stored = this.keys.get(this.byHash.get(hash) ?? '');
    return stored ? ownerOf(stored.key, this.tenants.get(stored.key.tenant)?.tenant, hash, Date.now()) : null;
  }

  private async cutInvalid(): Promise<void> {
    // Without the store, what is known stays valid for its time.
    await this.refresh().catch((error: unknown) => this.options.logger.warn('issued keys cannot be looked up', { error }));
    for (const [hash, responses] of this.open) {
      const owner = this.isTooOld() ? null : this.known(hash);
      if (owner) continue;
      this.options.logger.info('open requests of a key that is no longer valid are cut', { requests: responses.size });
      for (const response of responses) response.destroy();
    }
  }

  /** Reads what has changed, if the last reading is older than `olderThanMs`. Throws STORE_UNAVAILABLE once what is known is too old. */
  private async refresh(olderThanMs = freshMs): Promise<void> {
    if (performance.now() - this.readAt < olderThanMs && olderThanMs > 0) return;
    this.reading ??= this.read().finally(() => (this.reading = null));
    try {
      await this.reading;
    } catch (error) {
      if (this.isTooOld() || olderThanMs === 0) throw new Failure('STORE_UNAVAILABLE', 'API keys cannot be looked up.', { cause: error });
    }
  }

  private isTooOld(): boolean {
    return performance.now() - this.readAt >= this.limits.keysWithoutStoreMs;
  }

  private async read(): Promise<void> {
    const { settings } = this.state;
    const began = performance.now();
    const revision = (await settings.read(accountsSetting))?.version ?? 0;
    if (revision !== this.revision || began - this.wholeAt > wholeMs) {
      await this.readChanged();
      this.revision = revision;
      this.wholeAt = began;
    }
    this.readAt = began;
  }

  private async readChanged(): Promise<void> {
    const { settings } = this.state;
    for (const { name, version } of await settings.list(tenantSetting(''))) {
      const id = name.slice(tenantSetting('').length);
      if (this.tenants.get(id)?.version === version) continue;
      const read = StoredTenant.safeParse((await settings.read(name))?.value);
      if (read.success) this.tenants.set(id, { version, tenant: read.data });
    }
    for (const { name, version } of await settings.list(keySetting(''))) {
      const id = name.slice(keySetting('').length);
      const known = this.keys.get(id);
      if (known?.version === version) continue;
      const read = StoredKey.safeParse((await settings.read(name))?.value);
      if (!read.success) {
        this.options.logger.warn('a stored API key is invalid and is not accepted', { key: id });
        continue;
      }
      for (const hash of known ? hashesOf(known.key) : []) this.byHash.delete(hash);
      for (const hash of hashesOf(read.data)) this.byHash.set(hash, id);
      this.keys.set(id, { version, key: read.data });
    }
  }
}

const hashesOf = ({ hash, former }: StoredKey): readonly string[] => [hash, ...(former ? [former.hash] : [])];
