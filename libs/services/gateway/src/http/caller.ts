import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure } from '@conclave/contracts';
import type { Request } from 'express';
import { IssuedKeys } from '../accounts/issued-keys.js';
import { issuedPrefix } from '../accounts/key-value.js';
import { GATEWAY_OPTIONS, type GatewayOptions, type KeyOwner } from '../options.js';

/** The key of a request, from `Authorization: Bearer` or `x-api-key` alike; null without one. */
export function keyOf(headers: Request['headers']): string | null {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  const plain = headers['x-api-key'];
  return bearer ?? (typeof plain === 'string' && plain !== '' ? plain : null);
}

/** First 12 hex digits of the key's SHA-256: tells callers apart and is useless as a key. */
export const fingerprint = (key: string): string => `key_${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;

/** Ids of templates and models that a key may ask; null for all. */
export type MayAsk = readonly string[] | null;

/** The tenant whose admins administer all tenants, and what serves all of them. */
export const operatingTenant = 'default';

/** The caller of an admin route. */
export interface Admin extends Caller {
  readonly mayAsk: MayAsk;
}

/** Identifies the caller and its rights by the key alone, never by the client's address. */
@Injectable()
export class Callers {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(IssuedKeys) private readonly issued: IssuedKeys,
  ) {}

  /** Throws UNAUTHENTICATED without details, STORE_UNAVAILABLE when the keys cannot be looked up. */
  async identify(request: Request): Promise<Caller> {
    const owner = await this.ownerOf(request);
    if (owner) return { tenant: owner.tenant, actor: owner.actor };
    const key = keyOf(request.headers);
    return { tenant: 'default', actor: key === null ? 'anonymous' : fingerprint(key) };
  }

  /** The caller of an admin route, named by its key. Throws UNAUTHENTICATED, ADMIN_KEY_NEEDED, STORE_UNAVAILABLE. */
  async identifyAdmin(request: Request): Promise<Admin> {
    const owner = await this.ownerOf(request);
    if (owner?.role !== 'admin') throw new Failure('ADMIN_KEY_NEEDED');
    return { tenant: owner.tenant, actor: owner.name, mayAsk: owner.templates ?? null };
  }

  /** As `identifyAdmin`, for a route to what serves all tenants. Also throws OPERATOR_KEY_NEEDED. */
  async identifyOperator(request: Request): Promise<Admin> {
    const admin = await this.identifyAdmin(request);
    if (admin.tenant !== operatingTenant)
      throw new Failure('OPERATOR_KEY_NEEDED', `This key administers the tenant ${admin.tenant} alone.`);
    return admin;
  }

  /** Whether the caller may see prompts and raw replies. */
  async maySeeDetail(request: Request): Promise<boolean> {
    const owner = await this.ownerOf(request);
    return owner !== null && (owner.detail === 'full' || owner.role !== 'user');
  }

  /** Whether the caller may read why this gateway is not ready: operators; without keys, everybody unless other machines have access. */
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

  /** What the caller may ask; null for everything. */
  async mayAsk(request: Request): Promise<MayAsk> {
    return (await this.ownerOf(request))?.templates ?? null;
  }

  /** Returns null when no key is required and this one is unknown. */
  private async ownerOf(request: Request): Promise<KeyOwner | null> {
    const { keys, access } = this.options;
    const value = keyOf(request.headers);
    const configured = await (keys ?? access?.known)?.identify(value);
    if (configured) return configured;
    const owner = await this.issued.identify(value);
    // A revoked key must not become a caller without a key.
    if (!owner && (keys !== null || value?.startsWith(issuedPrefix))) throw new Failure('UNAUTHENTICATED');
    if (owner && request.res) this.issued.watch(value!, request.res);
    return owner;
  }
}
