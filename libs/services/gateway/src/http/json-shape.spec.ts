import { describe, expect, it } from '@jest/globals';
import { assertSimple, jsonLimits } from './json-shape.js';

const passes = (text: string): boolean => {
  try {
    assertSimple(Buffer.from(text));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'REQUEST_TOO_COMPLEX' });
    return false;
  }
};
const nested = (levels: number): string => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
const names = (count: number): string => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n])));

describe('the shape of a JSON body', () => {
  it('is counted before the body is parsed', () => {
    expect([passes(nested(jsonLimits.levels)), passes(nested(jsonLimits.levels + 2))]).toEqual([true, false]);
    expect([passes(names(jsonLimits.names)), passes(names(jsonLimits.names + 1))]).toEqual([true, false]);
    const list = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;
    expect([passes(list(jsonLimits.values)), passes(list(jsonLimits.values + 1))]).toEqual([true, false]);
    expect(passes('['.repeat(100_000))).toBe(false);
  });

  it('ignores brackets and quotes inside strings', () => {
    for (const text of ['['.repeat(1_000), '\\'.repeat(1_001), '\\"[[['.repeat(400), '":"'.repeat(20_000), '\u0000,{', 'ä"ö\\'])
      expect(passes(JSON.stringify({ text, more: [text, { text }] }))).toBe(true);
    expect(passes(`{"a":"${'x'.repeat(10)}`)).toBe(true);
    expect(passes(`{"a\\\\":${'['.repeat(100)}`)).toBe(false);
  });

  it('is found in linear time', () => {
    const time = (body: Buffer): number => {
      const began = performance.now();
      assertSimple(body);
      return performance.now() - began;
    };
    const quotes = (bytes: number): Buffer => Buffer.from(JSON.stringify({ text: '\\"'.repeat(bytes / 4) }));
    time(quotes(500_000));
    const [small, large] = [time(quotes(500_000)), time(quotes(4_000_000))];
    expect(large).toBeLessThan(Math.max(small * 40, 400));
  });
});
