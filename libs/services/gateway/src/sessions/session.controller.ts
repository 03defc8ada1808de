import { Controller, Delete, Get, Header, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { accessKinds, Failure, sessionCookie, type SessionEnded, SessionRequest, type SessionView } from '@conclave/contracts';
import type { Request } from 'express';
import { hashOfKey } from '../accounts/key-value.js';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, type KeyOwner } from '../options.js';
import { type Session, Sessions } from './sessions.js';

/** Signs pages in and out. */
@Controller('v1/session')
export class SessionController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'keys' | 'access' | 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Sessions) private readonly sessions: Sessions,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async begin(@Req() request: Request): Promise<SessionView> {
    this.sessions.assertOwnPage(request);
    const { key, token } = parseBody(SessionRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    if ((key === undefined) === (token === undefined))
      throw new Failure('REQUEST_INVALID', 'Send either `key` or `token`.', { param: 'key' });
    const hash = key === undefined ? this.sessions.takeLink(token!) : hashOfKey(key);
    const owner = await this.callers.ownerOfHash(hash);
    if (!owner) throw new Failure('UNAUTHENTICATED');
    const session = await this.sessions.begin(hash);
    this.setCookie(request, session.token, this.limits.sessionMs);
    this.options.logger.info('A page was signed in.', { key: owner.keyId, tenant: owner.tenant, by: key === undefined ? 'link' : 'key' });
    return this.viewOf(owner, session);
  }

  @Get()
  @Header('cache-control', 'no-store')
  async show(@Req() request: Request): Promise<SessionView> {
    const session = await this.sessions.of(request);
    if (session === 'ended') this.setCookie(request, '', 0);
    // An unknown session's cookie is deleted, so that it does not lock out a page that needs no key.
    if (session === 'ended' && this.options.keys !== null) throw new Failure('UNAUTHENTICATED');
    const owner = session === 'ended' ? null : await this.callers.ownerOf(request);
    if (owner) return this.viewOf(owner, session === 'ended' ? null : session);
    const role = this.callers.roleWithoutKey();
    return { object: 'session', role, tenant: 'default', key_name: null, may_change: true, keyless: true, csrf: null, expires_at: null };
  }

  @Delete()
  async end(@Req() request: Request): Promise<SessionEnded> {
    const session = await this.sessions.of(request);
    this.setCookie(request, '', 0);
    if (session === null || session === 'ended') await this.callers.identify(request);
    else await this.sessions.end(session);
    return { object: 'session', ended: true };
  }

  private viewOf({ role, tenant, name }: KeyOwner, session: Session | null): SessionView {
    const { csrf, endsAt } = session ?? { csrf: null, endsAt: null };
    const may_change = accessKinds.change.roles.includes(role);
    return { object: 'session', role, tenant, key_name: name, may_change, keyless: this.options.keys === null, csrf, expires_at: endsAt };
  }

  private setCookie(request: Request, value: string, ageMs: number): void {
    const parts = [`${sessionCookie}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${Math.floor(ageMs / 1_000)}`];
    request.res!.setHeader('set-cookie', [...parts, ...(request.secure ? ['Secure'] : [])].join('; '));
  }
}
