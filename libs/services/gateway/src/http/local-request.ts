import { isIPv4 } from 'node:net';
import type { Request } from 'express';

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
