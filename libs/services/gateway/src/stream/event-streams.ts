import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure } from '@conclave/contracts';
import type { Response } from 'express';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';

/** Counts open event streams by API key: reading costs no tokens, so no other limit holds them down. */
@Injectable()
export class EventStreams {
  private readonly open = new Map<string, number>();

  constructor(@Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'eventStreams'>) {}

  /** Counts this response as a stream of its key until it closes. Throws STREAMS_OPEN, before the head is sent. */
  admit(response: Response, { tenant, actor }: Caller): void {
    const key = JSON.stringify([tenant, actor]);
    const open = this.open.get(key) ?? 0;
    if (open >= this.limits.eventStreams) throw new Failure('STREAMS_OPEN', `${open} event streams are open.`);
    if (response.destroyed || response.closed) return;
    this.open.set(key, open + 1);
    response.once('close', () => this.closed(key));
  }

  private closed(key: string): void {
    const left = this.open.get(key)! - 1;
    if (left === 0) this.open.delete(key);
    else this.open.set(key, left);
  }
}
