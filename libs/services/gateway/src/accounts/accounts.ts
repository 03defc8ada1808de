import { Inject, Injectable } from '@nestjs/common';
import {
  accountsSetting,
  type Caller,
  Failure,
  type KeyChange,
  type KeyCreated,
  type KeyRequest,
  keySetting,
  type KeyView,
  StoredKey,
  StoredTenant,
  type TenantChange,
  tenantSetting,
  type TenantView,
} from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { operatorTenant } from '../http/caller.js';
import { SettingChanges } from '../settings/setting-changes.js';
import { hashOfKey, hintOf, newKeyId, newKeyValue } from './key-value.js';

const mostKeys = 10_000;
/** Most tries to tell that accounts changed while others tell the same. */
const tries = 20;

/** A stored key and the version at which it was read. */
interface Found {
  readonly key: StoredKey;
  readonly version: number;
}

/**
 * Tenants and issued API keys, as admins see and change them. An admin of the tenant `default` sees all, one of another tenant its own;
 * others do not exist for it. Every change is an event on the audit.
 */
@Injectable()
export class Accounts {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings' | 'now'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
  ) {}

  /** Keys that the admin may see, newest first; with `tenant`, those of that tenant. */
  async keys(admin: Caller, tenant: string | null): Promise<readonly KeyView[]> {
    const names = await this.state.settings.list(keySetting(''));
    const found = await Promise.all(names.map(({ name }) => this.read(name)));
    const now = await this.state.now();
    return found
      .flatMap((one) =>
        one && sees(admin, one.key.tenant) && (tenant === null || one.key.tenant === tenant) ? [viewOf(one.key, now)] : [],
      )
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
  }

  /** Throws KEY_NOT_FOUND, also for a key of a tenant that the admin does not administer. */
  async key(admin: Caller, id: string): Promise<KeyView> {
    return viewOf((await this.found(admin, id)).key, await this.state.now());
  }

  /** Throws REQUEST_INVALID for another tenant than the admin's, KEYS_FULL. */
  async create(admin: Caller, actor: string, request: KeyRequest): Promise<KeyCreated> {
    if (!sees(admin, request.tenant))
      throw new Failure('REQUEST_INVALID', `This key administers the tenant ${admin.tenant} alone.`, { param: 'tenant' });
    if ((await this.state.settings.list(keySetting(''))).length >= mostKeys) throw new Failure('KEYS_FULL');
    const value = newKeyValue();
    const now = await this.state.now();
    const stored: StoredKey = {
      ...request,
      id: newKeyId(),
      hint: hintOf(value),
      hash: hashOfKey(value),
      former: null,
      created_at: now,
      created_by: actor,
      revoked_at: null,
    };
    await this.write(actor, stored, 0);
    return { ...viewOf(stored, now), key: value };
  }

  /** Throws KEY_NOT_FOUND, COMMAND_REJECTED for a revoked key, SETTING_CHANGED. */
  async change(admin: Caller, actor: string, id: string, change: KeyChange): Promise<KeyView> {
    const { key, version } = await this.valid(admin, id);
    const changed: StoredKey = { ...key, ...change };
    await this.write(actor, changed, version);
    return viewOf(changed, await this.state.now());
  }

  /** Gives the key another value. Throws KEY_NOT_FOUND, COMMAND_REJECTED for a revoked key, SETTING_CHANGED. */
  async rotate(admin: Caller, actor: string, id: string, graceMs: number): Promise<KeyCreated> {
    const { key, version } = await this.valid(admin, id);
    const value = newKeyValue();
    const now = await this.state.now();
    const former = graceMs > 0 ? { hash: key.hash, until: now + graceMs } : null;
    const rotated: StoredKey = { ...key, hash: hashOfKey(value), hint: hintOf(value), former };
    await this.write(actor, rotated, version);
    return { ...viewOf(rotated, now), key: value };
  }

  /** For good; repeating it changes nothing. Throws KEY_NOT_FOUND, SETTING_CHANGED. */
  async revoke(admin: Caller, actor: string, id: string): Promise<KeyView> {
    const { key, version } = await this.found(admin, id);
    const now = await this.state.now();
    if (key.revoked_at !== null) {
      // The revocation may have been stored by a request that failed before it was told.
      await this.tell();
      return viewOf(key, now);
    }
    const revoked: StoredKey = { ...key, revoked_at: now, former: null };
    await this.write(actor, revoked, version);
    return viewOf(revoked, now);
  }

  /** Tenants with options of their own, and those of keys, by id. */
  async tenants(admin: Caller): Promise<readonly TenantView[]> {
    const stored = (await this.state.settings.list(tenantSetting(''))).map(({ name }) => name.slice(tenantSetting('').length));
    const ofKeys = (await this.keys(admin, null)).map(({ tenant }) => tenant);
    const ids = [...new Set([operatorTenant, admin.tenant, ...stored, ...ofKeys])].filter((id) => sees(admin, id)).sort();
    return Promise.all(ids.map((id) => this.tenant(id)));
  }

  /** Throws REQUEST_INVALID for another tenant than the admin's. */
  async changeTenant(admin: Caller, actor: string, id: string, { limits }: TenantChange): Promise<TenantView> {
    // Whoever is limited does not set its own limits.
    if (admin.tenant !== operatorTenant)
      throw new Failure('ADMIN_KEY_NEEDED', `Limits of a tenant are set by an admin of the tenant ${operatorTenant}.`);
    await this.changes.write({ name: tenantSetting(id), actor, value: { limits } satisfies StoredTenant, expected: null });
    await this.tell();
    return this.tenant(id);
  }

  private async tenant(id: string): Promise<TenantView> {
    const stored = await this.state.settings.read(tenantSetting(id));
    const { data } = StoredTenant.safeParse(stored?.value);
    return { object: 'tenant', id, limits: data?.limits ?? null, version: stored?.version ?? 0 };
  }

  private async read(name: string): Promise<Found | null> {
    const stored = await this.state.settings.read(name);
    const { data } = StoredKey.safeParse(stored?.value);
    return stored && data ? { key: data, version: stored.version } : null;
  }

  private async found(admin: Caller, id: string): Promise<Found> {
    const found = await this.read(keySetting(id));
    if (!found || !sees(admin, found.key.tenant)) throw new Failure('KEY_NOT_FOUND');
    return found;
  }

  private async valid(admin: Caller, id: string): Promise<Found> {
    const found = await this.found(admin, id);
    if (found.key.revoked_at !== null) throw new Failure('COMMAND_REJECTED', 'This key was revoked. Issue another one.', { param: 'id' });
    return found;
  }

  private async write(actor: string, key: StoredKey, version: number): Promise<void> {
    await this.changes.write({ name: keySetting(key.id), actor, value: key, expected: version });
    await this.tell();
  }

  /** Lets every gateway read the accounts again. Throws SETTING_CHANGED if others change them all the time. */
  private async tell(): Promise<void> {
    const { settings } = this.state;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const version = (await settings.read(accountsSetting))?.version ?? 0;
      if (await settings.write(accountsSetting, version, { changedAt: await this.state.now() })) return;
    }
    throw new Failure('SETTING_CHANGED');
  }
}

const sees = ({ tenant }: Caller, other: string): boolean => tenant === operatorTenant || tenant === other;

function viewOf({ hash: _hash, former, ...key }: StoredKey, now: number): KeyView {
  const isOver = key.expires_at !== null && now >= key.expires_at;
  return {
    object: 'key',
    ...key,
    state: key.revoked_at !== null ? 'revoked' : isOver ? 'expired' : 'active',
    former_value_until: former && now < former.until ? former.until : null,
  };
}
