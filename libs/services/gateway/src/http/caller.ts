import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, type KeyLimits, type KeyRole } from '@conclave/contracts';
import { isLimited, type JsonObject, type LimitedAccount } from '@conclave/ports';
import type { Request } from 'express';
import { IssuedKeys } from '../accounts/issued-keys.js';
import { hashOfKey, issuedPrefix } from '../accounts/key-value.js';
import { GATEWAY_OPTIONS, type GatewayOptions, type KeyOwner } from '../options.js';
import { Sessions } from '../sessions/sessions.js';
import { rolesFor } from './route-access.js';

/** The key of a request, from `Authorization: Bearer` or `x-api-key` alike; null without one. */
export function keyOf(headers: Request['headers']): string | null {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  const plain = headers['x-api-key'];
  return bearer ?? (typeof plain === 'string' && plain !== '' ? plain : null);
}

/** First 12 hex digits of the key's SHA-256: enough to distinguish callers, and useless as a key. */
export const fingerprint = (key: string): string => `key_${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;

/** The accounts whose limits apply to a request. */
export interface Limited {
  readonly tenant: string;
  readonly accounts: readonly LimitedAccount[];
}

/** Id of the account of all keys of a tenant together; no key has this id. */
export const tenantAccount = '*';

/** Id of the account of an end user behind a key. Ids of keys contain no space. */
const userAccount = (keyId: string, user: string): string => `${keyId} ${user}`;
export const isUserAccount = (id: string): boolean => isEndUserHash(id.split(' ').at(-1)!) && id.includes(' ');

/** Longest id of an end user that is accepted. */
const longestEndUser = 1_000;

const isEndUserId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= longestEndUser;

/** The caller with the end user that a client behind a shared key names, if any. The id itself is never stored. */
export const withEndUser = (caller: Caller, id: unknown): Caller =>
  caller.user === undefined && isEndUserId(id) ? { ...caller, user: endUserHash(caller.tenant, id) } : caller;

/** As `withEndUser`, for the end user named in the body by OpenAI's fields. A header takes precedence. */
export const byEndUser = (caller: Caller, { safety_identifier: id, user }: NamesEndUser): Caller =>
  withEndUser(caller, isEndUserId(id) ? id : user);

/** The part of a body that names an end user. */
export interface NamesEndUser {
  readonly user?: unknown;
  readonly safety_identifier?: unknown;
}

/** A body without the ids of its end user, as it may be stored. */
export const withoutEndUser = ({ user: _user, safety_identifier: _id, ...rest }: JsonObject): JsonObject => rest;

/** Distinguishes the end users of a tenant; the same user has different hashes in different tenants. */
export const endUserHash = (tenant: string, id: string): string =>
  `user_${createHash('sha256')
    .update(JSON.stringify([tenant, id]))
    .digest('hex')
    .slice(0, 24)}`;

export const isEndUserHash = (text: string): boolean => /^user_[0-9a-f]{24}$/.test(text);

/** Ids of templates and models that a key may use; null for all. */
export type MayAsk = readonly string[] | null;

/** The tenant whose admins administer every tenant and whatever all tenants share. */
export const operatingTenant = 'default';

/** The caller of an admin route. */
export interface Admin extends Caller {
  readonly mayAsk: MayAsk;
}

/** Identifies the caller and its rights by its key, or the cookie of a session that stands for one; never by the client's address. */
@Injectable()
export class Callers {
  /** The session of a request is read once, although several parts ask for it. */
  private readonly known = new WeakMap<Request, Promise<KeyOwner | null>>();

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(IssuedKeys) private readonly issued: IssuedKeys,
    @Inject(Sessions) private readonly sessions: Sessions,
  ) {}

  /**
   * The caller of a route that accepts its key. A caller without a key, where none is required, may use every route that calls this.
   * Throws UNAUTHENTICATED without details, USER_KEY_NEEDED, STORE_UNAVAILABLE when the keys cannot be looked up.
   */
  async identify(request: Request): Promise<Caller> {
    const owner = await this.ownerOf(request);
    if (owner && !rolesFor(request).includes(owner.role)) throw new Failure('USER_KEY_NEEDED');
    const key = keyOf(request.headers);
    const caller = owner
      ? { tenant: owner.tenant, actor: owner.actor }
      : { tenant: 'default', actor: key === null ? 'anonymous' : fingerprint(key) };
    return withEndUser(caller, request.headers['x-openwebui-user-id']);
  }

  /** The caller and what it may read of others in its tenant: everything when keys are not required and only this machine has access. */
  async reader(request: Request): Promise<{ readonly caller: Caller; readonly role: KeyRole }> {
    const caller = await this.identify(request);
    return { caller, role: (await this.ownerOf(request))?.role ?? this.roleWithoutKey() };
  }

  /** Whether the request has the key of an auditor, who changes nothing that was there before. */
  async isAuditor(request: Request): Promise<boolean> {
    return (await this.ownerOf(request))?.role === 'auditor';
  }

  /** What a caller without a key may read at a gateway that does not require one. */
  roleWithoutKey(): KeyRole {
    return this.options.keys === null && !this.options.access?.open ? 'auditor' : 'user';
  }

  /** The caller of an admin route, named by its key. Throws UNAUTHENTICATED, ADMIN_KEY_NEEDED, STORE_UNAVAILABLE. */
  async identifyAdmin(request: Request): Promise<Admin> {
    const owner = await this.ownerOf(request);
    if (owner?.role !== 'admin') throw new Failure('ADMIN_KEY_NEEDED');
    return { tenant: owner.tenant, actor: owner.name, mayAsk: owner.templates ?? null };
  }

  /**
   * The caller of the audit, named by its key, and whether it may read the audit of every tenant. A caller without a key may read none of it, from
   * any machine: the audit contains prompts. Throws UNAUTHENTICATED, AUDITOR_KEY_NEEDED, STORE_UNAVAILABLE.
   */
  async identifyAuditor(request: Request): Promise<Caller & { readonly ofAll: boolean }> {
    const owner = await this.ownerOf(request);
    if (!owner || owner.role === 'user') throw new Failure('AUDITOR_KEY_NEEDED');
    return { tenant: owner.tenant, actor: owner.name, ofAll: owner.role === 'admin' && owner.tenant === operatingTenant };
  }

  /** As `identifyAdmin`, for a route to something that all tenants share. Also throws OPERATOR_KEY_NEEDED. */
  async identifyOperator(request: Request): Promise<Admin> {
    const admin = await this.identifyAdmin(request);
    if (admin.tenant !== operatingTenant) throw new Failure('OPERATOR_KEY_NEEDED', `This key administers only the tenant ${admin.tenant}.`);
    return admin;
  }

  /** Whether the caller may see prompts and raw replies. Reading them is recorded (`DetailReads`). */
  async maySeeDetail(request: Request): Promise<boolean> {
    const owner = await this.ownerOf(request);
    return owner !== null && (owner.detail === 'full' || owner.role !== 'user');
  }

  /** Whether the caller may read why this gateway is not ready: operators may; without required keys everyone may, unless other machines have access. */
  async maySeeReasons(request: Request): Promise<boolean> {
    const { keys, access } = this.options;
    if (keys === null && !access?.open) return true;
    const owner = await this.ownerOf(request).catch(() => null);
    return owner?.role === 'admin' && owner.tenant === operatingTenant;
  }

  /**
   * Whether a new run keeps prompts and raw replies in its events: as requested; by default only for a key with `detail: full`.
   * Throws DETAIL_NOT_ALLOWED.
   */
  async detailOf(request: Request, wish: 'redacted' | 'full' | null): Promise<'redacted' | 'full'> {
    if (wish === null) return (await this.ownerOf(request))?.detail ?? 'redacted';
    if (wish === 'full' && !(await this.maySeeDetail(request))) throw new Failure('DETAIL_NOT_ALLOWED');
    return wish;
  }

  /** Ids that the caller may use; null for all. */
  async mayAsk(request: Request): Promise<MayAsk> {
    return (await this.ownerOf(request))?.templates ?? null;
  }

  /** The limits of the key, of the end user (a hash) and of its tenant; null where none are set. */
  async limitsOf(request: Request, user?: string): Promise<Limited | null> {
    const owner = await this.ownerOf(request);
    if (!owner) return null;
    const { tenant, keyId, actor, limits, userLimits, tenantLimits } = owner;
    const accounts = [
      ...limitedBy({ id: keyId, actor }, limits),
      ...(user === undefined ? [] : limitedBy({ id: userAccount(keyId, user), actor, user }, userLimits)),
      ...limitedBy({ id: tenantAccount }, tenantLimits ?? (await this.issued.tenantLimits(tenant))),
    ];
    return accounts.length > 0 ? { tenant, accounts } : null;
  }

  /** Returns null when no key is required and the caller has no known key. Throws UNAUTHENTICATED, and the errors of the lookup. */
  ownerOf(request: Request): Promise<KeyOwner | null> {
    const known = this.known.get(request) ?? this.lookUp(request);
    this.known.set(request, known);
    return known;
  }

  /** The owner of the key with this SHA-256, configured or issued; null if there is none. Throws STORE_UNAVAILABLE. */
  async ownerOfHash(hash: string): Promise<KeyOwner | null> {
    const { keys, access } = this.options;
    return (await (keys ?? access?.known)?.identifyHash(hash)) ?? this.issued.identifyHash(hash);
  }

  private async lookUp(request: Request): Promise<KeyOwner | null> {
    const { keys, access } = this.options;
    const value = keyOf(request.headers);
    const session = value === null ? await this.sessions.of(request) : null;
    if (session !== null) return this.watched(request, session === 'ended' ? null : session.keyHash);
    const configured = await (keys ?? access?.known)?.identify(value);
    if (configured) return configured;
    // A revoked key must not be treated as a caller without a key.
    if (value?.startsWith(issuedPrefix)) return this.watched(request, hashOfKey(value));
    if (keys !== null) throw new Failure('UNAUTHENTICATED');
    return null;
  }

  /** The owner of this key while it is valid. Throws UNAUTHENTICATED. */
  private async watched(request: Request, hash: string | null): Promise<KeyOwner> {
    const owner = hash === null ? null : await this.ownerOfHash(hash);
    if (!owner) throw new Failure('UNAUTHENTICATED');
    if (request.res && this.issued.has(hash!)) this.issued.watch(hash!, request.res);
    return owner;
  }
}

const limitedBy = (account: Omit<LimitedAccount, 'limits'>, limits: KeyLimits | undefined): LimitedAccount[] =>
  limits && isLimited(limits) ? [{ ...account, limits }] : [];
