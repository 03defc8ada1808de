import ipaddr from 'ipaddr.js';
import { Failure } from '@conclave/contracts';

/** Ports that pages are read from; an entry of the allow-list may name others. */
const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/** Addresses in public ranges that belong to the machine services of a cloud: Azure's wire server. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Private ranges that an allowed host may use; link-local ones (metadata services), multicast, translated and reserved ones are never
 * allowed.
 */
const privateRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Where an address belongs: to the public web, to a private network, or nowhere from which a page may be read. */
export function reachOf(address: string): 'public' | 'private' | 'refused' {
  if (!ipaddr.isValid(address)) return 'refused';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (privateRanges.has(range)) return 'private';
  if (range !== 'unicast' || cloudServices.has(parsed.toString())) return 'refused';
  return parsed.kind() === 'ipv6' && !parsed.match(globalUnicast) ? 'refused' : 'public';
}

/** Hosts whose pages may be read although they are private: `host` with every port, or `host:port`. Names, IPv4, or IPv6 in brackets. */
export class AllowedHosts {
  private readonly hosts = new Set<string>();

  /** Throws CONFIGURATION_INVALID, which names the setting, for an entry that is not a host. */
  constructor(entries: readonly string[], setting = 'search.allow_hosts') {
    for (const entry of entries) this.hosts.add(normalised(entry, setting));
  }
  has(host: string, port: number): boolean {
    return this.hosts.has(host) || this.hosts.has(`${host}:${port}`);
  }
}

function normalised(entry: string, setting: string): string {
  const text = entry.trim().toLowerCase();
  const bare = text.includes('::') && !text.startsWith('[') ? `[${text}]` : text;
  const address = `http://${bare}`;
  if (!URL.canParse(address) || /[/?#@\s]/.test(bare))
    throw new Failure('CONFIGURATION_INVALID', `${setting}: \`${entry}\` is not a host or host:port.`);
  const { hostname } = new URL(address);
  const port = /:(\d{1,5})$/.exec(bare.replace(/^\[[^\]]*\]/, ''))?.[1];
  return hostOf(hostname) + (port ? `:${Number(port)}` : '');
}

/** `example.org` of `EXAMPLE.org.`; IPv6 keeps its brackets. */
export const hostOf = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '');

/** A page address that passed the checks that need no name server. */
export interface WebAddress {
  readonly url: URL;
  /** Without brackets, as a socket expects it. */
  readonly host: string;
  readonly port: number;
  /** Whether the host may be in a private network. */
  readonly allowed: boolean;
}

const refuse = (detail: string): Failure => new Failure('PAGE_REFUSED', detail);

/** Checks scheme, credentials, port and literal addresses. Throws PAGE_REFUSED. */
export function webAddress(text: string, allowedHosts: AllowedHosts, base?: URL): WebAddress {
  if (text.length > 4_096 || !URL.canParse(text, base?.href)) throw refuse('It is not the address of a page.');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('Only http and https addresses are read.');
  if (url.username !== '' || url.password !== '') throw refuse('It contains a user name or a password.');
  url.hash = '';
  const name = hostOf(url.hostname);
  if (name === '') throw refuse('It names no host.');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const allowed = allowedHosts.has(name, port);
  if (!allowed && !webPorts.has(port)) throw refuse(`Pages are not read from port ${port}.`);
  const host = name.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host)) {
    // 2130706433, 0x7f.1, 0177.0.0.1 and full-width digits all become 127.0.0.1: people have no reason to write an address that way.
    if (!name.startsWith('[') && !spelledAs(text, name, url, base)) throw refuse('It writes an IP address in an unusual way.');
    checkReach(host, allowed);
  }
  return { url, host, port, allowed };
}

/** Whether the text itself, or the base of a relative one, contains the host in its plain form. */
function spelledAs(text: string, host: string, url: URL, base: URL | undefined): boolean {
  const authority = /^\s*[a-z][a-z0-9+.-]*:[\\/]*([^\\/?#]*)/i.exec(text)?.[1] ?? /^[\\/]{2}([^\\/?#]*)/.exec(text)?.[1];
  if (authority === undefined) return base?.hostname === url.hostname;
  return hostOf(authority.replace(/^.*@/, '').replace(/:\d*$/, '')) === host;
}

/** The target of a redirect. Throws PAGE_REFUSED; a public page must not lead into a network that only the operator sees. */
export function redirected(from: WebAddress, location: string, allowedHosts: AllowedHosts): WebAddress {
  const next = webAddress(location, allowedHosts, from.url);
  if (next.allowed && !from.allowed) throw refuse('A public page redirects to a private host.');
  return next;
}

/** Throws PAGE_REFUSED for an address that must not be connected to. */
export function checkReach(address: string, allowed: boolean): void {
  const reach = reachOf(address);
  if (reach === 'refused' || (reach === 'private' && !allowed)) throw refuse('Its host is not on the public web.');
}
