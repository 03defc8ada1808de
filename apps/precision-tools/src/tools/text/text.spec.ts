import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';
import { cpuMsSince } from '../__fixtures__/cpu-time.js';

describe('hash_text', () => {
  // RFC 1321, FIPS 180-4 and FIPS 202.
  it.each([
    ['md5', 'd41d8cd98f00b204e9800998ecf8427e', '900150983cd24fb0d6963f7d28e17f72'],
    ['sha1', 'da39a3ee5e6b4b0d3255bfef95601890afd80709', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    [
      'sha256',
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    ],
    [
      'SHA-512',
      'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
    [
      'sha3-256',
      'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a',
      '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532',
    ],
  ])('%s returns the published values', (algorithm, empty, abc) => {
    expect(ask('hash_text', { text: '', algorithm }).hex).toBe(empty);
    expect(ask('hash_text', { text: 'abc', algorithm }).hex).toBe(abc);
  });

  it('refuses an unknown algorithm and names the known ones', () =>
    expect(refusalOf('hash_text', { text: '', algorithm: 'crc' })).toContain('sha256'));
});

describe('base64_codec', () => {
  /** Six bits at a time. */
  const encode = (bytes: readonly number[]): string => {
    const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const text = (bits.match(/.{1,6}/g) ?? []).map((six) => alphabet[Number.parseInt(six.padEnd(6, '0'), 2)]).join('');
    return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  };

  it('encodes six bits per character, and decodes them back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { result } = ask('base64_codec', { text }) as { result: string };
        expect(result).toBe(encode([...new TextEncoder().encode(text)]));
        expect(ask('base64_codec', { text: result, mode: 'decode' })).toMatchObject({ result: text, encoding: 'utf-8' });
      }),
    );
  });

  it('shows bytes that are not text in hexadecimal', () => {
    expect(ask('base64_codec', { text: '/////w==', mode: 'decode' })).toEqual({ result: 'ffffffff', encoding: 'hex', bytes: 4 });
    expect(ask('base64_codec', { text: '_____w', mode: 'decode' }).result).toBe('ffffffff');
  });

  it.each(['SGVsbG8*', 'SGVsb', 'SGVsbG9=', 'SGVs=bG8', 'QR==', 'a-b+'])('refuses %s, which a lenient decoder would accept', (text) => {
    expect(refusalOf('base64_codec', { text, mode: 'decode' })).toMatch(/^INVALID_ARGUMENT/);
  });
});

describe('regex_extract', () => {
  it('lists matches with groups, names and positions', () => {
    expect(ask('regex_extract', { pattern: '(?<year>\\d{4})-(\\d\\d)(x)?', text: 'on 2024-02, 2025-03x' })).toEqual({
      count: 2,
      truncated: false,
      matches: [
        { match: '2024-02', index: 3, groups: ['2024', '02', null], named: { year: '2024' } },
        { match: '2025-03x', index: 12, groups: ['2025', '03', 'x'], named: { year: '2025' } },
      ],
    });
  });

  it('accepts escapes that other languages allow', () => {
    expect(ask('regex_extract', { pattern: '\\w+\\@\\w+\\_x', text: 'a@b_x' })).toMatchObject({ count: 1 });
  });

  it('stops at a thousand matches, also empty ones', () => {
    expect(ask('regex_extract', { pattern: 'a*', text: 'b'.repeat(5_000) })).toMatchObject({ count: 1_000, truncated: true });
    expect(ask('regex_extract', { pattern: '.+', text: 'b'.repeat(900_000) })).toMatchObject({ count: 0, truncated: true });
  });

  it.each([
    [{ pattern: '(' }, 'cannot be read'],
    [{ pattern: '(?P<a>b)' }, '(?<name>'],
    [{ pattern: 'a', flags: 'y' }, 'no flag'],
    [{ pattern: 'a'.repeat(2_000) }, '1,000 characters'],
  ])('refuses %j and says what to write', (args, words) => expect(refusalOf('regex_extract', { text: 'x', ...args })).toContain(words));
});

