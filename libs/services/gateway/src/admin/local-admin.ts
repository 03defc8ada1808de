import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { strangeness } from '../http/local-request.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** Who calls an admin route, and whether they may: only from the machine of the gateway itself, by its loopback address. */
@Injectable()
export class LocalAdmin {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  /**
   * The caller, under the name to be recorded. Without keys a caller may say who it is in `x-conclave-actor`; nobody checks that,
   * and the record says `local:` before it. Throws UNAUTHENTICATED, ADMIN_LOCAL_ONLY.
   */
  async identify(request: Request): Promise<Caller> {
    const caller = await this.callers.identify(request);
    const why = strangeness(request);
    if (why !== null) throw new Failure('ADMIN_LOCAL_ONLY', why);
    const claimed = request.headers['x-conclave-actor'];
    if (this.options.keys !== null || typeof claimed !== 'string' || !/^[\w.@-]{1,64}$/.test(claimed)) return caller;
    return { ...caller, actor: `local:${claimed}` };
  }
}
