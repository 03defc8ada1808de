import { isIP, isIPv4, isIPv6 } from 'node:net';
import { Failure } from '@conclave/contracts';

/** Host and port of a header, normalised: lower case, no trailing dot, IPv6 in its shortest form without brackets. */
export interface Authority {
  readonly name: string;
  readonly port: number | null;
}

/** Only a name or an address, with or without a port: no user names, spaces, paths or other parts of a URL. */
const shape = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/i;

/** Returns null for an invalid host. */
export function authorityOf(text: string): Authority | null {
  const [, host = '', port] = shape.exec(text) ?? [];
  const name = host.startsWith('[') ? shortestIPv6(host.slice(1, -1)) : host.toLowerCase().replace(/\.$/, '');
  return name === '' ? null : { name, port: port === undefined ? null : Number(port) };
}

/** Returns an empty text for an invalid IPv6 address. */
const shortestIPv6 = (address: string): string => (isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : '');

/** Whether a name or address, from `authorityOf` or from HOST, is a loopback address. */
export function isLoopback(name: string): boolean {
  if (isIPv6(name)) {
    const short = shortestIPv6(name);
    return short === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(short);
  }
  return name === 'localhost' || (isIPv4(name) && name.startsWith('127.'));
}

export interface HostRules {
  /** Allowed names besides the loopback ones, with a port or for every port. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call this gateway. */
  readonly origins?: readonly string[];
  /** Other machines have access: then any IP address is allowed too, because only a name can be made to resolve to another machine. */
  readonly open: boolean;
}

export interface Addressed {
  readonly headers: { readonly origin?: string | undefined; readonly 'sec-fetch-site'?: string | string[] | undefined };
  /** Names and values alternating, as received. */
  readonly rawHeaders: readonly string[];
  /** Request target as received. */
  readonly url?: string | undefined;
}

/**
 * Why a request must be refused while keys are not required; null when it may be answered. A page in a browser can reach this gateway under a name
 * that it made resolve to it (visible in Host) or as a page of another origin (visible in Origin).
 */
export function refusalOfHost({ headers, rawHeaders, url = '/' }: Addressed, rules: HostRules): Failure | null {
  const host = hostOf(rawHeaders);
  if (!host || !isAllowed(host, rules)) return new Failure('HOST_NOT_ALLOWED');
  // The authority of an absolute-form target takes precedence over the Host header.
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (target !== undefined && !isSame(authorityOf(target), host, 80)) return new Failure('HOST_NOT_ALLOWED');
  if (headers.origin === undefined || rules.origins?.includes(headers.origin)) return null;
  const [, scheme = '', page = ''] = /^(https?):\/\/(.*)$/i.exec(headers.origin) ?? [];
  return isSame(authorityOf(page), host, scheme.toLowerCase() === 'https' ? 443 : 80) ? null : new Failure('ORIGIN_NOT_ALLOWED');
}

/**
 * Whether a request with a cookie comes from a page of the host that it names, or from no page at all. `allowed`: names under which a proxy
 * publishes this gateway. The host itself is not checked: a browser sends no cookie to another name.
 */
export function isSamePage(
  { headers, rawHeaders }: Pick<Addressed, 'headers' | 'rawHeaders'>,
  allowed: readonly (Authority | null)[],
): boolean {
  const host = hostOf(rawHeaders);
  const site = headers['sec-fetch-site'];
  if (!host || (site !== undefined && site !== 'same-origin' && site !== 'none')) return false;
  if (headers.origin === undefined) return true;
  const [, scheme = '', page = ''] = /^(https?):\/\/(.*)$/i.exec(headers.origin) ?? [];
  const usualPort = scheme.toLowerCase() === 'https' ? 443 : 80;
  const from = authorityOf(page);
  return [host, ...allowed].some(
    (other) =>
      other !== null &&
      from !== null &&
      (isSame(from, other, usualPort) || (other !== host && other.port === null && other.name === from.name)),
  );
}

/** Null unless the request names exactly one valid host. */
function hostOf(rawHeaders: readonly string[]): Authority | null {
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'host');
  return hosts.length === 1 ? authorityOf(hosts[0]!) : null;
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
