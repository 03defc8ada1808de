import * as z from 'zod';
import { invalid, tooLarge } from '../refusal.js';
import { defineTool } from '../tool.js';
import { addressText, bitsOf, rangeOf, readAddress, readSubnet } from './address.js';
import { kindOf } from './special-ranges.js';

const mostListed = 256n;

export const subnetCalc = defineTool({
  name: 'subnet_calc',
  title: 'Subnet calculator',
  description:
    'Network, broadcast, netmask, host range and counts of an IPv4 or IPv6 network; optionally whether it contains an address, its division into smaller networks, or its hosts (up to 256).',
  input: {
    cidr: z.string().max(200).describe('such as 192.168.1.10/24, 10.0.0.0/255.255.0.0 or 2001:db8::/48'),
    contains: z.string().max(100).optional().describe('an address to look for'),
    split_prefix: z.int().min(0).max(128).optional().describe('divide into networks of this prefix'),
    list_hosts: z.boolean().default(false).describe('list the usable hosts; refused for more than 256'),
  },
  output: {
    version: z.union([z.literal(4), z.literal(6)]),
    cidr: z.string().describe('the network in its normal form'),
    network: z.string(),
    broadcast: z.string().optional().describe('IPv4 up to /30'),
    last_address: z.string(),
    netmask: z.string().optional(),
    wildcard: z.string().optional(),
    prefix: z.int(),
    addresses: z.string().describe('how many, as text: it may exceed 2^53'),
    usable_hosts: z.string().describe('IPv4: without network and broadcast address, except /31 (RFC 3021) and /32; IPv6: all'),
    first_host: z.string(),
    last_host: z.string(),
    kind: z.string(),
    contains: z.boolean().optional(),
    split: z.strictObject({ count: z.string(), first: z.array(z.string()).describe('at most 256') }).optional(),
    hosts: z.array(z.string()).optional(),
  },
  run({ cidr, contains, split_prefix, list_hosts }) {
    const subnet = readSubnet(cidr);
    const { address, prefix } = subnet;
    const { version } = address;
    const bits = bitsOf(version);
    const { first, last } = rangeOf(subnet);
    const text = (value: bigint): string => addressText({ version, value });
    const hasBroadcast = version === 4 && prefix < 31;
    const [firstHost, lastHost] = hasBroadcast ? [first + 1n, last - 1n] : [first, last];
    const usable = lastHost - firstHost + 1n;
    if (list_hosts && usable > mostListed)
      throw tooLarge(
        `This network has ${usable.toLocaleString('en')} hosts; at most ${mostListed} are listed. Ask without list_hosts: the counts and the first and last host are given for any size.`,
      );
    const mask = ((1n << BigInt(bits)) - 1n) ^ (last - first);
    return {
      version,
      cidr: `${text(first)}/${prefix}`,
      network: text(first),
      ...(hasBroadcast && { broadcast: text(last) }),
      last_address: text(last),
      ...(version === 4 && { netmask: text(mask), wildcard: text(last - first) }),
      prefix,
      addresses: (last - first + 1n).toString(),
      usable_hosts: usable.toString(),
      first_host: text(firstHost),
      last_host: text(lastHost),
      kind: kindOf(version, first, last),
      ...(contains !== undefined && { contains: holds(contains) }),
      ...(split_prefix !== undefined && { split: split(split_prefix) }),
      ...(list_hosts && { hosts: Array.from({ length: Number(usable) }, (_, i) => text(firstHost + BigInt(i))) }),
    };

    function holds(wanted: string): boolean {
      const other = readAddress(wanted);
      if (other.version !== version) throw invalid(`contains is an IPv${other.version} address, the network is IPv${version}.`);
      return first <= other.value && other.value <= last;
    }
    function split(into: number): { count: string; first: string[] } {
      if (into < prefix || into > bits) throw invalid(`split_prefix must lie between ${prefix} and ${bits}.`);
      const count = 1n << BigInt(into - prefix);
      const size = 1n << BigInt(bits - into);
      const listed = Number(count < mostListed ? count : mostListed);
      return { count: count.toString(), first: Array.from({ length: listed }, (_, i) => `${text(first + size * BigInt(i))}/${into}`) };
    }
  },
});
