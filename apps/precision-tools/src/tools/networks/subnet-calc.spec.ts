import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';
import { cpuMsSince } from '../__fixtures__/cpu-time.js';

const subnet = (cidr: string, more: Record<string, unknown> = {}) => ask('subnet_calc', { cidr, ...more });
const refused = (args: Record<string, unknown>): string => refusalOf('subnet_calc', args);
/** With the 32-bit operators of the language, which the tool does not use. */
const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

describe('subnet_calc', () => {
  it('agrees with 32-bit operators on every IPv4 network', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        const mask = prefix === 0 ? 0 : (-1 << (32 - prefix)) >>> 0;
        const [first, last] = [(address & mask) >>> 0, (address | (~mask >>> 0)) >>> 0];
        expect(subnet(`${dotted(address)}/${prefix}`)).toMatchObject({
          cidr: `${dotted(first)}/${prefix}`,
          netmask: dotted(mask),
          wildcard: dotted(~mask >>> 0),
          last_address: dotted(last),
          addresses: String(last - first + 1),
          usable_hosts: String(prefix >= 31 ? last - first + 1 : last - first - 1),
        });
        expect(subnet(`${dotted(address)}/${dotted(mask)}`).prefix).toBe(prefix);
      }),
    );
  });

  it('writes and reads IPv6 like the platform', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (parts) => {
        const written = parts.map((part) => part.toString(16)).join(':');
        const platform = new URL(`http://[${written}]/`).hostname.slice(1, -1);
        expect(subnet(`${written}/128`).network).toBe(platform);
        expect(subnet(platform).network).toBe(platform);
      }),
    );
  });

  it.each([
    ['10.0.0.0/8', 'private (RFC 1918)'],
    ['172.32.0.0/12', 'global or mixed'],
    ['169.254.1.1/32', 'link-local'],
    ['100.64.0.0/10', 'shared address space (RFC 6598)'],
    ['::1', 'loopback'],
    ['2001:db8::/48', 'documentation'],
    ['fd12::/16', 'unique local (RFC 4193)'],
    ['10.0.0.0/7', 'global or mixed'],
  ])('knows the purpose of %s: %s', (cidr, kind) => expect(subnet(cidr).kind).toBe(kind));

  it('lists few hosts, and refuses to list many at once', () => {
    expect(subnet('192.0.2.0/30', { list_hosts: true }).hosts).toEqual(['192.0.2.1', '192.0.2.2']);
    const before = process.cpuUsage();
    for (const cidr of ['10.0.0.0/8', '0.0.0.0/0', '2001:db8::/64', '::/0']) {
      expect(refused({ cidr, list_hosts: true })).toMatch(/^LIMIT_EXCEEDED.*hosts; at most 256/);
      expect(subnet(cidr).usable_hosts).toMatch(/^\d{8,39}$/);
    }
    expect(cpuMsSince(before)).toBeLessThan(1_000);
  });

  it('divides a network, and counts the subnets that it does not list', () => {
    expect(subnet('10.0.0.0/22', { split_prefix: 24 }).split).toEqual({
      count: '4',
      first: ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'],
    });
    const { split } = subnet('::/0', { split_prefix: 128 }) as { split: { count: string; first: string[] } };
    expect(split.count).toBe((2n ** 128n).toString());
    expect(split.first).toHaveLength(256);
  });

  it.each([
    ['192.168.1.256/24', 'from 0 to 255'],
    ['192.168.010.1/24', 'leading zero'],
    ['192.168.1.0/33', 'from 0 to 32'],
    ['10.0.0.0/255.0.255.0', 'ones must be contiguous'],
    ['2001:db8::1::/64', 'not an IPv6'],
    ['fe80::1%eth0/64', 'zone'],
    ['1.2.3/8', 'four numbers'],
    ['10.0.0.0/-1', 'from 0 to 32'],
  ])('refuses %s', (cidr, words) => expect(refused({ cidr })).toContain(words));

  it('refuses an address of the other family', () => expect(refused({ cidr: '10.0.0.0/8', contains: '::1' })).toContain('IPv6'));
});
