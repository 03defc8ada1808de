import { Inject, Injectable } from '@nestjs/common';
import { csrfHeader, Failure } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Request } from 'express';
import * as z from 'zod';
import { hashOfKey } from '../accounts/key-value.js';
import { authorityOf, isSamePage } from '../http/hosts.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { csrfOf, idOf, isCsrf, newToken, seal, tokenIn, unseal } from './session-token.js';

/** Not the name of a tenant: sessions belong to none. */
const keptUnder = '*sessions';
/** Milliseconds for which a one-time link opens the console. */
const linkMs = 10 * 60_000;
/** Milliseconds between two records that a session is in use. */
const noteEveryMs = 60_000;
const unsafe = /^(?!GET$|HEAD$|OPTIONS$)/;

const Stored = z.object({ box: z.string() });
const Sealed = z.object({ key: z.string(), began: z.number(), noted: z.number() });
type Sealed = z.infer<typeof Sealed>;

/** A session that was looked up. */
export interface Session {
  readonly token: string;
  /** SHA-256 of the value of its key. */
  readonly keyHash: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
  readonly csrf: string;
}

/**
 * Sessions of pages in a browser. A cookie with a random token stands for an API key; the state store keeps the hash of that key, encrypted with
 * the token, under a hash of the token. So every gateway of the system knows a session, and neither the cookie nor the store reveals a key.
 */
@Injectable()
export class Sessions {
  /** Hash of a key's value, by the token of an unused link. */
  private readonly links = new Map<string, { readonly keyHash: string; readonly until: number }>();

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'access'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'sessionIdleMs' | 'sessionMs'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'caches'>,
  ) {}

  /** Starts a session for the key with this hash. */
  async begin(keyHash: string): Promise<Session> {
    const [token, now] = [newToken(), Date.now()];
    await this.write(token, { key: keyHash, began: now, noted: now });
    return this.sessionOf(token, { key: keyHash, began: now, noted: now });
  }

  /** A token that starts one session for the key with this hash, at this gateway, within ten minutes. */
  makeLink(keyHash: string): string {
    const token = newToken();
    this.links.set(idOf(token), { keyHash, until: Date.now() + linkMs });
    return token;
  }

  /** The hash of the key that a link is for; the link is invalid afterwards. Throws SIGN_IN_LINK_INVALID. */
  takeLink(token: string): string {
    const id = idOf(token);
    const link = this.links.get(id);
    this.links.delete(id);
    if (!link || Date.now() >= link.until) throw new Failure('SIGN_IN_LINK_INVALID');
    return link.keyHash;
  }

  /**
   * The session that a request's cookie names; null without a cookie, `ended` for a cookie that names no session. Throws
   * SESSION_ORIGIN_NOT_ALLOWED, CSRF_TOKEN_NEEDED, and the errors of the store.
   */
  async of(request: Request): Promise<Session | 'ended' | null> {
    const token = tokenIn(request.headers.cookie);
    if (token === null) return null;
    this.assertOwnPage(request);
    const session = token === '' ? null : await this.read(token);
    if (!session) return 'ended';
    if (unsafe.test(request.method) && !isCsrf(token, request.headers[csrfHeader])) throw new Failure('CSRF_TOKEN_NEEDED');
    return session;
  }

  /** Ends a session at every gateway. */
  async end({ token, endsAt }: Session): Promise<void> {
    // The ban prevents a gateway that records its use at this moment from restoring it.
    await this.state.caches.removeTagged(keptUnder, idOf(token), Math.max(1, endsAt - Date.now()));
  }

  /** Whether a request comes from a page of this gateway, or from a program. Throws SESSION_ORIGIN_NOT_ALLOWED. */
  assertOwnPage(request: Pick<Request, 'headers' | 'rawHeaders'>): void {
    const allowed = this.options.access?.allowedHosts ?? [];
    if (!isSamePage(request, allowed.map(authorityOf))) throw new Failure('SESSION_ORIGIN_NOT_ALLOWED');
  }

  private async read(token: string): Promise<Session | null> {
    const entry = await this.state.caches.read(keptUnder, idOf(token));
    const stored = Stored.safeParse(entry?.value);
    if (!stored.success) return null;
    const sealed = Sealed.parse(JSON.parse(unseal(token, stored.data.box)));
    const now = Date.now();
    if (now >= sealed.noted + this.limits.sessionIdleMs || now >= sealed.began + this.limits.sessionMs) return null;
    if (now - sealed.noted >= Math.min(noteEveryMs, this.limits.sessionIdleMs / 4)) await this.write(token, { ...sealed, noted: now });
    return this.sessionOf(token, sealed);
  }

  private async write(token: string, sealed: Sealed): Promise<void> {
    const ttlMs = Math.max(1, Math.min(this.limits.sessionIdleMs, sealed.began + this.limits.sessionMs - Date.now()));
    const id = idOf(token);
    await this.state.caches.write({
      tenant: keptUnder,
      key: id,
      value: { box: seal(token, JSON.stringify(sealed)) } satisfies z.infer<typeof Stored>,
      ttlMs,
      tags: [id],
    });
  }

  private sessionOf(token: string, { key, began }: Sealed): Session {
    return { token, keyHash: key, endsAt: began + this.limits.sessionMs, csrf: csrfOf(token) };
  }
}

/** Address that opens the console signed in, once. The token follows `#`, so that it reaches no server and no log. */
export const signInLink = (address: string, sessions: Sessions, key: string): string =>
  `${address}/#signin=${sessions.makeLink(hashOfKey(key))}`;
