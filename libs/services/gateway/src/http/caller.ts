import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure } from '@conclave/contracts';
import type { Request } from 'express';
import { strangeness } from './local-request.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** The key of a request, accepted identically as `Authorization: Bearer` and as `x-api-key`; null where there is none. */
export function keyOf(headers: Request['headers']): string | null {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  const plain = headers['x-api-key'];
  return bearer ?? (typeof plain === 'string' && plain !== '' ? plain : null);
}

/** First 12 hex digits of the key's SHA-256: enough to tell callers apart, useless as a key. */
export const fingerprint = (key: string): string => `key_${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;

/** Says who asks. */
@Injectable()
export class Callers {
  constructor(@Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions) {}

  /** Throws UNAUTHENTICATED, which tells nothing more; STORE_UNAVAILABLE when the keys cannot be looked up. */
  async identify(request: Request): Promise<Caller> {
    const key = keyOf(request.headers);
    if (this.options.keys === null) return { tenant: 'default', actor: key === null ? 'anonymous' : fingerprint(key) };
    const known = await this.options.keys.identify(key);
    if (!known) throw new Failure('UNAUTHENTICATED');
    return { tenant: known.tenant, actor: known.actor };
  }

  /** Whether who asks may see prompts and raw replies: by its key; without keys, from the machine of the gateway itself. */
  async maySeeDetail(request: Request): Promise<boolean> {
    if (this.options.keys === null) return strangeness(request) === null;
    return (await this.options.keys.identify(keyOf(request.headers)))?.detail === 'full';
  }

  /**
   * Whether a new run keeps prompts and raw replies in its events: as asked; else as the key allows; without keys never unasked.
   * Throws DETAIL_NOT_ALLOWED.
   */
  async detailOf(request: Request, wish: 'redacted' | 'full' | null): Promise<'redacted' | 'full'> {
    if (wish === 'redacted' || (wish === null && this.options.keys === null)) return 'redacted';
    if (await this.maySeeDetail(request)) return 'full';
    if (wish === 'full') throw new Failure('DETAIL_NOT_ALLOWED');
    return 'redacted';
  }
}
