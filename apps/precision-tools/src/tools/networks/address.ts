import { invalid, quoted } from '../refusal.js';

/** An address as a number: 32 bits of IPv4, 128 of IPv6. */
export interface IpAddress {
  version: 4 | 6;
  value: bigint;
}

export const bitsOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);

function readIpv4(text: string): bigint {
  const octets = text.split('.');
  if (octets.length !== 4 || octets.some((octet) => !/^\d{1,3}$/.test(octet) || Number(octet) > 255))
    throw invalid(`${quoted(text)} is not an IPv4 address: write four numbers from 0 to 255, such as 192.168.1.10.`);
  if (octets.some((octet) => octet.length > 1 && octet.startsWith('0')))
    throw invalid(`${quoted(text)} has a leading zero, which some programs read as octal: write the numbers without.`);
  return octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

function readIpv6(text: string): bigint {
  const bad = (): Error => invalid(`${quoted(text)} is not an IPv6 address: write it such as 2001:db8::1.`);
  let written = text.toLowerCase();
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(written);
  if (dotted) {
    const v4 = readIpv4(dotted[2]!);
    written = `${dotted[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = written.split('::');
  if (halves.length > 2) throw bad();
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[] | undefined];
  const given = head.length + (tail?.length ?? 0);
  if (tail ? given > 7 : given !== 8) throw bad();
  const groups = tail ? [...head, ...Array.from({ length: 8 - given }, () => '0'), ...tail] : head;
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/.test(group))) throw bad();
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

export function readAddress(text: string): IpAddress {
  const written = text.trim();
  if (written.includes('%')) throw invalid(`${quoted(written)} has a zone: leave out the part from "%" on.`);
  return written.includes(':') ? { version: 6, value: readIpv6(written) } : { version: 4, value: readIpv4(written) };
}

/** IPv6 as required by RFC 5952: lower case, the longest run of zeros shortened, the first one if several are equal. */
export function addressText({ version, value }: IpAddress): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(112 - 16 * i)) & 0xffffn);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0n) length += 1;
    if (length > best.length) best = { start, length };
  }
  const texts = groups.map((group) => group.toString(16));
  if (best.start < 0) return texts.join(':');
  return `${texts.slice(0, best.start).join(':')}::${texts.slice(best.start + best.length).join(':')}`;
}

/** Bits of the prefix of a netmask such as 255.255.255.0 (or a wildcard mask such as 0.0.0.255). */
function prefixOfMask(text: string): number {
  const mask = readIpv4(text);
  const all = (1n << 32n) - 1n;
  const ones = (value: bigint): number | null => {
    const inverted = all ^ value;
    return (inverted & (inverted + 1n)) === 0n ? 32 - (inverted === 0n ? 0 : inverted.toString(2).length) : null;
  };
  const prefix = ones(mask) ?? ones(all ^ mask);
  if (prefix === null) throw invalid(`${quoted(text)} is not a netmask: its ones must be contiguous.`);
  return prefix;
}

export interface Subnet {
  address: IpAddress;
  prefix: number;
}

/** Reads 192.168.1.10/24, 10.0.0.0/255.255.0.0, "10.0.0.0 255.0.0.0", 2001:db8::/32; without a prefix, a single address. */
export function readSubnet(text: string): Subnet {
  const [written = '', mask, ...more] = text.trim().split(/\s*\/\s*|\s+/);
  if (more.length > 0) throw invalid('Write one network such as 192.168.1.0/24.');
  const address = readAddress(written);
  const bits = bitsOf(address.version);
  if (mask === undefined) return { address, prefix: bits };
  if (address.version === 4 && mask.includes('.')) return { address, prefix: prefixOfMask(mask) };
  if (!/^\d{1,3}$/.test(mask) || Number(mask) > bits)
    throw invalid(`The prefix of an IPv${address.version} network goes from 0 to ${bits}, not ${quoted(mask)}.`);
  return { address, prefix: Number(mask) };
}

export function rangeOf({ address, prefix }: Subnet): { first: bigint; last: bigint } {
  const size = 1n << BigInt(bitsOf(address.version) - prefix);
  const first = (address.value / size) * size;
  return { first, last: first + size - 1n };
}
