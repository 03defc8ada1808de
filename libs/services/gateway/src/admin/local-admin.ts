import { isIPv4 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
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

/**
 * Why a request does not count as local; null when it does. The connection must come from this machine, by no proxy, and by
 * a loopback name: a page in a browser here whose name was pointed at 127.0.0.1 is not the operator.
 */
export function strangeness(request: Pick<Request, 'headers'> & { readonly socket: { readonly remoteAddress?: string } }): string | null {
  const { headers, socket } = request;
  if (!isLoopback(socket.remoteAddress ?? '')) return 'The request came from another machine.';
  for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip'] as const)
    if (headers[name] !== undefined) return `The request came through a proxy (it carries ${name}).`;
  if (!isLoopback(hostOf(`http://${headers.host ?? ''}`))) return 'The request named a host that is not the loopback address.';
  if (headers.origin !== undefined && !isLoopback(hostOf(headers.origin))) return 'The request came from a page of another origin.';
  return null;
}

function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return plain === 'localhost' || plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

/** Empty for what is no address: that is no loopback name. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');
