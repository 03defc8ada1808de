import { Inject, Injectable } from '@nestjs/common';
import {
  accountsSetting,
  Failure,
  type KeyChange,
  type KeyCreated,
  type KeyList,
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
import { type Admin, operatingTenant } from '../http/caller.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { SettingChanges } from '../settings/setting-changes.js';
import { hashOfKey, hintOf, newKeyId, newKeyValue } from './key-value.js';

/** Actor in the audit when a key is removed after its retention time. */
const byRetention = 'retention';
/** Most attempts to publish that accounts changed while other processes do the same. */
const tries = 20;

/** A stored key and the version at which it was read. */
interface Found {
  readonly key: StoredKey;
  readonly version: number;
}

/**
 * Tenants and issued API keys as admins see and change them. An admin of the tenant `default` sees all of them, an admin of another tenant only its
 * own; others do not exist for it. Every change is an event on the audit.
 */
@Injectable()
export class Accounts {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'maxIssuedKeys' | 'revokedKeysMs'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings' | 'now'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
  ) {}

  /** A page of the keys that the admin may see, newest first; with `tenant`, those of that tenant. `before`: the end of the previous page. */
  async keys(
    admin: Admin,
    { tenant, before, limit }: { readonly tenant: string | null; readonly before: string | null; readonly limit: number },
  ): Promise<Pick<KeyList, 'data' | 'nextBefore'>> {
    const keys = await this.all(admin, tenant);
    const rest = before === null ? keys : keys.filter(isBehind(before));
    const data = rest.slice(0, limit);
    return { data, nextBefore: rest.length > limit ? cursorOf(data.at(-1)!) : null };
  }

  private async all(admin: Admin, tenant: string | null): Promise<readonly KeyView[]> {
    const now = await this.state.now();
    return (await this.kept(now))
      .flatMap(({ key }) => (sees(admin, key.tenant) && (tenant === null || key.tenant === tenant) ? [viewOf(key, now)] : []))
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
  }

  /** Every stored key except those that were revoked long ago: they are removed. */
  private async kept(now: number): Promise<readonly Found[]> {
    const names = await this.state.settings.list(keySetting(''));
    const found = (await Promise.all(names.map(({ name }) => this.read(name)))).filter((one) => one !== null);
    const isOld = ({ key }: Found): boolean => key.revoked_at !== null && now - key.revoked_at >= this.limits.revokedKeysMs;
    const old = found.filter(isOld);
    for (const { key, version } of old)
      await this.changes.remove({ name: keySetting(key.id), actor: byRetention, expected: version, shown: withoutHashes });
    if (old.length > 0) await this.tell();
    return found.filter((one) => !isOld(one));
  }

  /** Throws KEY_NOT_FOUND, also for a key of a tenant that the admin does not administer. */
  async key(admin: Admin, id: string): Promise<KeyView> {
    return viewOf((await this.found(admin, id)).key, await this.state.now());
  }

  /** Throws BEYOND_OWN_RIGHTS, KEYS_FULL. */
  async create(admin: Admin, request: KeyRequest): Promise<KeyCreated> {
    if (!sees(admin, request.tenant))
      throw new Failure('BEYOND_OWN_RIGHTS', `This one administers only the tenant ${admin.tenant}.`, { param: 'tenant' });
    assertGives(admin, request.templates);
    const now = await this.state.now();
    const { maxIssuedKeys } = this.limits;
    const isFull = (await this.state.settings.list(keySetting(''))).length >= maxIssuedKeys;
    if (isFull && (await this.kept(now)).length >= maxIssuedKeys) throw new Failure('KEYS_FULL');
    const value = newKeyValue();
    const stored: StoredKey = {
      ...request,
      id: newKeyId(),
      hint: hintOf(value),
      hash: hashOfKey(value),
      former: null,
      created_at: now,
      created_by: admin.actor,
      revoked_at: null,
    };
    await this.write(admin, stored, 0).catch((error: unknown) => this.takenBack(stored, { ...stored, revoked_at: now }, error));
    return { ...viewOf(stored, now), key: value };
  }

  /** Throws KEY_NOT_FOUND, KEY_REVOKED, BEYOND_OWN_RIGHTS, SETTING_CHANGED. */
  async change(admin: Admin, id: string, change: KeyChange): Promise<KeyView> {
    const { key, version } = await this.valid(admin, id);
    const changed: StoredKey = { ...key, ...change };
    assertGives(admin, changed.templates);
    await this.write(admin, changed, version);
    return viewOf(changed, await this.state.now());
  }

  /** Replaces the value of the key. Throws KEY_NOT_FOUND, KEY_REVOKED, BEYOND_OWN_RIGHTS, SETTING_CHANGED; the old value then stays valid. */
  async rotate(admin: Admin, id: string, graceMs: number): Promise<KeyCreated> {
    const { key, version } = await this.valid(admin, id);
    assertGives(admin, key.templates);
    const value = newKeyValue();
    const now = await this.state.now();
    const former = graceMs > 0 ? { hash: key.hash, until: now + graceMs } : null;
    const rotated: StoredKey = { ...key, hash: hashOfKey(value), hint: hintOf(value), former };
    await this.write(admin, rotated, version).catch((error: unknown) => this.takenBack(rotated, key, error));
    return { ...viewOf(rotated, now), key: value };
  }

  /** Revokes the key permanently; a repeat publishes the event again. Throws KEY_NOT_FOUND, SETTING_CHANGED. */
  async revoke(admin: Admin, id: string): Promise<KeyView> {
    const { key, version } = await this.found(admin, id);
    const now = await this.state.now();
    // Also for a key that is revoked already: the request that revoked it may have failed before it published the event.
    const revoked: StoredKey = { ...key, revoked_at: key.revoked_at ?? now, former: null };
    await this.write(admin, revoked, version);
    return viewOf(revoked, now);
  }

  /** Tenants with options or keys, by id. */
  async tenants(admin: Admin): Promise<readonly TenantView[]> {
    const stored = (await this.state.settings.list(tenantSetting(''))).map(({ name }) => name.slice(tenantSetting('').length));
    const ofKeys = (await this.all(admin, null)).map(({ tenant }) => tenant);
    const ids = [...new Set([operatingTenant, admin.tenant, ...stored, ...ofKeys])].filter((id) => sees(admin, id)).sort();
    return Promise.all(ids.map((id) => this.tenant(id)));
  }

  async changeTenant(operator: Admin, id: string, { limits }: TenantChange): Promise<TenantView> {
    const value: StoredTenant = { limits };
    await this.told(() => this.changes.write({ name: tenantSetting(id), actor: operator.actor, value, expected: null }));
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

  private async found(admin: Admin, id: string): Promise<Found> {
    const found = await this.read(keySetting(id));
    if (!found || !sees(admin, found.key.tenant)) throw new Failure('KEY_NOT_FOUND');
    return found;
  }

  private async valid(admin: Admin, id: string): Promise<Found> {
    const found = await this.found(admin, id);
    if (found.key.revoked_at !== null) throw new Failure('KEY_REVOKED');
    return found;
  }

  private async write({ actor }: Admin, key: StoredKey, version: number): Promise<void> {
    await this.told(() => this.changes.write({ name: keySetting(key.id), actor, value: key, expected: version, shown: withoutHashes }));
  }

  /** Undoes a value that was stored but never shown, so that it is not valid and does not replace the value that clients have. Throws `because`. */
  private async takenBack(unseen: StoredKey, instead: StoredKey, because: unknown): Promise<never> {
    try {
      const present = await this.read(keySetting(unseen.id));
      if (present?.key.hash === unseen.hash) {
        await this.state.settings.write(keySetting(unseen.id), present.version, instead);
        await this.tell();
      }
    } catch {
      // decided: the error of the change says what to do
    }
    throw because;
  }

  /** A change is stored even when its event could not be published, so gateways are notified in either case. */
  private async told(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      await this.tell().catch(() => undefined); // decided: the error of the change says what to do
      throw error;
    }
    await this.tell();
  }

  /** Makes every gateway read the accounts again. Throws SETTING_CHANGED when other processes keep changing the revision. */
  private async tell(): Promise<void> {
    const { settings } = this.state;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const version = (await settings.read(accountsSetting))?.version ?? 0;
      if (await settings.write(accountsSetting, version, { changedAt: await this.state.now() })) return;
    }
    throw new Failure('SETTING_CHANGED');
  }
}

