import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import type { Fact } from '@conclave/contracts';
import { en } from '../answer-words/languages/en.js';
import { unsupported, unsupportedNote } from './support.js';

const fact = (text: string, title = 'Page'): Fact => ({
  text,
  source: { kind: 'web', title, url: null },
  taskId: 't',
  epoch: 0,
  confidence: null,
});
const missing = (text: string, facts: readonly Fact[], question = ''): readonly string[] =>
  unsupported(text, facts, question).flatMap((one) => one.missing);

describe('a citation without a fact', () => {
  const cited = (text: string, facts: readonly Fact[] = [], question = '') => unsupported(text, facts, question).map(({ n }) => n);

  it('is flagged, with facts and without any', () => {
    expect(cited('It is so [1]. And so [2][3].')).toEqual([1, 2, 3]);
    expect(cited('It is so [1]. Really so [9].', [fact('It is so.')])).toEqual([9]);
    expect(unsupportedNote(unsupported('It is so [1].', []), en)).toBe(
      '\n\nNot found in the cited source:\n- [1]: there is no such source',
    );
  });

  it.each([
    ['an index', 'Take xs[1] and ys[2][3].'],
    ['code', 'Write `a [1]` or\n```\nb [2]\n```'],
    ['an interval', 'It lies in [1, 5] or [0, 1].'],
    ['a link', 'See [1](https://example.org).'],
    ['a root', '\\\\sqrt[3]{8}'],
    ['a year', 'In [1932] it was opened.'],
    ['a word of the question', 'The button [1] opens it.'],
  ])('does not include %s', (_what, text) => {
    expect(cited(text, [], 'What does [1] do?')).toEqual([]);
  });
});

describe('a cited sentence', () => {
  const facts = [fact('The Gull Bridge was opened in 1932 and is 2,340 m long.'), fact('Maren Holt was born in Aldersund.', 'Maren Holt')];

  it('is supported if its numbers and names occur in the source, however numbers are written', () => {
    expect(missing('The Gull Bridge, opened in 1932, is 2340 m long [1]. Maren Holt comes from Aldersund [2].', facts)).toEqual([]);
    expect(missing('It measures 2.340 m [1].', facts)).toEqual([]);
  });

  it('is flagged with the number or name that does not', () => {
    expect(unsupported('The bridge was opened in 1933 [1]. Nothing else is known.', facts)).toEqual([
      { n: 1, sentence: 'The bridge was opened in 1933 .', missing: ['1933'] },
    ]);
    expect(missing('She was born in Vestmark [2].', facts)).toEqual(['Vestmark']);
  });

  it('may rest on several sources, and may repeat the words of the question', () => {
    expect(missing('Maren Holt saw the bridge of 1932 [1, 2].', facts)).toEqual([]);
    expect(missing('Of 17.5 % nothing is said by Quill [1].', facts, 'What did Quill say about 17.5 %?')).toEqual([]);
  });

  it.each([
    ['1.86411357671', '1.864113576712037'],
    ['1.864', '1.864113576712037'],
    ['1,864', '1,864113576712037'],
    ['1.87', '1.865'],
    ['1.86', '1.865'],
    ['2.00', '1.9996'],
    ['0.0123', '0.012345'],
    ['12,346', '12345.6789'],
    ['1,234,567.9', '1,234,567.89'],
    ['0.667', '0.6666666667'],
  ])('may shorten a number: %s of %s', (said, whole) => {
    expect(missing(`It is about ${said} [1].`, [fact(`The result is ${whole} exactly.`)])).toEqual([]);
  });

  it.each([
    ['1.865', '1.864113576712037'],
    ['1.860', '1.864113576712037'],
    ['1.8641135767120371', '1.864113576712037'],
    ['1.9', '1.864113576712037'],
    ['2', '1.864113576712037'],
    ['1864', '1.864113576712037'],
    ['0.012', '0.012345'],
    ['2,345', '12345.6789'],
    ['12.11', '12.11.2026'],
    ['1.864', '11.864113'],
  ])('may not change it: %s of %s', (said, whole) => {
    expect(missing(`It is about ${said} [1].`, [fact(`The result is ${whole} exactly.`)])).toEqual([said]);
  });

  it('is not checked if it cites nothing', () => {
    expect(missing('It was opened in 1800.', facts)).toEqual([]);
  });

  it('is read in German without taking every noun for a name', () => {
    const source = [fact('Die Brücke ist 300 m lang und wurde von Anders Quill gebaut.')];
    expect(missing('Das Bauwerk ist 300 m lang [1].', source)).toEqual([]);
    expect(missing('Die Brücke wurde von Tomas Aldine gebaut [1].', source)).toEqual(['Tomas', 'Aldine']);
  });

  it('is listed below the answer', () => {
    expect(unsupportedNote(unsupported('It was opened in 1933 [1].', facts), en)).toBe('\n\nNot found in the cited source:\n- [1]: 1933');
    expect(unsupportedNote([], en)).toBe('');
  });

  it('is found in linear time in a long text', () => {
    const find = (): void => {
      unsupported('a'.repeat(200_000) + ' [1]. ' + '1'.repeat(50_000) + ' [1].', facts);
      unsupported(`${'1.234567 '.repeat(20_000)}[1].`, [fact('7.654321 '.repeat(20_000))]);
    };
    expect(leastProcessorMs(2_000, find)).toBeLessThan(2_000);
  });
});
