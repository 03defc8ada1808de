import { describe, expect, it } from '@jest/globals';
import { excerptOf, isExcerpt } from './excerpt.js';

const orders = Array.from({ length: 400 }, (_, n) => ({ id: `o-${n}`, buyer: n === 311 ? 'Zimmermann' : `buyer ${n}`, state: 'sent' }));
const listed = JSON.stringify({ orders, page: { next_cursor: 'b3JkZXI', total: 900 } });

describe('an excerpt of a long result', () => {
  it('keeps what the question names, and the values behind a list, with their paths', () => {
    const shown = excerptOf(listed, 2_000, 'What did Zimmermann order?');
    expect(shown.length).toBeLessThanOrEqual(2_000);
    expect(shown).toContain('orders[311]: {"id":"o-311","buyer":"Zimmermann","state":"sent"}');
    expect(shown).toContain('orders[0]: {"id":"o-0"');
    expect(shown).toContain('page: {"next_cursor":"b3JkZXI","total":900}');
    expect(shown).toContain(`[Cut: ${listed.length} characters, only some parts are shown.]`);
    expect(isExcerpt(shown)).toBe(true);
  });

  it('of an excerpt keeps the same, and says the first length', () => {
    const twice = excerptOf(excerptOf(listed, 4_000, 'Zimmermann'), 1_000, 'Zimmermann');
    expect(twice.length).toBeLessThanOrEqual(1_000);
    expect(twice).toContain('"Zimmermann"');
    expect(twice.match(/\[Cut: /g)).toHaveLength(1);
    expect(twice).toContain(`[Cut: ${listed.length} characters`);
  });

  it('reads JSON below which stands that it is cut, and shows the sentence', () => {
    const note = '[The result is cut: 90000 characters, cut to 65536; lists have at most their first 400 entries.]';
    const shown = excerptOf(`${listed}\n${note}`, 2_000, 'What did Zimmermann order?');
    expect(shown).toContain('orders[311]: {"id":"o-311"');
    expect(shown).toContain('page: {"next_cursor":"b3JkZXI","total":900}');
    expect(shown).toContain(note);
  });

  it.each([
    ['rows of a table', orders.map(({ id, buyer }) => `| ${id} | ${buyer} |`).join('\n')],
    ['one line of a list', `[${orders.map(({ id, buyer }) => `{'id': '${id}', 'buyer': '${buyer}'}`).join(', ')}]`],
    ['prose', orders.map(({ id, buyer }) => `The order ${id} came from ${buyer}.`).join(' ')],
  ])('finds what the question names in %s', (_what, text) => {
    const shown = excerptOf(text, 1_500, 'What did Zimmermann order?');
    expect(shown).toMatch(/o-311\D{1,30}Zimmermann/);
    expect(shown.length).toBeLessThanOrEqual(1_500);
  });

  it('leaves a short text, and a long one without anything to divide it is still cut, in bounded time', () => {
    expect(excerptOf('short', 10, 'x')).toBe('short');
    expect(isExcerpt('short')).toBe(false);
    const begun = process.cpuUsage();
    for (const part of ['x', '[', '{"a":', '😀', ', '])
      expect(excerptOf(part.repeat(Math.floor(65_000 / part.length)), 4_000, 'x').length).toBeLessThanOrEqual(4_000);
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(3_000);
  });
});
