import { rangeOf, readSubnet, type IpAddress } from './address.js';

/** From IANA's registries of special-purpose addresses (RFC 6890 and its updates); the first match counts. */
const ranges: readonly (readonly [string, string])[] = [
  ['10.0.0.0/8', 'private (RFC 1918)'],
  ['172.16.0.0/12', 'private (RFC 1918)'],
  ['192.168.0.0/16', 'private (RFC 1918)'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['100.64.0.0/10', 'shared address space (RFC 6598)'],
  ['192.0.2.0/24', 'documentation'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['198.18.0.0/15', 'benchmarking'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'limited broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['0.0.0.0/8', 'this network'],
  ['::1/128', 'loopback'],
  ['::/128', 'unspecified'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['64:ff9b::/96', 'IPv4/IPv6 translation'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
  ['2002::/16', '6to4'],
  ['fc00::/7', 'unique local (RFC 4193)'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
];
const known = ranges.map(([text, kind]) => ({ subnet: readSubnet(text), kind }));

/** What a whole range is reserved for; "global or mixed" if no single block contains all of it. */
export function kindOf(version: IpAddress['version'], first: bigint, last: bigint): string {
  const found = known.find(({ subnet }) => {
    const range = rangeOf(subnet);
    return subnet.address.version === version && range.first <= first && last <= range.last;
  });
  return found?.kind ?? 'global or mixed';
}
