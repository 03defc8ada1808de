import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import { passageOf, readPassages } from './passages.js';

describe('A passage', () => {
  const sentencesOf = (text: string): readonly string[] => passageOf(1, text, 'Guide').sentences.map((sentence) => sentence.text);

  it('loses marks of Markdown, but no underscore inside a name', () => {
    expect(sentencesOf('_Set_ the **variable** `CMAKE_BUILD_TYPE` to __Debug__.')).toEqual(['Set the variable CMAKE_BUILD_TYPE to Debug.']);
  });

  it('states nothing in its code', () => {
    expect(sentencesOf('Call it so: ``` let a = dangle(); ``` It returns nothing. ``` fn dangle() {')).toEqual([
      'Call it so: It returns nothing.',
    ]);
  });
});

describe('a document of 48,000 characters', () => {
  it.each(['0', '[', '__', '\n', ' — ', '](', 'aa', '- ', '|', '<a', '. '])(
    'is read in time proportional to its length, made of %j',
    (part) => {
      const read = (): void => {
        for (const [before, behind] of [
          ['', ''],
          ['00', 'x'],
          ['A', '>'],
        ] as const)
          readPassages(`[1] ${before}${part.repeat(48_000 / part.length)}${behind}`);
      };
      expect(leastProcessorMs(1_000, read)).toBeLessThan(1_000);
    },
  );
});
