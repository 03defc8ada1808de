import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KnownCitations } from './known-citations.js';

const shown = (text: string, count = 2, own = '', cuts: readonly number[] = []): string => {
  const filter = new KnownCitations(count, own);
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const parts = [0, ...ends].map((from, n) => text.slice(from, ends[n] ?? text.length));
  return parts.map((part) => filter.push(part)).join('') + filter.end() + filter.end();
};

describe('citations', () => {
  it.each([
    ['It is so [1], and so [9].', 'It is so [1], and so.'],
    ['Seven crowns[9].', 'Seven crowns.'],
    ['Both [1, 9] and [9, 2].', 'Both [1] and [2].'],
    ['Both [1][9][2].', 'Both [1][2].'],
    ['[9] It is so.', ' It is so.'],
    ['So [9] it is.', 'So it is.'],
    ['So [0] it is [3]', 'So it is'],
    ['A [note], an array[', 'A [note], an array['],
    ['A link [9](https://example.org).', 'A link [9](https://example.org).'],
    ['Code `a[9]` and\n```\nb [9]\n```\nand [9].', 'Code `a[9]` and\n```\nb [9]\n```\nand.'],
    ['An open ` sign\nand [9].', 'An open ` sign\nand.'],
  ])('without a fact are removed: %s', (text, expected) => expect(shown(text)).toBe(expected));

  it('that occur in the question stay', () => expect(shown('Line [9] [8].', 2, 'What is [9]?')).toBe('Line [9].'));

  it('are the same wherever the text is cut, and everything else stays', () => {
    const piece = fc.constantFrom(' ', '  ', '[1]', '[2, 9]', '[9]', '[', ']', '(', '`', '```', '\n', 'word', '7', ',', '[x]', '[1');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 8 }), (pieces, cuts) => {
        const text = pieces.join('');
        const whole = shown(text);
        expect(shown(text, 2, '', cuts)).toBe(whole);
        const rest = (one: string) => one.replace(/\[[\d\s,]*\]/g, '').replace(/[\s\d,]/g, '');
        expect(rest(whole)).toBe(rest(text));
        expect(shown(text, 999)).toBe(text);
      }),
      { numRuns: 400 },
    );
  });
});
