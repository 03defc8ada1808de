import { describe, expect, it } from '@jest/globals';
import { AllowedHosts, reachOf, redirected, webAddress } from './addresses.js';
import { checkedLookup } from './checked-lookup.js';

const none = new AllowedHosts([]);
const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'allowed';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const looked = (addresses: readonly string[], allowed = false, all = true): Promise<unknown> =>
  new Promise((resolve) =>
    checkedLookup(allowed, async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))(
      'name.example',
      { all },
      (error, found) => resolve(error ? (error as unknown as { code: string }).code : found),
    ),
  );

describe('an address', () => {
  it.each([
    ['93.184.216.34', 'public'],
    ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
    ['10.0.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['127.9.9.9', 'private'],
    ['100.100.100.200', 'private'],
    ['::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['169.254.169.254', 'refused'],
    ['168.63.129.16', 'refused'],
    ['192.0.0.192', 'refused'],
    ['0.0.0.0', 'refused'],
    ['0.1.2.3', 'refused'],
    ['224.0.0.1', 'refused'],
    ['255.255.255.255', 'refused'],
    ['198.18.0.1', 'refused'],
    ['240.0.0.1', 'refused'],
    ['::', 'refused'],
    ['::ffff:10.0.0.1', 'refused'],
    ['::ffff:93.184.216.34', 'refused'],
    ['::127.0.0.1', 'refused'],
    ['::ffff:0:127.0.0.1', 'refused'],
    ['64:ff9b::7f00:1', 'refused'],
    ['64:ff9b:1::a00:1', 'refused'],
    ['2002:7f00:1::', 'refused'],
    ['2001:0:7f00:1::', 'refused'],
    ['fe80::1', 'refused'],
    ['fec0::1', 'refused'],
    ['ff02::1', 'refused'],
    ['2001:db8::1', 'refused'],
    ['4000::1', 'refused'],
    ['nonsense', 'refused'],
  ])('%s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });
});

describe('the address of a page', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127.0.0.1./',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://1572395042/',
    'http://0x5d.0xb8.0xd8.0x22/',
    'http://93.184.216.34.:80@127.0.0.1/',
    'http://user:secret@example.org/',
    'http://user@example.org/',
    'http://example.org:22/',
    'http://example.org:6379/',
    'https://example.org:9200/',
    'file:///etc/passwd',
    'gopher://example.org/',
    'javascript:alert(1)',
    'http://',
    `http://${'x'.repeat(70)}.example:1/`,
  ])('is refused before any request: %s', (address) => {
    expect(codeOf(() => webAddress(address, none))).toBe('PAGE_REFUSED');
  });

  it.each([
    'http://example.org/a?b=c',
    'https://example.org:8443/',
    'http://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
  ])('may be on the public web: %s', (address) => {
    expect(codeOf(() => webAddress(address, none))).toBe('allowed');
  });

  it('may be private when its host is allowed, with that port or with any', () => {
    const allowed = new AllowedHosts(['127.0.0.1:4711', 'Wiki.Intern', '[::1]', '10.0.0.9']);
    for (const address of [
      'http://127.0.0.1:4711/',
      'http://wiki.intern./',
      'http://wiki.intern:3000/',
      'http://[::1]:9/',
      'http://10.0.0.9:5/',
    ])
      expect([address, codeOf(() => webAddress(address, allowed))]).toEqual([address, 'allowed']);
    for (const address of [
      'http://127.0.0.1:4712/',
      'http://127.0.0.1/',
      'http://sub.wiki.intern:3000/',
      'http://2130706433:4711/',
      'http://10.0.0.8/',
    ])
      expect([address, codeOf(() => webAddress(address, allowed))]).toEqual([address, 'PAGE_REFUSED']);
    for (const entry of ['', 'http://x', 'x/y', 'a b', 'x:99999', 'user@x'])
      expect([entry, codeOf(() => new AllowedHosts([entry]))]).toEqual([entry, 'CONFIGURATION_INVALID']);
  });

  it('is checked again for each redirect, so a public page cannot lead to a private one', () => {
    const allowed = new AllowedHosts(['wiki.intern']);
    const from = webAddress('https://example.org/a/b', allowed);
    expect(redirected(from, '../c?d', allowed).url.href).toBe('https://example.org/c?d');
    expect(redirected(from, '//other.example/x', allowed).url.href).toBe('https://other.example/x');
    for (const location of ['http://wiki.intern/', 'http://169.254.169.254/', '//127.0.0.1/', 'file:///etc/passwd', '\\\\10.0.0.1\\x'])
      expect([location, codeOf(() => redirected(from, location, allowed))]).toEqual([location, 'PAGE_REFUSED']);
    const inside = webAddress('http://wiki.intern/', allowed);
    expect(redirected(inside, 'http://wiki.intern/next', allowed).allowed).toBe(true);
    expect(redirected(inside, 'https://example.org/', allowed).allowed).toBe(false);
  });
});

describe('the addresses of a name', () => {
  it('are connected to only when every one of them is permitted', async () => {
    expect(await looked(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'])).toHaveLength(2);
    expect(await looked(['93.184.216.34'], false, false)).toBe('93.184.216.34');
    expect(await looked(['93.184.216.34', '10.0.0.1'])).toBe('PAGE_REFUSED');
    expect(await looked(['::ffff:127.0.0.1'])).toBe('PAGE_REFUSED');
    expect(await looked([])).toBe('PAGE_UNAVAILABLE');
  });

  it('may be private for an allowed host, but never those of cloud metadata services', async () => {
    expect(await looked(['10.0.0.1'], true)).toHaveLength(1);
    for (const address of ['169.254.169.254', '0.0.0.0', '224.0.0.1', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe'])
      expect([address, await looked([address], true)]).toEqual([address, 'PAGE_REFUSED']);
  });
});