describe('text_analyze', () => {
  it('counts the words and characters of generated texts', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zäöüß]{1,8}$/), { minLength: 1, maxLength: 40 }), (words) => {
        const text = `${words.join(' ')}.`;
        const counts = new Map<string, number>();
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
        const found = ask('text_analyze', { text });
        expect(found).toMatchObject({
          words: words.length,
          unique_words: counts.size,
          sentences: 1,
          lines: 1,
          characters: [...text].length,
        });
        expect((found.most_frequent_words as { count: number }[])[0]!.count).toBe(Math.max(...counts.values()));
      }),
      { numRuns: 50 },
    );
  });

  it('counts visible characters, and lines of every kind', () => {
    expect(ask('text_analyze', { text: '👨‍👩‍👧 é!\r\n\r\nTwo. Three?', find: 'e' })).toMatchObject({
      graphemes: 17,
      lines: 3,
      paragraphs: 2,
      sentences: 3,
      occurrences: 2,
    });
    for (const text of ['„Ja.“ Sie ging.', '“Yes.” She left.', '«Oui.» Elle partit.', '»Ja.« Sie ging.', '‚Ja.‘ Sie ging.'])
      expect(ask('text_analyze', { text })).toMatchObject({ sentences: 2 });
    expect(ask('text_analyze', { text: '' })).toMatchObject({ characters: 0, words: 0, lines: 0, sentences: 0, paragraphs: 0 });
  });

  it('counts a long row of dots in linear time', () => {
    const before = process.cpuUsage();
    expect(ask('text_analyze', { text: `${'.'.repeat(900_000)}x` })).toMatchObject({ sentences: 1, words: 1 });
    expect(cpuMsSince(before)).toBeLessThan(1_000);
  });

  it('refuses ten megabytes at once', () => {
    const before = process.cpuUsage();
    expect(refusalOf('text_analyze', { text: 'x'.repeat(10_000_000) })).toContain('the limit is 1,000,000');
    expect(cpuMsSince(before)).toBeLessThan(1_000);
  });
});

describe('json_query', () => {
  const json_str = JSON.stringify({
    items: [
      { name: 'a', price: 5 },
      { name: 'b', price: 15 },
    ],
    constructor: null,
  });
  it.each([
    ['items[0].name', 'a'],
    ['items[?price > `10`].name', ['b']],
    ['length(items)', 2],
    ['sum(items[].price)', 20],
    ['items[*].{n: name}', [{ n: 'a' }, { n: 'b' }]],
    ['sort_by(items, &price)[-1].name', 'b'],
    ['join(`", "`, items[].name)', 'a, b'],
  ])('reads %s', (path, result) => expect(ask('json_query', { json_str, path })).toMatchObject({ found: true, result }));

  it.each(['constructor', '__proto__', 'items.length', 'items[9]', 'items[0].toString'])('finds nothing at %s', (path) => {
    expect(ask('json_query', { json_str, path })).toMatchObject({ found: false, result: null });
  });

  it('reports numbers that a double cannot hold', () => {
    const numbers = '[12345678901234567890, 0.1, 1e21, 9007199254740992, 0.1000000000000000055511151231257827]';
    expect(ask('json_query', { json_str: numbers, path: '[0]' }).inexact_numbers).toEqual([
      '12345678901234567890',
      '0.1000000000000000055511151231257827',
    ]);
  });

  it.each([
    [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, '[0]', 'levels deep'],
    ['[1,2]', Array.from({ length: 100 }, () => '[@,@]').join('|'), 'too often'],
    [`[${Array.from({ length: 60_000 }, (_, i) => i).join()}]`, '@', 'too large'],
    ['["x","y"]', 'join([0], @)', 'literal separator'],
    ['{"a":1}', 'a[', 'JMESPath'],
    ['{"a":1}', 'nosuch(@)', 'JMESPath'],
    ['[{"a":{}},{"a":{}}]', '[?a > a]', 'JMESPath'],
    ['{"a":', 'a', 'not JSON'],
    ['{"a":1}', '!'.repeat(900), ''],
  ])('refuses invalid JSON and queries that grow without bound: %#', (text, path, words) => {
    const before = process.cpuUsage();
    const refusal = refusalOf('json_query', { json_str: text, path });
    expect(refusal).toMatch(/^(INVALID_ARGUMENT|LIMIT_EXCEEDED)/);
    expect(refusal).toContain(words);
    expect(cpuMsSince(before)).toBeLessThan(1_000);
  });
});
