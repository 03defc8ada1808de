import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import words from '../assets/safety-signs.json' with { type: 'json' };
import { foldPattern, foldText } from './folding.js';
import { inOneSentence, phrases } from './phrases.js';

const lists = [words.medicalSigns, words.legalSigns, words.dangerSigns].map((list) => phrases(...list));
const pairs = [inOneSentence('(?:Säure|acid)\\p{L}*', '(?:mix|misch)\\p{L}*'), ...lists];

/** Words of the lists, letters of other alphabets, and signs that real texts have. */
const word = fc.oneof(
  fc.constantFrom(
    'Surgery',
    'ALLERGIE',
    'Frist',
    'Einspruch',
    'poison',
    'Säure',
    'acids',
    'mischen',
    'ſurgery',
    'İlaç',
    '2Ⅻ',
    '𝒳',
    'ß',
    'ẞ',
  ),
  fc.constantFrom('’', '“', '”', '–', '—', '…', '.', '?', '\n', '\u2003', '\u00a0', 'я', 'Ω', 'ñ', '中', '😀', 'e\u0301', '_', '9'),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const text = fc.array(fc.tuple(word, fc.constantFrom('', ' ', '  ')), { maxLength: 12 }).map((all) => all.flat().join(''));

describe('a folded text', () => {
  it('has the same length, one byte per character, and no capital letters', () => {
    fc.assert(
      fc.property(text, (any) => {
        const folded = foldText(any);
        expect(folded).toHaveLength(any.length);
        expect(folded).toMatch(/^[^A-ZÀ-ÖØ-Þ\u0100-\uffff]*$/);
      }),
    );
  });

  it('is matched by a folded pattern if the text is matched by the pattern', () => {
    fc.assert(
      fc.property(
        text.filter((any) => !any.includes('ſ')),
        (any) => {
          for (const pattern of pairs) expect([any, pattern.test(any)]).toEqual([any, new RegExp(pattern.source, 'iu').test(any)]);
        },
      ),
    );
  });
});

describe('a pattern', () => {
  it.each([
    ['\\p{L}+ A\\S[\\p{L}\\p{N}–]', '[a-zªµºß-öø-ÿ]+ a\\S[a-zªµºß-öø-ÿ0-9²³¹¼-¾\u0090]'],
    ['[А-Я]', null],
    ['\\p{Lu}', null],
    ['\\u0416', null],
  ])('%s is folded to %s', (source, folded) => expect(foldPattern(source)).toBe(folded));
});
