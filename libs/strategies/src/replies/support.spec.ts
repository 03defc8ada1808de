import { describe, expect, it } from '@jest/globals';
import type { Fact } from '@conclave/contracts';
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

describe('a cited sentence', () => {
  const facts = [fact('The Gull Bridge was opened in 1932 and is 2,340 m long.'), fact('Maren Holt was born in Aldersund.', 'Maren Holt')];

  it('is supported where its numbers and names stand in the source, however numbers are written', () => {
    expect(missing('The Gull Bridge, opened in 1932, is 2340 m long [1]. Maren Holt comes from Aldersund [2].', facts)).toEqual([]);
    expect(missing('It measures 2.340 m [1].', facts)).toEqual([]);
  });

  it('is flagged with the number or name that does not', () => {
    expect(unsupported('The bridge was opened in 1933 [1]. Nothing else is known.', facts)).toEqual([
      { n: 1, sentence: 'The bridge was opened in 1933 .', missing: ['1933'] },
    ]);
    expect(missing('She was born in Vestmark [2].', facts)).toEqual(['Vestmark']);
  });

  it('may rest on several sources, and may repeat what the question says', () => {
    expect(missing('Maren Holt saw the bridge of 1932 [1, 2].', facts)).toEqual([]);
    expect(missing('Of 17.5 % nothing is said by Quill [1].', facts, 'What did Quill say about 17.5 %?')).toEqual([]);
  });

  it('is not looked at where it cites nothing, or a number without a fact', () => {
    expect(missing('It was opened in 1800. Really in 1801 [9].', facts)).toEqual([]);
  });

  it('is read in German without taking every noun for a name', () => {
    const source = [fact('Die Brücke ist 300 m lang und wurde von Anders Quill gebaut.')];
    expect(missing('Das Bauwerk ist 300 m lang [1].', source)).toEqual([]);
    expect(missing('Die Brücke wurde von Tomas Aldine gebaut [1].', source)).toEqual(['Tomas', 'Aldine']);
  });

  it('is named beneath the answer', () => {
    expect(unsupportedNote(unsupported('It was opened in 1933 [1].', facts))).toBe('\n\nNot found in the cited source:\n- [1]: 1933');
    expect(unsupportedNote([])).toBe('');
  });

  it('is found in linear time in a long text', () => {
    const began = performance.now();
    unsupported('a'.repeat(200_000) + ' [1]. ' + '1'.repeat(50_000) + ' [1].', facts);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
