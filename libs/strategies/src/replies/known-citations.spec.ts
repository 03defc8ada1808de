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
    ['[9] It is so.', 'It is so.'],
    ['One.\n[9] Two.', 'One.\nTwo.'],
    ['So [9] it is.', 'So it is.'],
    ['So [0] it is [3]', 'So it is'],
    ['A [note], an array[', 'A [note], an array['],
    ['A link [9](https://example.org).', 'A link [9](https://example.org).'],
    ['Code `a[9]` and\n```\nb [9]\n```\nand [9].', 'Code `a[9]` and\n```\nb [9]\n```\nand.'],
    ['{"verdicts": [9], "why": "so [9]"}', '{"verdicts": [9], "why": "so [9]"}'],
    [' [\n {"verdicts": [9]}]', ' [\n {"verdicts": [9]}]'],
    ['{a, b} is a set [9].', '{a, b} is a set.'],
    ['Wiki [[9]] and [[1]].', 'Wiki and [[1]].'],
    ['Nested [1[9]], [9[9]] and [[9], [2]].', 'Nested [1], and [2].'],
    ['Cut [1[9] off', 'Cut [1 off'],
    ['A matrix [[0, 7], [8, 9]].', 'A matrix [[0, 7], [8, 9]].'],
    ['Links [[9](https://example.org)].', 'Links [[9](https://example.org)].'],
    [`A list [${'7, '.repeat(99)}7], and [9].`, `A list [${'7, '.repeat(99)}7], and.`],
    [`A list [${'7, '.repeat(99)}x [9].`, `A list [${'7, '.repeat(99)}x.`],
    ['An open ` sign\nand [9].', 'An open ` sign\nand.'],
  ])('without a fact are removed: %s', (text, expected) => expect(shown(text)).toBe(expected));

  it('that occur in the question stay', () => expect(shown('Line [9] [8].', 2, 'What is [9]?')).toBe('Line [9].'));

  it('are the same wherever the text is cut, and everything else stays', () => {
    const piece = fc.constantFrom(
      ...[
        ' ',
        '  ',
        '\n',
        '[1]',
        '[2, 9]',
        '[9]',
        '[[9]]',
        '[',
        ']',
        '(',
        '[x]',
        '[1',
        '9]',
        ',',
        ', ',
        '7',
        'word',
        '`',
        '```',
        '\u{1d400}',
      ],
      ...[' '.repeat(50), '[[0, 7], [8, 9]]', `[${'9,'.repeat(99)}`],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(300), { maxLength: 8 }), (pieces, cuts) => {
        const text = pieces.join('');
        const whole = shown(text);
        expect(shown(text, 2, '', cuts)).toBe(whole);
        if (text.length < 200)
          expect(
            shown(
              text,
              2,
              '',
              [...text].map((_, at) => at),
            ),
          ).toBe(whole);
        expect(withoutNumbers(whole)).toBe(withoutNumbers(text));
        expect(shown(text, 999)).toBe(text);
        // Removing a citation makes no other one.
        if (!text.includes('`')) expect(shown(whole)).toBe(whole);
      }),
      { numRuns: 400 },
    );
  });
});

/** A text without numbers, commas and white space, and without brackets that hold nothing else. */
function withoutNumbers(text: string): string {
  const rest = text.replace(/[\d\s,]/g, '');
  const inner = rest.replace(/\[\]/g, '');
  return inner === rest ? rest : withoutNumbers(inner);
}
