import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bestPassages, longestPassage, pageExcerpt } from './passages.js';

const filler = (n: number): string => `Paragraph ${n} speaks of harbours, ships and the wind that brings them home in the evening.`;
const page = (at: number, text: string, count = 60): string =>
  Array.from({ length: count }, (_, n) => (n === at ? text : filler(n))).join('\n\n');

describe('the passages of a page', () => {
  it('are those with the rare words of the query, wherever they are', () => {
    const fact = 'The conductivity of copper is 58 megasiemens per metre at twenty degrees.';
    expect(bestPassages('What is the conductivity of copper?', page(41, fact))).toEqual([fact]);
    expect(
      bestPassages(
        'Leitfähigkeit des Kupfers',
        page(7, 'Kupfer hat eine Leitfaehigkeit von 58 MS/m, mehr als fast jedes andere Metall.'),
      )[0],
    ).toContain('58 MS/m');
    expect(bestPassages('Brücken in Köln', page(3, 'Über die Brücke von Köln fahren täglich sehr viele Züge.'))[0]).toContain('Züge');
  });

  it('are in the order of the page, with the heading above them, each fact once', () => {
    const text = [
      '# Metals',
      filler(1),
      '## Copper',
      'Copper melts at 1085 degrees Celsius, far below iron.',
      filler(2),
      '## Iron',
      'Iron melts at 1538 degrees Celsius, far above copper.',
      filler(3),
    ].join('\n\n');
    expect(bestPassages('melting point: iron melts, copper melts', text).slice(0, 2)).toEqual([
      'Copper: Copper melts at 1085 degrees Celsius, far below iron.',
      'Iron: Iron melts at 1538 degrees Celsius, far above copper.',
    ]);
    const repeated = [
      ...Array.from({ length: 9 }, () => 'Copper melts at some degrees, as everybody knows.'),
      'Copper melts at 1085 degrees under normal pressure.',
    ];
    expect(bestPassages('copper melts degrees pressure', repeated.join('\n\n'), 150)).toEqual([
      'Copper melts at some degrees, as everybody knows.',
      'Copper melts at 1085 degrees under normal pressure.',
    ]);
  });

  it('are the beginning if nothing matches', () => {
    expect(bestPassages('quantum chromodynamics', page(-1, ''))).toEqual([filler(0)]);
    expect(bestPassages('', 'Short.')).toEqual(['Short.']);
    expect(bestPassages('anything', '')).toEqual([]);
  });

  it('are bounded, and contain only text of the page', () => {
    const word = fc.constantFrom('copper', 'iron', 'melts', 'at', '1085', 'degrees.', 'Ünder', '\n\n', '# Head', '-', 'x'.repeat(900));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 400 }), fc.array(word, { maxLength: 6 }), (words, asked) => {
        const text = words.join(' ');
        const found = bestPassages(asked.join(' '), text);
        expect(found.join('').length).toBeLessThanOrEqual(pageExcerpt);
        for (const passage of found) {
          expect(passage.length).toBeLessThanOrEqual(longestPassage);
          for (const part of passage.split(/[\s:]+/).filter((item) => item !== '')) expect(text).toContain(part);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('of a very long page are found fast', () => {
    const started = performance.now();
    bestPassages('copper wind ships harbours evening', page(3, 'copper', 4_000));
    bestPassages('copper', 'copper '.repeat(100_000));
    bestPassages('copper '.repeat(5_000), `${'\n\n'.repeat(100_000)}copper`);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