const cursorOf = ({ created_at: at, id }: KeyView): string => `${at}.${id}`;

/** Returns whether a key comes after this position in the list. Throws REQUEST_INVALID. */
function isBehind(cursor: string): (key: KeyView) => boolean {
  const [, at, last = ''] = /^(\d{1,15})\.(.{1,200})$/.exec(cursor) ?? [];
  if (at === undefined) throw new Failure('REQUEST_INVALID', '`before` must be `nextBefore` of an earlier page.', { param: 'before' });
  return ({ created_at: created, id }) => created < Number(at) || (created === Number(at) && id > last);
}

const sees = ({ tenant }: Admin, other: string): boolean => tenant === operatingTenant || tenant === other;

/** An admin whose own key is restricted to some ids cannot reach others through another key. Throws BEYOND_OWN_RIGHTS. */
function assertGives({ mayAsk }: Admin, templates: readonly string[] | null): void {
  if (mayAsk === null || templates?.every((id) => mayAsk.includes(id))) return;
  throw new Failure('BEYOND_OWN_RIGHTS', `Your own key may use only ${mayAsk.join(', ')}.`, { param: 'templates' });
}

/** A key as it is shown in the audit. */
function withoutHashes(value: unknown): unknown {
  const { data } = StoredKey.safeParse(value);
  if (!data) return null;
  const { hash: _hash, former, ...shown } = data;
  return { ...shown, former_value_until: former?.until ?? null };
}

function viewOf({ hash: _hash, former, ...key }: StoredKey, now: number): KeyView {
  const isOver = key.expires_at !== null && now >= key.expires_at;
  return {
    object: 'key',
    ...key,
    state: key.revoked_at !== null ? 'revoked' : isOver ? 'expired' : 'active',
    former_value_until: former && now < former.until ? former.until : null,
  };
}
