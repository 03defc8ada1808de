import { isIP, isIPv4, isIPv6 } from 'node:net';
import { Failure } from '@conclave/contracts';

/** A host and its port as a header names them: small letters, no trailing dot, IPv6 in its shortest form and without brackets. */
export interface Authority {
  readonly name: string;
  readonly port: number | null;
}

/** Nothing but a name or an address with a port: user names, spaces, paths and whatever else a URL could hold are none. */
const shape = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/i;

/** Null for what is no host. */
export function authorityOf(text: string): Authority | null {
  const [, host = '', port] = shape.exec(text) ?? [];
  const name = host.startsWith('[') ? shortestIPv6(host.slice(1, -1)) : host.toLowerCase().replace(/\.$/, '');
  return name === '' ? null : { name, port: port === undefined ? null : Number(port) };
}

/** Empty for what is no IPv6 address. */
const shortestIPv6 = (address: string): string => (isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : '');

/** Whether a name or address, as `authorityOf` gives it or as HOST says it, means this machine and no other. */
export function isLoopback(name: string): boolean {
  if (isIPv6(name)) {
    const short = shortestIPv6(name);
    return short === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(short);
  }
  return name === 'localhost' || (isIPv4(name) && name.startsWith('127.'));
}

export interface HostRules {
  /** Names beside the loopback ones, with a port or for every port. */
  readonly allowedHosts: readonly string[];
  /** Other machines may ask: then a bare address is fine too, since only a name can be pointed at another machine. */
  readonly open: boolean;
}

export interface Addressed {
  readonly headers: { readonly origin?: string | undefined };
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Request target as it came. */
  readonly url?: string | undefined;
}

/**
 * Why a request must not be answered while no keys are asked for; null when it may be. A page in a browser can reach this gateway
 * under a name that it has pointed here (then Host names it), or as a page of another origin (then Origin does).
 */
export function refusalOfHost({ headers, rawHeaders, url = '/' }: Addressed, rules: HostRules): Failure | null {
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'host');
  const host = hosts.length === 1 ? authorityOf(hosts[0]!) : null;
  if (!host || !isAllowed(host, rules)) return new Failure('HOST_NOT_ALLOWED');
  // The authority of a target in absolute form stands above the header.
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (target !== undefined && !isSame(authorityOf(target), host, 80)) return new Failure('HOST_NOT_ALLOWED');
  if (headers.origin === undefined) return null;
  const [, scheme = '', page = ''] = /^(https?):\/\/(.*)$/i.exec(headers.origin) ?? [];
  return isSame(authorityOf(page), host, scheme.toLowerCase() === 'https' ? 443 : 80) ? null : new Failure('ORIGIN_NOT_ALLOWED');
}

const isSame = (one: Authority | null, other: Authority, usualPort: number): boolean =>
  one !== null && one.name === other.name && (one.port ?? usualPort) === (other.port ?? usualPort);

function isAllowed(host: Authority, { allowedHosts, open }: HostRules): boolean {
  if (isLoopback(host.name) || (open && isIP(host.name) !== 0)) return true;
  return allowedHosts.some((text) => {
    const allowed = authorityOf(text);
    return allowed?.name === host.name && (allowed.port === null || allowed.port === host.port);
  });
}
